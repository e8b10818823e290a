"""Combining the sources of each target: cases a human can check, derivatives, and others' numbers."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from weft.ops import aggregate
from weft.structure import Partition, Sparse, Tree

HOWS = ["sum", "mean", "max", "min", "std"]

X = torch.tensor([1.0, 10.0, 100.0])
V = Sparse.from_edges([0, 1, 2, 1], [1, 1, 1, 2], 3)  # 1 hears all, 2 hears 1, 0 hears nobody
WEIGHTED = Sparse.from_edges([2, 0], [0, 0], 1, 3, weight=torch.tensor([3.0, 2.0]))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("sum", [0, 111, 10]),
        ("mean", [0, 37, 10]),
        ("max", [0, 100, 10]),
        ("min", [0, 1, 10]),
        ("std", [0, 44.6990, 0]),
    ],
)
def test_of_a_small_graph(how, expected):
    torch.testing.assert_close(aggregate(X, V, how=how), torch.tensor(expected), rtol=1e-5, atol=0, check_dtype=False)


@pytest.mark.parametrize(
    ("how", "weight", "expected"),
    [
        ("sum", None, [302]),
        ("mean", None, [151]),
        ("max", None, [300]),
        ("min", None, [2]),
        ("sum", [1, 10], [320]),
        ("max", [1, -1], [300]),
        ("min", [-1, -1], [-300]),
        ("mean", [0, 1], [1]),
    ],
)
def test_of_a_weighted_graph(how, weight, expected):
    weight = None if weight is None else torch.tensor(weight, dtype=torch.float32)
    assert aggregate(X, WEIGHTED, how=how, weight=weight).tolist() == expected


def test_weights_follow_the_given_order_of_edges():
    over = Sparse.from_edges([0, 1, 2], [1, 0, 1], 2, 3)
    assert aggregate(X, over, weight=torch.tensor([2.0, 3.0, 4.0])).tolist() == [30, 402]


def test_a_weight_per_head_weighs_its_head():
    over = Sparse.from_edges([0, 1], [0, 0], 1, 2)
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[10.0, 20.0], [30.0, 40.0]]])  # (sources, heads, dim)
    weight = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    assert aggregate(x, over, weight=weight).tolist() == [[[1, 2], [36, 48]]]


def test_readout_over_a_partition_and_a_tree():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert aggregate(x, Partition([0, 2, 2, 3]), how="mean").tolist() == [1.5, 0, 3]
    assert aggregate(x, Tree([2, 2, -1])).tolist() == [0, 0, 3]


@pytest.mark.parametrize("how", ["max", "min"])
def test_of_equal_extremes_the_first_edge_takes_the_gradient(how):
    x = torch.tensor([5.0, 5.0, 5.0], requires_grad=True)
    aggregate(x, Sparse.from_edges([2, 0, 1], [0, 0, 0], 1, 3), how=how).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 0, 1]


@pytest.mark.parametrize("value", [1.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("degree", [1, 3, 49, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_equal_messages_have_a_std_and_gradient_of_exactly_zero(value, degree, dtype):
    x = torch.full((degree, 2), value, dtype=dtype, requires_grad=True)
    out = aggregate(x, Sparse.from_edges(range(degree), [0] * degree, 1, degree), how="std")
    out.sum().backward()
    assert not out.any() and x.grad is not None and not x.grad.any()


def test_std_does_not_cancel_far_from_zero():
    x = torch.tensor([1e6, 1e6 + 1, 1e6 + 2])
    over = Sparse.from_edges([0, 1, 2], [0, 0, 0], 1, 3)
    torch.testing.assert_close(aggregate(x, over, how="std"), torch.tensor([(2 / 3) ** 0.5]), rtol=1e-3, atol=0)


def test_mean_in_half_precision_does_not_overflow():
    x = torch.full((2000,), 100.0, dtype=torch.float16)
    assert aggregate(x, Sparse.from_edges(range(2000), [0] * 2000, 1, 2000), how="mean").tolist() == [100]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf], ids=str)
def test_nan_and_infinity_reach_those_who_hear_them_and_nobody_else(how, bad):
    x = torch.tensor([bad, 10.0, 100.0])
    out = aggregate(x, V, how=how)
    expected = {"sum": bad, "mean": bad, "max": max(bad, 100.0), "min": min(bad, 10.0), "std": torch.nan}[how]
    expected = torch.nan if bad != bad else expected
    torch.testing.assert_close(out[1], torch.tensor(expected), equal_nan=True)
    assert out[0] == 0 and out[2].isfinite()


def test_gradients_may_arrive_in_any_layout():
    x = torch.randn(3, 4, requires_grad=True)
    for how in HOWS:
        out = aggregate(x, V, how=how)
        (expanded,) = torch.autograd.grad(out.sum(), x, retain_graph=True)  # one number, seen everywhere
        (transposed,) = torch.autograd.grad(out, x, torch.ones(4, 3).T)
        assert torch.equal(expanded, transposed)


def test_nothing_is_kept_for_a_way_back_that_nobody_asked_for():
    over = Sparse.from_edges([0, 1], [1, 0], 2)
    with torch.no_grad():
        aggregate(torch.ones(2, requires_grad=True), over)
    aggregate(torch.ones(2), over)
    assert "columns" not in vars(over)


# derivatives

SMALL = {
    "plain": Sparse.from_edges([0, 2, 1, 0, 2], [1, 0, 1, 2, 0], 4, 3),
    "weighted": Sparse.from_edges([0, 2, 1, 0], [1, 0, 1, 0], 2, 3, weight=torch.rand(4, dtype=torch.float64)).normalized(
        "row"
    ),
}
small = pytest.mark.parametrize("over", SMALL.values(), ids=SMALL)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


@small
@pytest.mark.parametrize("how", HOWS)
def test_gradcheck(over, how):
    assert gradcheck(lambda x, w: aggregate(x, over, how=how, weight=w), (numbers(3, 2, 2), numbers(over.num_edges, 2)))
    assert gradcheck(lambda x: aggregate(x, over, how=how), (numbers(3, 2),))


@small
@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_gradgradcheck(over, how):
    assert gradgradcheck(lambda x, w: aggregate(x, over, how=how, weight=w), (numbers(3, 2, 2), numbers(over.num_edges, 2)))
    assert gradgradcheck(lambda x: aggregate(x, over, how=how), (numbers(3, 2),))


def test_the_second_derivative_of_std_is_refused_rather_than_wrong():
    x = numbers(3, 2)
    (grad,) = torch.autograd.grad(aggregate(x, SMALL["plain"], how="std").sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="unspread_rows has no derivative"):
        grad.sum().backward()


# facts


@pytest.mark.parametrize("layers", range(5))
def test_so_many_layers_see_exactly_so_many_hops(layers):
    nodes = 12
    over = Sparse.from_edges(*torch.randint(nodes, (2, 16)), nodes)
    one_hop = torch.eye(nodes, dtype=torch.bool)
    one_hop[over.ends()[1], over.ends()[0]] = True
    seen = torch.eye(nodes, dtype=torch.bool)
    x = torch.eye(nodes)  # each node speaks with a voice of its own
    for _ in range(layers):
        seen = (one_hop.float() @ seen.float()) > 0
        x = aggregate(x, over.with_self_loops().normalized("symmetric"))
    assert torch.equal(x != 0, seen)


def test_a_matrix_product_is_an_aggregate():
    over = Sparse.from_edges([0, 2, 1, 0], [1, 0, 1, 0], 2, 3, weight=torch.rand(4, dtype=torch.float64))
    dense = torch.zeros(2, 3, dtype=torch.float64)
    dense[over.ends()[1], over.ends()[0]] = over.weight[over.undo_edge.long()]
    x = torch.randn(3, 4, dtype=torch.float64)
    torch.testing.assert_close(aggregate(x, over), dense @ x)


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_equals_the_scatter_of_pyg(pyg, how):
    over = Sparse.from_edges(torch.randint(20, (50,)), torch.randint(15, (50,)), 15, 20)
    source, target = over.ends()
    x = torch.randn(20, 8)
    expected = pyg.utils.scatter(x[source], target, dim=0, dim_size=15, reduce=how)
    torch.testing.assert_close(aggregate(x, over, how=how), expected)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_equals_the_gcn_of_pyg(pyg, weighted):
    conv = pyg.nn.GCNConv(6, 5)
    edges, weight = torch.randint(10, (2, 30)), torch.rand(30) if weighted else None
    edges = edges[:, edges[0] != edges[1]]
    weight = None if weight is None else weight[: edges.shape[1]]
    over = Sparse.from_edges(*edges, 10, weight=weight).with_self_loops().normalized("symmetric")
    x = torch.randn(10, 6)
    torch.testing.assert_close(aggregate(conv.lin(x), over) + conv.bias, conv(x, edges, weight))
