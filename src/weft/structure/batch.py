"""Many graphs as one."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from weft.errors import DeviceError, WeftTypeError, WeftValueError
from weft.structure.base import Structure
from weft.structure.compress import Rows, index_dtype
from weft.structure.partition import Partition
from weft.structure.sparse import Sparse


def side_by_side(graphs: Sequence[Sparse]) -> tuple[Sparse, Partition]:
    """Graphs as the blocks of one block-diagonal graph, and the partition of its nodes.

    Edges are numbered graph after graph, each in its given order, so that per-edge tensors concatenate.
    """
    if isinstance(graphs, Structure) or not isinstance(graphs, Iterable):
        raise WeftTypeError(f"Sparse.batch: needs a list of Sparse, but got {type(graphs).__name__}.")
    graphs = list(graphs)
    for place, graph in enumerate(graphs):
        if not isinstance(graph, Sparse):
            raise WeftTypeError(f"Sparse.batch: every item must be a Sparse, but item {place} is {type(graph).__name__}.")
        if graph.num_targets != graph.num_sources:
            raise WeftValueError(f"Sparse.batch: every graph must relate its own nodes, but item {place} is {graph!r}.")
        if graph.normalization is not None:
            raise WeftValueError(f"Sparse.batch: normalise after batching; item {place} is already {graph!r}.")
        if graph.device != graphs[0].device:
            raise DeviceError(f"Sparse.batch: item {place} is on {graph.device} and item 0 on {graphs[0].device}; move one.")
        if (graph.weight is None) != (graphs[0].weight is None):
            raise WeftValueError(f"Sparse.batch: either all graphs are weighted or none, but item {place} differs from item 0.")
    if not graphs:
        return Sparse.from_edges([], [], 0), Partition([0])
    device = graphs[0].device
    nodes = offsets([graph.num_targets for graph in graphs], device)
    edges = offsets([graph.num_edges for graph in graphs], device)
    narrow = index_dtype(int(nodes[-1]), int(edges[-1]))
    index = torch.cat([graph.rows.index.long() + first for graph, first in zip(graphs, nodes, strict=False)])
    pointers = [graph.rows.pointer[1:] + first for graph, first in zip(graphs, edges, strict=False)]
    edge: Tensor | None = None
    if any(graph.edge is not None for graph in graphs):
        given = [torch.arange(graph.num_edges, device=device) if graph.edge is None else graph.edge for graph in graphs]
        edge = torch.cat([part.long() + first for part, first in zip(given, edges, strict=False)]).to(narrow)
    weights = [graph.weight for graph in graphs if graph.weight is not None]
    whole = Sparse(
        num_targets=int(nodes[-1]),
        num_sources=int(nodes[-1]),
        rows=Rows(torch.cat([edges[:1], *pointers]), index.to(narrow), None),
        edge=edge,
        weight=torch.cat(weights) if weights else None,
    )
    return whole, Partition(nodes)


def offsets(sizes: Sequence[int], device: torch.device) -> Tensor:
    """Where each part starts, and where the last one ends."""
    counts = torch.tensor([0, *sizes], dtype=torch.int64, device=device)
    return counts.cumsum(0)
