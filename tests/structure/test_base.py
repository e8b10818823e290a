"""Every regular structure lists exactly the edges of its sentence, written out here as plain loops."""

from collections.abc import Callable
from itertools import product

import pytest
import torch

from weft.errors import SizeError
from weft.structure import Causal, Chain, Dense, Grid, Regular, Window

Rule = Callable[[int, int], bool]


def cell(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return list(product(*map(range, shape)))[position]


def within(shape: tuple[int, ...], radius: int) -> Rule:
    return lambda t, s: all(abs(a - b) <= radius for a, b in zip(cell(t, shape), cell(s, shape), strict=True))


CASES: list[tuple[Regular, Rule]] = [
    (Dense(3), lambda t, s: True),
    (Dense(2, 5), lambda t, s: True),
    (Dense(0), lambda t, s: True),
    (Dense(3, 0), lambda t, s: True),
    (Causal(4), lambda t, s: s <= t),
    (Causal(2, 5), lambda t, s: s <= t + 3),
    (Causal(1, 4), lambda t, s: True),
    (Causal(0, 4), lambda t, s: True),
    (Window(5, 1), lambda t, s: t - 1 <= s <= t),
    (Window(5, 0, 2), lambda t, s: t <= s <= t + 2),
    (Window(4, 9, 9), lambda t, s: True),
    (Window(3, 0), lambda t, s: s == t),
    (Chain(4), lambda t, s: s == t - 1),
    (Chain(4, reverse=True), lambda t, s: s == t + 1),
    (Chain(1), lambda t, s: False),
    (Chain(0), lambda t, s: False),
    (Grid((5,)), within((5,), 1)),
    (Grid((3, 4)), within((3, 4), 1)),
    (Grid((3, 4), radius=2), within((3, 4), 2)),
    (Grid((2, 3, 2)), within((2, 3, 2), 1)),
    (Grid((3, 3), radius=0), lambda t, s: t == s),
    (Grid((0, 3)), lambda t, s: True),
    (Dense(3, lengths=[2, 0, 3]), lambda t, s: True),
    (Dense(2, 4, lengths=[3, 1]), lambda t, s: True),
    (Causal(3, lengths=[2, 3]), lambda t, s: s <= t),
    (Causal(1, 4, lengths=[2, 4]), lambda t, s: True),
    (Window(4, 1, 1, lengths=[4, 2]), lambda t, s: abs(t - s) <= 1),
    (Chain(4, lengths=[3, 0]), lambda t, s: s == t - 1),
    (Chain(4, lengths=[3, 1], reverse=True), lambda t, s: s == t + 1),
    (Dense(3, lengths=[]), lambda t, s: True),
]


@pytest.mark.parametrize(("over", "rule"), CASES, ids=[repr(over) for over, _ in CASES])
def test_lists_the_edges_of_its_rule(over, rule):
    targets, sources = over.num_targets, over.num_sources
    expected = []
    for item, length in enumerate([sources] if over.lengths is None else over.lengths.tolist()):
        for t, s in product(range(targets), range(sources)):
            if rule(t, s) and s < length and (t < length or targets != sources):
                expected.append((item * sources + s, item * targets + t))
    items = 1 if over.lengths is None else len(over.lengths)
    sparse = over.to_sparse()
    assert list(zip(*(end.tolist() for end in sparse.ends()), strict=True)) == expected
    assert (sparse.num_targets, sparse.num_sources) == (items * targets, items * sources)
    assert sparse.edge is None, "already sorted"
    assert over.to_sparse() is sparse, "cached"


@pytest.mark.parametrize("over", [over for over, _ in CASES], ids=repr)
def test_to_makes_the_same_structure(over):
    again = over.to("cpu")
    assert repr(again) == repr(over)
    assert torch.equal(again.allowed("cpu"), over.allowed("cpu"))


HUGE = [
    Dense(1 << 20),
    Causal(1 << 20),
    Window(1 << 20, 1),
    Chain(1 << 20),
    Grid((1024, 1024)),
    Dense(8192, lengths=[8192, 8192]),
]


@pytest.mark.parametrize("over", HUGE, ids=repr)
def test_the_huge_is_refused_before_any_memory_is_taken(over):
    with pytest.raises(SizeError, match=r"pair by pair, [\d,]+ of them; the limit is 67,108,864"):
        over.to_sparse()


@pytest.mark.parametrize("change", [lambda over: setattr(over, "num_targets", 4), lambda over: delattr(over, "num_targets")])
def test_structures_do_not_change(change):
    with pytest.raises(AttributeError):
        change(Dense(3))
