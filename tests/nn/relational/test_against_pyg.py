"""Each relational layer gives what PyG's gives with the same weights: outputs and the gradient of the features."""

import pytest
import torch
from torch import Tensor

from weft import nn
from weft.structure import Sparse

pyg = pytest.importorskip("torch_geometric.nn")


@pytest.fixture
def graph() -> tuple[Tensor, Sparse, Tensor, Tensor]:
    """Random directed edges without self-loops or duplicates; features; a gradient to send back."""
    torch.manual_seed(0)
    pairs = torch.randperm(30 * 29)[:120]
    source, offset = pairs // 29, pairs % 29 + 1
    target = (source + offset) % 30
    return torch.stack([source, target]), Sparse.from_edges(source, target, 30), torch.randn(30, 6), torch.randn(30, 8)


def assert_same(ours, theirs, graph) -> None:
    index, sparse, x, grad = graph
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    mine, other = ours(a, sparse), theirs(b, index)
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    mine.backward(grad)
    other.backward(grad)
    torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def copy(pairs: list[tuple[Tensor, Tensor]]) -> None:
    with torch.no_grad():
        for theirs, ours in pairs:
            theirs.copy_(ours.reshape(theirs.shape))


def test_gcn(graph):
    ours, theirs = nn.GCN(6, 8), pyg.GCNConv(6, 8)
    copy([(theirs.lin.weight, ours.project.weight), (theirs.bias, ours.bias)])
    assert_same(ours, theirs, graph)


def test_sage(graph):
    ours, theirs = nn.SAGE(6, 8), pyg.SAGEConv(6, 8)
    copy(
        [
            (theirs.lin_l.weight, ours.neighbours.weight),
            (theirs.lin_l.bias, ours.own.bias),
            (theirs.lin_r.weight, ours.own.weight),
        ]
    )
    assert_same(ours, theirs, graph)


def test_gin(graph):
    network = torch.nn.Linear(6, 8)
    ours, theirs = nn.GIN(network), pyg.GINConv(network, eps=0.0, train_eps=True)
    assert_same(ours, theirs, graph)


def test_gat(graph):
    ours, theirs = nn.GAT(6, 8, heads=2), pyg.GATConv(6, 4, heads=2)
    copy(
        [
            (theirs.lin.weight, ours.project.weight),
            (theirs.att_src, ours.a_source),
            (theirs.att_dst, ours.a_target),
            (theirs.bias, ours.bias),
        ]
    )
    assert_same(ours, theirs, graph)


def test_gatv2(graph):
    ours, theirs = nn.GATv2(6, 8, heads=2), pyg.GATv2Conv(6, 4, heads=2)
    copy(
        [
            (theirs.lin_l.weight, ours.source.weight),
            (theirs.lin_l.bias, ours.source.bias),
            (theirs.lin_r.weight, ours.target.weight),
            (theirs.lin_r.bias, ours.target.bias),
            (theirs.att, ours.a),
            (theirs.bias, ours.bias),
        ]
    )
    assert_same(ours, theirs, graph)


@pytest.mark.parametrize("edge_dim", [None, 3], ids=["plain", "edge features"])
def test_transformer(graph, edge_dim):
    index, sparse, x, _ = graph
    ours, theirs = nn.TransformerConv(6, 8, heads=2, edge_dim=edge_dim), pyg.TransformerConv(6, 4, heads=2, edge_dim=edge_dim)
    layers = [(theirs.lin_query, ours.q), (theirs.lin_key, ours.k), (theirs.lin_value, ours.v), (theirs.lin_skip, ours.own)]
    for their, our in layers:
        copy([(their.weight, our.weight), (their.bias, our.bias)])
    if edge_dim is None:
        assert_same(ours, theirs, graph)
    else:
        copy([(theirs.lin_edge.weight, ours.edge.weight)])
        edge_x = torch.randn(120, 3)
        torch.testing.assert_close(ours(x, sparse, edge_x=edge_x), theirs(x, index, edge_x), rtol=1e-5, atol=1e-5)
