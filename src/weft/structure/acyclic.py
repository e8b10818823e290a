"""Relations without cycles, and the order they give: trees and directed acyclic graphs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from weft.errors import EdgeError, OrderError, StructureError
from weft.structure.base import Ordered, as_index, freeze
from weft.structure.compress import Rows
from weft.structure.sparse import Sparse
from weft.types import Index, IndexLike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Acyclic(Ordered):
    """A directed acyclic graph; each node comes after all that speak to it.

    >>> [level.tolist() for level in Acyclic(Sparse.from_edges([0, 1], [2, 2], num_targets=3)).order()]
    [[0, 1], [2]]
    """

    over: Sparse
    levels: tuple[Tensor, ...]

    def __init__(self, over: Sparse):
        if over.num_targets != over.num_sources:
            raise StructureError(f"Acyclic: {over!r} relates different things; an order needs one set of nodes.")
        freeze(self, over=over, levels=sort_levels(over), num_targets=over.num_targets, num_sources=over.num_sources)

    def order(self) -> Iterator[Index]:
        return iter(self.levels)

    @cached_property
    def steps(self) -> tuple[tuple[Tensor, Sparse], ...]:
        """Each level, and the edges that reach it from all nodes: level i of n nodes as n → len(level)."""
        return tuple((level, _reaching(self.over, level)) for level in self.levels)

    def to_sparse(self) -> Sparse:
        return self.over

    def to(self, device: torch.device | str) -> Self:
        return type(self)(self.over.to(device))

    def __repr__(self) -> str:
        return f"Acyclic({self.over!r}, {len(self.levels)} levels)"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Tree(Ordered):
    """Children before parents; `parent[i]` is the parent of node i, -1 for a root.

    >>> [level.tolist() for level in Tree([2, 2, -1]).order()]
    [[0, 1], [2]]
    """

    parent: Tensor

    def __init__(self, parent: IndexLike):
        parent = as_index(parent, "Tree", "parent").to(torch.int64)
        nodes = len(parent)
        wrong = ((parent < -1) | (parent >= nodes)).nonzero()
        if len(wrong):
            node = int(wrong[0])
            raise EdgeError(f"Tree: the parent of node {node} is {int(parent[node])}; use 0 … {nodes - 1}, or -1 for a root.")
        freeze(self, parent=parent, num_targets=nodes, num_sources=nodes)
        _ = self._acyclic  # refuses a cycle now, not at the first use

    @cached_property
    def _acyclic(self) -> Acyclic:
        child = (self.parent >= 0).nonzero().flatten()
        return Acyclic(Sparse.from_edges(child, self.parent[child], len(self.parent)))

    def order(self) -> Iterator[Index]:
        return self._acyclic.order()

    @property
    def steps(self) -> tuple[tuple[Tensor, Sparse], ...]:
        """As `Acyclic.steps`."""
        return self._acyclic.steps

    def to_sparse(self) -> Sparse:
        return self._acyclic.over

    def to(self, device: torch.device | str) -> Self:
        return type(self)(self.parent.to(device))

    def __repr__(self) -> str:
        return f"Tree({self.num_targets} nodes, {len(self._acyclic.levels)} levels)"


def _reaching(over: Sparse, level: Tensor) -> Sparse:
    edge = places(over.rows.pointer, level)
    pointer = torch.zeros(len(level) + 1, dtype=torch.int64, device=level.device)
    torch.cumsum(over.rows.degree[level], 0, out=pointer[1:])
    return Sparse(num_targets=len(level), num_sources=over.num_sources, rows=Rows(pointer, over.rows.index[edge], None))


def sort_levels(over: Sparse) -> tuple[Tensor, ...]:
    """Nodes by the length of the longest path that reaches them; refuses a cycle and names it."""
    waiting = over.rows.degree.clone()
    level = (waiting == 0).nonzero().flatten()
    levels: list[Tensor] = []
    done = 0
    while len(level):
        levels.append(level)
        done += len(level)
        reached = neighbours(over.columns.pointer, over.columns.index, level).long()
        waiting.scatter_add_(0, reached, torch.full_like(reached, -1))
        candidates = reached.unique()
        level = candidates[waiting[candidates] == 0]
    if done < over.num_targets:
        nodes = " → ".join(str(node) for node in find_cycle(over, waiting > 0))
        raise OrderError(f"topological: an order needs a graph without cycles, but this one has {nodes}.")
    return tuple(levels)


def neighbours(pointer: Tensor, index: Tensor, rows: Tensor) -> Tensor:
    """The neighbours of some rows, one row after the other."""
    return index[places(pointer, rows)]


def places(pointer: Tensor, rows: Tensor) -> Tensor:
    """Where the edges of some rows are stored, one row after the other."""
    begin, count = pointer[rows], pointer[rows + 1] - pointer[rows]
    ends = count.cumsum(0)
    total = int(ends[-1]) if len(rows) else 0
    return torch.arange(total, device=pointer.device) + torch.repeat_interleave(begin - ends + count, count, output_size=total)


def find_cycle(over: Sparse, stuck: Tensor) -> list[int]:
    """One cycle among the nodes that never became ready, first node repeated at the end."""
    pointer, source = over.rows.pointer, over.rows.index
    node = int(stuck.nonzero()[0])
    seen: dict[int, int] = {}
    path: list[int] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        before = source[pointer[node] : pointer[node + 1]].long()
        node = int(before[stuck[before]][0])
    return [*path[seen[node] :], node][::-1]
