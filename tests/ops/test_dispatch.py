"""`explain` tells which kernels ran, and why the others declined."""

import pytest
import torch

from weft import explain
from weft.ops import Additive, Dot, aggregate, attend, gather, reduce, softmax
from weft.ops.dispatch import Choice, Plan
from weft.structure import Causal, Chain, Dense, Grid, Partition, Sparse, Window

SORTED = Sparse.from_edges([0, 1, 2], [0, 1, 1], 3)
UNSORTED = Sparse.from_edges([0, 1, 2], [1, 1, 0], 3)
WEIGHTED = Sparse.from_edges([0, 1, 2], [0, 1, 1], 3, weight=torch.ones(3))
X, Q, PAIR = torch.ones(3, 4), torch.ones(3, 1, 4), torch.ones(3, 1)

CALLS = {
    "sum": (lambda: aggregate(X, SORTED), ["aggregate[sum] → cpu"]),
    "max": (lambda: aggregate(X, SORTED, how="max"), ["aggregate[max] → cpu"]),
    "partition": (lambda: aggregate(X, Partition([0, 3]), how="mean"), ["aggregate[mean] → cpu"]),
    "weight": (lambda: aggregate(X, SORTED, weight=torch.ones(3)), ["aggregate[sum] → cpu"]),
    "weight in another order": (
        lambda: aggregate(X, UNSORTED, weight=torch.ones(3)),
        ["aggregate[sum] → cpu", "reorder → cpu"],
    ),
    "weighted max": (
        lambda: aggregate(X, WEIGHTED, how="max"),
        ["aggregate[max] → cpu", "gather[source] → cpu", "aggregate[max] → cpu"],
    ),
    "sum by rule": (lambda: aggregate(X, Window(3, 1)), ["aggregate[sum] → rule[Window]"]),
    "max by rule": (lambda: aggregate(X, Grid((3,)), how="max"), ["aggregate[max] → rule[Grid]"]),
    "std by edges": (lambda: aggregate(X, Causal(3), how="std"), ["aggregate[std] → edges", "aggregate[std] → cpu"]),
    "dot": (lambda: attend(Q, Q, Q, SORTED), ["attend[Dot] → cpu"]),
    "additive": (lambda: attend(PAIR, PAIR, Q, SORTED, score=Additive()), ["attend[Additive] → cpu"]),
    "dot by rule": (lambda: attend(Q, Q, Q, Dense(3)), ["attend[Dot] → torch.scaled_dot_product_attention"]),
    "dot by edges": (lambda: attend(Q, Q, Q, Chain(3)), ["attend[Dot] → edges", "attend[Dot] → cpu"]),
    "additive by edges": (
        lambda: attend(PAIR, PAIR, Q, Dense(3), score=Additive()),
        ["attend[Additive] → edges", "attend[Additive] → cpu"],
    ),
    "gather": (lambda: gather(X, SORTED, "target"), ["gather[target] → cpu"]),
    "reduce": (lambda: reduce(X, SORTED, how="min"), ["reduce[min] → cpu"]),
    "softmax": (
        lambda: softmax(X, SORTED),
        ["reduce[max] → cpu", "gather[target] → cpu", "reduce[sum] → cpu", "gather[target] → cpu"],
    ),
}


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_records_the_kernels_in_order(call, expected):
    with explain() as plan:
        call()
    assert [f"{choice.verb} → {choice.kernel}" for choice in plan.choices] == expected


def test_says_why_others_declined():
    with explain() as plan:
        aggregate(X, SORTED)
        aggregate(X, Causal(3), how="std")
    assert str(plan).splitlines()[:4] == [
        "aggregate[sum] → cpu",
        "    gpu: x is on cpu",
        "aggregate[std] → edges",
        "    rule: a running std over Causal would cancel digits",
    ]


def test_nothing_to_explain():
    with explain() as plan:
        pass
    assert str(plan) == "no verb ran"


def test_the_innermost_listens():
    with explain() as outer:
        with explain() as inner:
            aggregate(X, SORTED)
        aggregate(X, SORTED, how="max")
    assert [choice.verb for choice in inner.choices] == ["aggregate[sum]"]
    assert [choice.verb for choice in outer.choices] == ["aggregate[max]"]


def test_listens_no_longer_after_an_error():
    with pytest.raises(ValueError, match="how"), explain() as plan:
        aggregate(X, SORTED, how="median")
    aggregate(X, SORTED)
    assert plan == Plan([])


def test_on_a_device_without_kernels_the_reference_runs():
    with explain() as plan:
        attend(Q.to("meta"), Q.to("meta"), Q.to("meta"), SORTED.to("meta"), score=Dot())
    assert plan.choices == [Choice("attend[Dot]", "reference", (("cpu", "x is on meta"), ("gpu", "x is on meta")))]
