"""Changes of a graph that are part of a protocol, each giving another graph."""

from dataclasses import replace

from weft.data.graph import Graph
from weft.errors import DataError


def scale_rows(graph: Graph) -> Graph:
    """Features of each node divided by their sum: bags of words as shares, as the citation benchmarks have them.

    >>> import torch
    >>> scale_rows(Graph.from_edges([(0, 1)], x=torch.tensor([[1.0, 3.0], [0.0, 0.0]]))).x.tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    if graph.x is None:
        raise DataError("scale_rows: the graph has no features that came as numbers.")
    total = graph.x.sum(1, keepdim=True)
    return replace(graph, x=graph.x / total.where(total != 0, 1.0))
