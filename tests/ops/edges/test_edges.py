"""The primitives beneath the verbs, by cases a human can check."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from weft.ops import aggregate, attend, gather, reduce, softmax
from weft.structure import Dense, Partition, Sparse, Tree

OVER = Sparse.from_edges([0, 2, 1, 2], [1, 0, 1, 1], 2, 3)  # 0 hears 2; 1 hears 0, 1, 2


@pytest.mark.parametrize(
    ("side", "x", "expected"),
    [
        ("source", [10.0, 20.0, 30.0], [10, 30, 20, 30]),
        ("target", [10.0, 20.0], [20, 10, 20, 20]),
    ],
)
def test_gather(side, x, expected):
    assert gather(torch.tensor(x), OVER, side).tolist() == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [("sum", [2, 8]), ("mean", [2, 8 / 3]), ("max", [2, 4]), ("min", [2, 1]), ("std", [0, 1.2472])],
)
def test_reduce(how, expected):
    messages = torch.tensor([1.0, 2.0, 3.0, 4.0])
    torch.testing.assert_close(reduce(messages, OVER, how=how), torch.tensor(expected), rtol=1e-4, atol=0, check_dtype=False)


def test_reduce_ignores_the_weights_of_the_structure():
    over = Sparse.from_edges([0, 1], [0, 0], 1, 2, weight=torch.tensor([5.0, 7.0]))
    assert reduce(torch.tensor([1.0, 2.0]), over).tolist() == [3]


def test_softmax_is_one_in_sum_per_target():
    out = softmax(torch.tensor([0.0, 5.0, 0.0, 2.0**0.5]), OVER)
    torch.testing.assert_close(reduce(out, OVER), torch.ones(2))
    assert out[1] == 1 and out[0] == out[2] < out[3]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([-1000.0, -1000.0], [0.5, 0.5]),
        ([0.0, -torch.inf], [1, 0]),
        ([-torch.inf, -torch.inf], [0, 0]),
    ],
    ids=str,
)
def test_softmax_of_the_extreme(scores, expected):
    scores = torch.tensor(scores, requires_grad=True)
    out = softmax(scores, Sparse.from_edges([0, 1], [0, 0], 1, 2))
    out[0].backward()
    assert out.tolist() == expected and scores.grad is not None and scores.grad.isfinite().all()


def test_any_structure_has_edges():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert gather(x, Dense(2, 3), "source").tolist() == [1, 2, 3, 1, 2, 3]
    assert gather(x, Tree([2, 2, -1]), "target").tolist() == [3, 3]
    assert softmax(x, Partition([0, 1, 3])).tolist() == pytest.approx([1, 0.2689, 0.7311], abs=1e-4)


def test_attention_is_four_primitives():
    q, k, v = torch.randn(2, 1, 5), torch.randn(3, 1, 5), torch.randn(3, 1, 4)
    score = (gather(q, OVER, "target") * gather(k, OVER, "source")).sum(-1) / 5**0.5
    torch.testing.assert_close(aggregate(v, OVER, weight=softmax(score, OVER)), attend(q, k, v, OVER))


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


CALLS = {
    "gather source": (lambda x: gather(x, OVER, "source"), (3, 2)),
    "gather target": (lambda x: gather(x, OVER, "target"), (2, 2)),
    **{f"reduce {how}": (lambda x, how=how: reduce(x, OVER, how=how), (4, 2)) for how in ("sum", "mean", "max", "min", "std")},
    "softmax": (lambda x: softmax(x, OVER), (4, 2)),
}


@pytest.mark.parametrize(("call", "shape"), CALLS.values(), ids=CALLS)
def test_gradcheck(call, shape):
    assert gradcheck(call, (numbers(*shape),))


@pytest.mark.parametrize("name", [name for name in CALLS if "std" not in name])
def test_gradgradcheck(name):
    call, shape = CALLS[name]
    assert gradgradcheck(call, (numbers(*shape),))


def test_equals_the_softmax_of_pyg(pyg):
    over = Sparse.from_edges(torch.randint(8, (40,)), torch.randint(8, (40,)), 8)
    scores = torch.randn(40, 3)
    torch.testing.assert_close(softmax(scores, over), pyg.utils.softmax(scores, over.ends()[1], num_nodes=8))
