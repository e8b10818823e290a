"""A chain is regular and ordered: one position after the other."""

import pytest

from weft.structure import Chain, Ordered, Regular


@pytest.mark.parametrize(
    ("over", "order"),
    [
        (Chain(3), [[0], [1], [2]]),
        (Chain(3, reverse=True), [[2], [1], [0]]),
        (Chain(3, lengths=[1, 2]), [[0], [1], [2]]),
        (Chain(0), []),
    ],
    ids=repr,
)
def test_order(over, order):
    assert [group.tolist() for group in over.order()] == order
    assert isinstance(over, Regular) and isinstance(over, Ordered)


def test_predecessors_come_first():
    over = Chain(5, reverse=True)
    when = {int(group): place for place, group in enumerate(over.order())}
    source, target = over.to_sparse().ends()
    assert all(when[int(s)] < when[int(t)] for s, t in zip(source, target, strict=True))
