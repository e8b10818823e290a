"""Many graphs as one: blocks on the diagonal, nothing between them."""

import pytest
import torch

from weft.ops import aggregate
from weft.structure import Sparse


def edges(over: Sparse) -> list[tuple[int, int]]:
    return list(zip(*(end.tolist() for end in over.ends()), strict=True))


def test_blocks_follow_one_another():
    whole, nodes = Sparse.batch([Sparse.from_edges([0, 1], [1, 0], 2), Sparse.from_edges([2, 0], [0, 1], 3)])
    assert edges(whole) == [(0, 1), (1, 0), (4, 2), (2, 3)]
    assert nodes.boundaries.tolist() == [0, 2, 5]


@pytest.mark.parametrize("sizes", [[], [0], [0, 3, 0], [1, 1, 1], [4, 2, 5]], ids=str)
def test_a_batch_is_its_graphs_one_by_one(sizes):
    graphs = [Sparse.from_edges(*torch.randint(n, (2, 2 * n)) if n else ([], []), n, weight=torch.rand(2 * n)) for n in sizes]
    x = [torch.randn(n, 3) for n in sizes]
    whole, nodes = Sparse.batch(graphs)
    together = aggregate(torch.cat([torch.zeros(0, 3), *x]), whole)
    apart = torch.cat([torch.zeros(0, 3), *(aggregate(part, graph) for part, graph in zip(x, graphs, strict=True))])
    assert torch.equal(together, apart)
    assert nodes.lengths.tolist() == sizes


def test_edges_keep_their_order_graph_after_graph():
    graphs = [Sparse.from_edges([1, 0, 1], [1, 1, 0], 2), Sparse.from_edges([0], [0], 1)]
    whole, _ = Sparse.batch(graphs)
    assert edges(whole) == [(1, 1), (0, 1), (1, 0), (2, 2)]
    assert whole.undo_edge is not None and whole.undo_edge.tolist() == [1, 2, 0, 3]


def test_weights_come_along():
    parts = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    whole, _ = Sparse.batch(
        [Sparse.from_edges([0, 0], [1, 0], 2, weight=parts[0]), Sparse.from_edges([0], [0], 1, weight=parts[1])]
    )
    assert whole.weight is not None and whole.weight.tolist() == [2.0, 1.0, 3.0]


def test_a_generator_will_do():
    whole, _ = Sparse.batch(Sparse.from_edges([0], [0], 1) for _ in range(3))
    assert edges(whole) == [(0, 0), (1, 1), (2, 2)]
