"""Patterns of attention over a line, against their sentences in plain loops."""

import pytest
import torch

from weft.structure import Sparse, blocks, dilated, global_tokens, random_pattern

LENGTHS = [0, 1, 5, 8]
lengths = pytest.mark.parametrize("length", LENGTHS)


def pairs(over: Sparse) -> list[tuple[int, int]]:
    source, target = over.ends()
    return list(zip(target.tolist(), source.tolist(), strict=True))


@lengths
@pytest.mark.parametrize(("left", "right", "step"), [(1, 0, 2), (2, 1, 3), (0, 0, 1), (9, 9, 1)])
def test_dilated(length, left, right, step):
    expected = [(t, t + hop * step) for t in range(length) for hop in range(-left, right + 1) if 0 <= t + hop * step < length]
    assert pairs(dilated(length, left, right, step=step)) == expected


@lengths
@pytest.mark.parametrize("size", [1, 3, 10])
def test_blocks(length, size):
    assert pairs(blocks(length, size)) == [(t, s) for t in range(length) for s in range(length) if t // size == s // size]


@lengths
@pytest.mark.parametrize("count", [0, 2, 10])
def test_global_tokens(length, count):
    assert pairs(global_tokens(length, count)) == [
        (t, s) for t in range(length) for s in range(length) if t < count or s < count
    ]


@lengths
@pytest.mark.parametrize("count", [0, 3])
def test_random_pattern_holds_itself_and_so_many_more(length, count):
    over = random_pattern(length, count, seed=1)
    assert over.rows.degree.tolist() == [count + 1] * length
    assert all((node, node) in pairs(over) for node in range(length))


def test_random_pattern_follows_its_seed_and_nothing_else():
    first = random_pattern(8, 3, seed=1)
    torch.randn(3)
    assert pairs(first) == pairs(random_pattern(8, 3, seed=1)) != pairs(random_pattern(8, 3, seed=2))
