"""LSTM and GRU: torch's own layers with the same weights, and piece by piece what they are at once."""

import pytest
import torch

from weft import nn
from weft.structure import Chain, Tree

KINDS = {"LSTM": (nn.LSTM, torch.nn.LSTM), "GRU": (nn.GRU, torch.nn.GRU)}
each = pytest.mark.parametrize(("ours", "theirs"), KINDS.values(), ids=KINDS)


def pair(ours, theirs):
    mine, other = ours(3, 4).double(), theirs(3, 4, batch_first=True).double()
    names = {"weight_ih_l0": "weight_x", "weight_hh_l0": "weight_h", "bias_ih_l0": "bias_x", "bias_hh_l0": "bias_h"}
    other.load_state_dict({name: getattr(mine.gates, own) for name, own in names.items()})
    return mine, other


@each
def test_equals_torch(ours, theirs):
    mine, other = pair(ours, theirs)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    torch.testing.assert_close(mine(x, Chain(5)), other(x)[0])


@each
def test_reverse_equals_torch_bidirectional_half(ours, theirs):
    mine, other = pair(ours, theirs)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    torch.testing.assert_close(mine(x, Chain(5, reverse=True)), other(x.flip(1))[0].flip(1))


@each
@pytest.mark.parametrize("pieces", [[5], [1, 1, 1, 1, 1], [2, 3], [4, 1]], ids=str)
def test_pieces_equal_the_whole(ours, theirs, pieces):
    layer, x = ours(3, 4).double(), torch.randn(2, 5, 3, dtype=torch.float64)
    state, outputs = layer.start(2), []
    for piece in x.split(pieces, dim=1):
        out, state = layer.advance(piece, state)
        outputs.append(out)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x, Chain(5)))


@each
def test_items_of_their_own_lengths_are_like_items_alone(ours, theirs):
    layer, x, lengths = ours(3, 4).double(), torch.randn(3, 5, 3, dtype=torch.float64), [5, 0, 2]
    for reverse in (False, True):
        out = layer(x, Chain(5, lengths=lengths, reverse=reverse))
        for item, length in enumerate(lengths):
            alone = layer(x[item : item + 1, :length], Chain(length, reverse=reverse))
            torch.testing.assert_close(out[item : item + 1, :length], alone)
            assert not out[item, length:].any()


@each
def test_a_tree_without_branches_is_a_chain(ours, theirs):
    layer, x = ours(3, 4).double(), torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(layer(x, Tree([1, 2, 3, 4, -1])), layer(x, Chain(5)))


def test_the_child_sum_of_tai_et_al():
    """The equations of child-sum Tree-LSTM (2015, eq. 2 to 8), written out for a root with two leaves."""
    layer, x = nn.LSTM(3, 4).double(), torch.randn(3, 3, dtype=torch.float64)
    gates = layer.gates()
    bias = gates.bias_x + gates.bias_h

    def parts(position, h):
        return (gates.weight_x @ x[position] + gates.weight_h @ h + bias).chunk(4)

    zero = torch.zeros(4, dtype=torch.float64)
    leaves = []
    for leaf in (0, 1):
        i, _, g, o = parts(leaf, zero)
        c = i.sigmoid() * g.tanh()
        leaves.append((o.sigmoid() * c.tanh(), c))
    i, _, g, o = parts(2, leaves[0][0] + leaves[1][0])
    c = i.sigmoid() * g.tanh()
    for h_child, c_child in leaves:
        c = c + parts(2, h_child)[1].sigmoid() * c_child
    torch.testing.assert_close(layer(x, Tree([2, 2, -1]))[2], o.sigmoid() * c.tanh())
