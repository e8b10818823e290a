"""Changes of a graph that are part of a protocol."""

import pytest
import torch

from weft.data import Graph
from weft.data.transforms import scale_rows
from weft.errors import DataError


def test_rows_become_shares_and_empty_ones_stay_empty():
    x = torch.tensor([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    graph = Graph.from_edges([(0, 1)], x=x, y=["a", "b"])
    scaled = scale_rows(graph)
    assert scaled.x.tolist() == [[0.25, 0.25, 0.5], [0.0, 0.0, 0.0]]
    assert torch.equal(graph.x, x) and scaled.y is graph.y and scaled.over is graph.over


def test_a_graph_without_numbers_is_refused():
    with pytest.raises(DataError, match="no features that came as numbers"):
        scale_rows(Graph.from_edges([(0, 1)]))
