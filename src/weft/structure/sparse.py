"""Explicit edges, compressed by target."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from weft.errors import DeviceError, DtypeError, ShapeError, StructureError, WeftTypeError, WeftValueError
from weft.structure.base import Structure, as_index, as_size, remember
from weft.structure.compress import Rows, check_ends, group, index_dtype, inverse
from weft.types import IndexLike, Norm

if TYPE_CHECKING:
    from weft.structure.acyclic import Acyclic
    from weft.structure.partition import Partition


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sparse(Structure):
    """Explicit edges, compressed by target; where targets are fewer, they are the first sources.

    Make one with `from_edges`. What is known per edge (weights, scores, features) always goes in and
    comes out in the order in which the edges were given; inside, edges are stored target by target.

    rows: neighbours of each target · edge: the given number of each stored edge (None: same order) ·
    weight: (edges) in storage order · scale_target, scale_source: factors of the weight per node.

    >>> over = Sparse.from_edges([0, 1, 2], [1, 2, 1], num_targets=3)
    >>> over
    Sparse(3 → 3, 3 edges)
    >>> over.rows.degree.tolist()
    [0, 2, 1]
    """

    num_targets: int
    num_sources: int
    rows: Rows
    edge: Tensor | None = None
    weight: Tensor | None = None
    scale_target: Tensor | None = None
    scale_source: Tensor | None = None
    normalization: Norm | None = None
    derived: dict[object, "Sparse"] = field(default_factory=dict[object, "Sparse"])

    @classmethod
    def from_edges(
        cls,
        source: IndexLike,
        target: IndexLike,
        num_targets: int,
        num_sources: int | None = None,
        *,
        weight: Tensor | None = None,
    ) -> Self:
        """Sort and compress an edge list."""
        name = "Sparse.from_edges"
        source, target = as_index(source, name, "source"), as_index(target, name, "target")
        num_targets = as_size(num_targets, name, "num_targets")
        num_sources = num_targets if num_sources is None else as_size(num_sources, name, "num_sources")
        if len(source) != len(target):
            raise ShapeError(f"{name}: source names {len(source)} ends and target {len(target)}; an edge has one of each.")
        if source.device != target.device:
            raise DeviceError(f"{name}: source is on {source.device} and target on {target.device}; move one.")
        check_ends(source, target, num_sources, num_targets, name)
        pointer, order = group(target, num_targets)
        narrow = index_dtype(num_targets, num_sources, len(source))
        stored = (source if order is None else source[order]).to(narrow)
        weight = None if weight is None else check_weight(weight, source, name)
        return cls(
            num_targets=num_targets,
            num_sources=num_sources,
            rows=Rows(pointer, stored, None),
            edge=order,
            weight=weight if weight is None or order is None else weight[order],
        )

    @property
    def num_edges(self) -> int:
        return self.rows.num_edges

    @property
    def device(self) -> torch.device:
        return self.rows.index.device

    @cached_property
    def columns(self) -> Rows:
        """The same edges source by source: the targets of each, and where each edge is stored."""
        pointer, order = group(self.rows.index, self.num_sources)
        return Rows(pointer, self.rows.row if order is None else self.rows.row[order], order)

    @cached_property
    def undo_edge(self) -> Tensor | None:
        """Where each given edge is stored."""
        return None if self.edge is None else inverse(self.edge)

    @cached_property
    def incidence(self) -> "Sparse":
        """Edges, as they were given, to their targets: what `reduce` sums over."""
        edges, narrow = self.num_edges, self.rows.index.dtype
        order = torch.arange(edges, dtype=narrow, device=self.device) if self.edge is None else self.edge
        incidence = Sparse(num_targets=self.num_targets, num_sources=edges, rows=Rows(self.rows.pointer, order, None))
        target = self.rows.row if self.undo_edge is None else self.rows.row[self.undo_edge]
        one_each = torch.arange(edges + 1, device=self.device)
        remember(incidence, "columns", Rows(one_each, target, self.undo_edge))
        return incidence

    @cached_property
    def storage(self) -> "Sparse":
        """Edges, as they were given, to the places where they are stored."""
        one_each = torch.arange(self.num_edges + 1, device=self.device)
        order = one_each[:-1].to(self.rows.index.dtype)
        storage = Sparse(
            num_targets=self.num_edges,
            num_sources=self.num_edges,
            rows=Rows(one_each, order if self.edge is None else self.edge, None),
        )
        undo = self.undo_edge
        remember(storage, "columns", Rows(one_each, order if undo is None else undo, undo))
        return storage

    def ends(self) -> tuple[Tensor, Tensor]:
        """Source and target of every edge, in the order in which the edges were given (int64)."""
        source, target = self.rows.index.long(), self.rows.row.long()
        undo = self.undo_edge
        return (source, target) if undo is None else (source[undo], target[undo])

    def targets_of(self, x: Tensor) -> Tensor:
        """The targets' own part of what is known of the sources: where targets are fewer, they come first."""
        return x if self.num_targets == self.num_sources else x[: self.num_targets]

    def stored_weight(self) -> Tensor | None:
        """The whole weight of every edge in storage order: its own, times the factors of its two ends."""
        parts = [] if self.weight is None else [self.weight]
        if self.scale_target is not None:
            parts.append(self.scale_target[self.rows.row])
        if self.scale_source is not None:
            parts.append(self.scale_source[self.rows.index])
        return torch.stack(parts).prod(0) if parts else None

    def to_sparse(self) -> Self:
        return self

    def to(self, device: torch.device | str) -> Self:
        if torch.device(device) == self.device:
            return self
        return type(self)(
            num_targets=self.num_targets,
            num_sources=self.num_sources,
            rows=self.rows.to(device),
            edge=_move(self.edge, device),
            weight=_move(self.weight, device),
            scale_target=_move(self.scale_target, device),
            scale_source=_move(self.scale_source, device),
            normalization=self.normalization,
        )

    def reversed(self) -> "Sparse":
        """Swap sources and targets (cached)."""
        if "reversed" not in self.derived:
            position = self.columns.position
            back = Sparse(
                num_targets=self.num_sources,
                num_sources=self.num_targets,
                rows=Rows(self.columns.pointer, self.columns.index, None),
                edge=_through(self.edge, position),
                weight=_pick(self.weight, position),
                scale_target=self.scale_source,
                scale_source=self.scale_target,
                normalization=self.normalization,
                derived={"reversed": self},
            )
            undo = None if position is None else inverse(position)
            remember(back, "columns", Rows(self.rows.pointer, self.rows.index, undo))
            self.derived["reversed"] = back
        return self.derived["reversed"]

    def with_self_loops(self, weight: float = 1.0) -> "Sparse":
        """One edge from each node to itself (cached, idempotent): nodes that have one keep theirs.

        Added edges are numbered after the given ones, in the order of their nodes.
        """
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise WeftTypeError(f"with_self_loops: weight must be one number for all loops, but got {weight!r}.")
        key = ("loops", weight)
        if key not in self.derived:
            self.derived[key] = _add_loops(self, weight)
        return self.derived[key]

    def normalized(self, how: Norm) -> "Sparse":
        """Degree-normalised weights (cached): `symmetric` is D^(-1/2) A D^(-1/2), `row` is D^(-1) A.

        D counts the weight that reaches a node; where sources and targets differ in number, a source
        is counted by the weight that leaves it.
        """
        if how not in ("symmetric", "row"):
            raise WeftValueError(f"normalized: how must be 'symmetric' or 'row', but got {how!r}.")
        if self.normalization == how:
            return self
        if self.normalization is not None:
            raise WeftValueError(f"normalized: this structure is already normalised by {self.normalization!r}, not {how!r}.")
        if how not in self.derived:
            self.derived[how] = _normalize(self, how)
        return self.derived[how]

    def topological(self) -> "Acyclic":
        """The order of an acyclic graph; the error names a cycle."""
        from weft.structure.acyclic import Acyclic

        return Acyclic(self)

    @classmethod
    def batch(cls, graphs: Sequence["Sparse"]) -> tuple["Sparse", "Partition"]:
        """Graphs side by side as one, without edges between them, and which node belongs to which graph."""
        from weft.structure.batch import side_by_side

        return side_by_side(graphs)

    def __repr__(self) -> str:
        notes = ["weighted"] if self.weight is not None else []
        notes += [f"{self.normalization}-normalised"] if self.normalization else []
        return f"Sparse({', '.join([f'{self.num_sources} → {self.num_targets}', f'{self.num_edges} edges', *notes])})"


def check_weight(weight: object, source: Tensor, caller: str) -> Tensor:
    """Edge weights that fit the edges: floating point, one per edge, fixed."""
    if not isinstance(weight, Tensor):
        raise WeftTypeError(f"{caller}: weight must be a tensor with one number per edge, but got {type(weight).__name__}.")
    if not weight.is_floating_point():
        raise DtypeError(f"{caller}: weight must be floating point, but holds {weight.dtype}. Convert it with weight.float().")
    if weight.shape != source.shape:
        raise ShapeError(
            f"{caller}: {len(source)} edges need weight of shape ({len(source)},), but it has {tuple(weight.shape)}."
        )
    if weight.device != source.device:
        raise DeviceError(f"{caller}: the edges are on {source.device} and weight on {weight.device}; move one.")
    if weight.requires_grad:
        raise WeftValueError(f"{caller}: a structure is fixed; give weights that learn to aggregate(..., weight=...).")
    return weight


def _add_loops(over: Sparse, weight: float) -> Sparse:
    if over.num_targets != over.num_sources:
        raise StructureError(f"with_self_loops: {over!r} relates different things, so no node is its own neighbour.")
    if over.normalization is not None:
        raise WeftValueError("with_self_loops: add the loops before normalising, so that they count in the degrees.")
    rows, index = over.rows, over.rows.index
    has = torch.zeros(over.num_targets, dtype=torch.bool, device=over.device)
    has[index[rows.row == index]] = True
    lacking = (~has).nonzero().flatten()
    if len(lacking) == 0:
        return over
    shift = torch.zeros_like(rows.pointer)
    torch.cumsum(~has, 0, out=shift[1:])  # loops added before each row
    old = torch.arange(over.num_edges, device=over.device) + shift[rows.row]
    new = rows.pointer[lacking + 1] + shift[lacking]
    total = over.num_edges + len(lacking)
    narrow = index_dtype(over.num_targets, total)

    def merge(kept: Tensor, added: Tensor | float, dtype: torch.dtype) -> Tensor:
        merged = torch.empty(total, dtype=dtype, device=over.device)
        merged[old] = kept.to(dtype)
        merged[new] = added.to(dtype) if isinstance(added, Tensor) else torch.as_tensor(added, dtype=dtype)
        return merged

    given = torch.arange(over.num_edges, device=over.device) if over.edge is None else over.edge
    own = over.weight
    if own is None and weight != 1.0:
        own = torch.ones(over.num_edges, device=over.device)
    return Sparse(
        num_targets=over.num_targets,
        num_sources=over.num_sources,
        rows=Rows(rows.pointer + shift, merge(index, lacking, narrow), None),
        edge=merge(given, torch.arange(over.num_edges, total, device=over.device), narrow),
        weight=None if own is None else merge(own, weight, own.dtype),
    )


def _normalize(over: Sparse, how: Norm) -> Sparse:
    reaching = _mass(over.rows, over.weight)
    if how == "row":
        target, source = _power(reaching, -1.0), None
    elif over.num_targets == over.num_sources:
        target = source = _power(reaching, -0.5)
    else:
        leaving = _mass(over.columns, _pick(over.weight, over.columns.position))
        target, source = _power(reaching, -0.5), _power(leaving, -0.5)
    result = Sparse(
        num_targets=over.num_targets,
        num_sources=over.num_sources,
        rows=over.rows,
        edge=over.edge,
        weight=over.weight,
        scale_target=target,
        scale_source=source,
        normalization=how,
    )
    if "columns" in vars(over):
        remember(result, "columns", over.columns)
    return result


def _mass(rows: Rows, weight: Tensor | None) -> Tensor:
    if weight is None:
        return rows.degree.to(torch.get_default_dtype())
    return torch.segment_reduce(weight, "sum", offsets=rows.pointer, initial=0)


def _power(mass: Tensor, exponent: float) -> Tensor:
    if bool((mass < 0).any()):
        node = int((mass < 0).nonzero()[0, 0])
        raise WeftValueError(f"normalized: the weights that reach node {node} add up to {float(mass[node]):.4g}, below zero.")
    return torch.where(mass > 0, mass.pow(exponent), torch.zeros_like(mass))


def _move(part: Tensor | None, device: torch.device | str) -> Tensor | None:
    return None if part is None else part.to(device)


def _pick(values: Tensor | None, order: Tensor | None) -> Tensor | None:
    return values if values is None or order is None else values[order]


def _through(edge: Tensor | None, position: Tensor | None) -> Tensor | None:
    return position if edge is None else _pick(edge, position)
