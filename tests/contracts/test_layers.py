"""What every layer keeps: shape, element type, state, gradients, compilation, and the symmetries of its structure."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from weft import nn
from weft.errors import WeftError
from weft.structure import Causal, Chain, Dense, Partition, Sparse, Structure, Tree, Window


def graph() -> Sparse:
    torch.manual_seed(1)
    return Sparse.from_edges(torch.randint(0, 9, (30,)), torch.randint(0, 9, (30,)), 9)


@dataclass(frozen=True)
class Case:
    """A layer, the structure it is tried on, and the shapes of what goes in and comes out."""

    make: Callable[[], torch.nn.Module]
    over: Callable[[], Structure]
    x: tuple[int, ...]
    out: tuple[int, ...]
    equivariant: bool = False
    compiles: bool = True


CASES = {
    "GCN": Case(lambda: nn.GCN(4, 6), graph, (9, 4), (9, 6), equivariant=True),
    "SAGE": Case(lambda: nn.SAGE(4, 6), graph, (9, 4), (9, 6), equivariant=True),
    "GIN": Case(lambda: nn.GIN(nn.MLP(4, 6, dim=5)), graph, (9, 4), (9, 6), equivariant=True),
    "GAT": Case(lambda: nn.GAT(4, 6, heads=2), graph, (9, 4), (9, 6), equivariant=True),
    "GATv2": Case(lambda: nn.GATv2(4, 6, heads=2), graph, (9, 4), (9, 6), equivariant=True),
    "TransformerConv": Case(lambda: nn.TransformerConv(4, 6, heads=2), graph, (9, 4), (9, 6), equivariant=True),
    "Attention graph": Case(lambda: nn.Attention(4, heads=2), graph, (9, 4), (9, 4), equivariant=True),
    "Attention dense": Case(lambda: nn.Attention(4, heads=2), lambda: Dense(5), (3, 5, 4), (3, 5, 4)),
    "Attention causal": Case(lambda: nn.Attention(4, heads=2, kv_heads=1), lambda: Causal(5), (3, 5, 4), (3, 5, 4)),
    "Attention window": Case(lambda: nn.Attention(4, heads=2), lambda: Window(5, 1, 1), (5, 4), (5, 4)),
    # torch 2.13 itself fails to compile torch.lstm with gradients on a CPU: it saves a None for the way back
    "LSTM chain": Case(lambda: nn.LSTM(4, 6), lambda: Chain(5), (3, 5, 4), (3, 5, 6), compiles=False),
    "LSTM tree": Case(lambda: nn.LSTM(4, 6), lambda: Tree([2, 2, 4, 4, -1]), (5, 4), (5, 6)),
    "GRU chain": Case(lambda: nn.GRU(4, 6), lambda: Chain(5, reverse=True), (3, 5, 4), (3, 5, 6)),
    "GRU tree": Case(lambda: nn.GRU(4, 6), lambda: Tree([2, 2, 4, 4, -1]), (5, 4), (5, 6)),
    "MeanHeads": Case(lambda: nn.MeanHeads(nn.GAT(4, 6, heads=3), 3), graph, (9, 4), (9, 2), equivariant=True),
    "Plain": Case(lambda: nn.Plain(nn.GCN(4, 6)), graph, (9, 4), (9, 6), equivariant=True),
    "PreNorm": Case(lambda: nn.PreNorm(nn.GCN(4, 4), 4), graph, (9, 4), (9, 4), equivariant=True),
    "PostNorm": Case(lambda: nn.PostNorm(nn.Everywhere(nn.MLP(4, 4, dim=8)), 4), graph, (9, 4), (9, 4), equivariant=True),
    "Readout": Case(lambda: nn.Readout("max"), lambda: Partition([0, 4, 4, 9]), (9, 4), (3, 4)),
    "AttentionReadout": Case(lambda: nn.AttentionReadout(4), lambda: Partition([0, 4, 4, 9]), (9, 4), (3, 4)),
}
each = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@each
def test_shape_and_element_type(case: Case):
    over = case.over()
    for dtype in (torch.float32, torch.float64):
        out = case.make().to(dtype)(torch.randn(case.x, dtype=dtype), over)
        assert out.shape == case.out
        assert out.dtype == dtype
        assert bool(out.isfinite().all())


@each
def test_every_weight_learns(case: Case):
    layer, over = case.make(), case.over()
    x = torch.randn(case.x, requires_grad=True)
    layer(x, over).square().sum().backward()
    for name, weight in [("x", x), *layer.named_parameters()]:
        assert weight.grad is not None, name
        assert bool(weight.grad.isfinite().all()), name
    # a bias of keys moves all scores of a target alike, and a softmax does not see it
    silent = [n for n, w in layer.named_parameters() if not bool(w.grad.abs().max() > 1e-7) and n not in ("k.bias",)]
    assert silent == []


@each
def test_state_comes_back(case: Case):
    torch.manual_seed(0)
    layer, other, over, x = case.make(), case.make(), case.over(), torch.randn(case.x)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(layer(x, over), other(x, over))
    assert torch.equal(layer(x, over), copy.deepcopy(layer)(x, over))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.compiles])
def test_compiles_without_a_break(name: str):
    case = CASES[name]
    layer, over, x = case.make(), case.over(), torch.randn(case.x)
    expected = layer(x, over)  # also fills the caches of the structure
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, over), expected)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.equivariant])
def test_renaming_the_nodes_renames_the_output(name: str):
    case = CASES[name]
    layer, over, x = case.make().double(), graph(), torch.randn(case.x, dtype=torch.float64)
    order = torch.randperm(9)
    place = torch.empty_like(order)
    place[order] = torch.arange(9)
    source, target = over.ends()
    renamed = Sparse.from_edges(place[source], place[target], 9)
    torch.testing.assert_close(layer(x[order], renamed), layer(x, over)[order])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.equivariant])
def test_a_batch_is_its_graphs_side_by_side(name: str):
    case = CASES[name]
    layer, x = case.make().double(), torch.randn(2, *case.x, dtype=torch.float64)
    one, other = graph(), graph().reversed()
    whole, members = Sparse.batch([one, other])
    expected = torch.cat([layer(x[0], one), layer(x[1], other)])
    torch.testing.assert_close(layer(x.flatten(0, 1), whole), expected)
    assert members.lengths.tolist() == [9, 9]


def test_a_representation_names_the_layer():
    assert "GCN" in repr(nn.GCN(3, 4))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.GAT(4, 7, heads=2), "out_dim=7 and heads=2"),
        (lambda: nn.GATv2(4, 7, heads=2), "out_dim=7 and heads=2"),
        (lambda: nn.TransformerConv(4, 7, heads=2), "out_dim=7 and heads=2"),
        (lambda: nn.Attention(6, heads=4), "dim=6, heads=4"),
        (lambda: nn.Attention(8, heads=4, kv_heads=3), "kv_heads=3"),
        (lambda: nn.MLP(3, 4, dim=5, depth=0), "depth must be at least 1"),
    ],
)
def test_sizes_that_do_not_fit_are_named(make: Callable[[], object], words: str):
    with pytest.raises(WeftError, match=words):
        make()


def test_two_layers_see_two_hops():
    over = Sparse.from_edges([0, 1, 2, 3], [1, 2, 3, 4], 5)  # a path: 0 → 1 → 2 → 3 → 4
    x = torch.randn(5, 3, requires_grad=True)
    first, second = nn.GCN(3, 3), nn.GCN(3, 3)
    second(first(x, over), over)[4].sum().backward()
    heard = x.grad.abs().sum(1) > 0
    assert heard.tolist() == [False, False, True, True, True]


def test_the_sum_without_normalisation_grows_with_the_degree():
    hub = Sparse.from_edges(torch.arange(1, 101), torch.zeros(100, dtype=torch.int64), 101)
    x = torch.ones(101, 1)
    from weft import aggregate

    assert aggregate(x, hub)[0].item() == 100
    assert aggregate(x, hub.with_self_loops().normalized("symmetric"))[0].item() < 11
