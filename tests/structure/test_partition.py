"""Members to groups, and ragged batches as padded ones and back."""

import pytest
import torch

from weft.structure import Dense, Partition

SIZES = [[2, 3], [0, 2, 0], [1], [], [0], [4, 1, 1]]
sizes = pytest.mark.parametrize("lengths", SIZES, ids=str)


def test_a_group_holds_the_members_between_its_boundaries():
    groups = Partition([0, 2, 2, 5])
    assert groups.lengths.tolist() == [2, 0, 3]
    assert groups.member_group.tolist() == [0, 0, 2, 2, 2]
    assert (groups.num_sources, groups.num_targets) == (5, 3)


@sizes
def test_from_lengths_and_back(lengths):
    assert Partition.from_lengths(lengths).lengths.tolist() == lengths


@sizes
def test_every_member_is_an_edge_to_its_group(lengths):
    groups = Partition.from_lengths(lengths)
    expected = [(member, int(group)) for member, group in enumerate(groups.member_group)]
    over = groups.to_sparse()
    assert list(zip(*(end.tolist() for end in over.ends()), strict=True)) == expected
    assert over.columns.index.tolist() == groups.member_group.tolist()
    assert groups.to_sparse() is over


def test_pad_puts_zeros_behind_each_group():
    padded, over = Partition([0, 1, 3]).pad(torch.tensor([1.0, 2.0, 3.0]))
    assert padded.tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert isinstance(over, Dense) and over.num_sources == 2
    assert over.lengths is not None and over.lengths.tolist() == [1, 2]


@sizes
def test_unpad_takes_back_what_pad_gave(lengths):
    groups = Partition.from_lengths(lengths)
    x = torch.randn(sum(lengths), 2, 3, requires_grad=True)
    padded, _ = groups.pad(x)
    assert torch.equal(groups.unpad(padded), x)
    groups.unpad(padded).sum().backward()
    assert x.grad is not None and torch.equal(x.grad, torch.ones_like(x))


def test_unpad_accepts_longer_padding():
    assert Partition([0, 1, 3]).unpad(torch.arange(8.0).reshape(2, 4)).tolist() == [0.0, 4.0, 5.0]


def test_to_and_repr():
    groups = Partition([0, 2, 5])
    assert groups.to("cpu").boundaries.tolist() == [0, 2, 5]
    assert groups.to("cpu").to_sparse().device.type == "cpu"
    assert repr(groups) == "Partition(5 members → 2 groups)"
