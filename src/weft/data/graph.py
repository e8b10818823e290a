"""A graph as its owner has it: things with names and columns, links between them, and what is to be predicted."""

# pyarrow.compute makes its functions when it is loaded.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from weft.data.columns import as_floats
from weft.data.ids import Ids, Number, canonical
from weft.data.split import Split
from weft.data.table import TableLike, first_line, place_of, read_table, require_column, row_number, text_header
from weft.errors import DataError, ShapeError, WeftTypeError, WeftValueError
from weft.structure import Sparse
from weft.types import Kind

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Graph:
    """Nodes with features, edges with features, labels and splits.

        over        who may speak to whom; an undirected edge speaks both ways, and stands in it twice
        ids         the owner's names of the nodes, in order
        x           features that came as numbers (nodes, dim)
        columns     features that came as columns, not yet encoded: what is learnt of them belongs to a model
        kinds       what the owner says a column is
        y           what is to be predicted, null where it is not known
        edge_table  columns of the listed edges, weight and time among them; edge_row says where each edge is listed
        splits      ways to part the nodes, none or several
        notes       what was noticed on the way in, in sentences

    >>> graph = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> graph
    Graph(3 nodes, 2 undirected edges)
    """

    over: Sparse
    ids: Ids
    directed: bool
    edge_row: Tensor
    x: Tensor | None = None
    columns: "pa.Table | None" = None
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    y: "pa.Array | None" = None
    edge_table: "pa.Table | None" = None
    splits: tuple[Split, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def from_tables(
        cls,
        nodes: TableLike,
        edges: TableLike,
        *,
        id: str = "id",  # noqa: A002 (the word of the command line)
        target: str | None = None,
        ends: tuple[str, str] | None = None,
        weight: str | None = None,
        split: str | None = None,
        kinds: Mapping[str, Kind] | None = None,
        directed: bool = False,
    ) -> Self:
        """From a table of things and a table of links: files, frames or columns.

        `id` names the things, `ends` are the two columns of links that name things (by default `source` and `target`,
        else the first two). `target` is what is to be predicted, empty where it is not known; `split` says train, val,
        test or nothing; `weight` is a number per link. Every other column of things is a feature.
        """
        listed, (source, end) = _read_edges(edges, ends)
        table = read_table(nodes, "nodes", (id, target or "", split or ""))
        place = place_of(nodes, "nodes")

        def number(at: int) -> int:
            return row_number(nodes, at)

        ids = Ids.of(require_column(table, id, place, "ids"), f"{place}, column {id!r}", number)
        if len(ids) == 0:
            raise DataError(f"{place}: the table has no rows, and a graph of nothing teaches nothing.")
        y = None if target is None else _as_labels(require_column(table, target, place, "target"))
        words = None if split is None else require_column(table, split, place, "split").to_pylist()
        splits = () if words is None else (Split.from_words(words, f"{place}, column {split!r}", number),)
        links = _Links.of(listed, source, end, ids, edges, weight, directed)
        given = {id, target, split}
        columns = table.select([name for name in table.column_names if name not in given])
        _check_finite(columns, kinds or {}, place, number)
        return cls(
            over=links.over(len(ids)),
            ids=ids,
            directed=directed,
            edge_row=links.row,
            columns=columns if columns.num_columns else None,
            kinds=kinds or {},
            y=y,
            edge_table=links.table,
            splits=splits,
            notes=links.notes,
        )

    @classmethod
    def from_edges(
        cls,
        edges: TableLike,
        *,
        x: Any = None,
        y: Any = None,
        ids: Any = None,
        weight: str | None = None,
        splits: tuple[Split, ...] = (),
        directed: bool = False,
    ) -> Self:
        """From a list of pairs or a table of links, with features and labels in the order of `ids`.

        Without `ids`, nodes are those that x or y have rows for, numbered from 0; without either, those that are linked.
        """
        listed, (source, end) = _read_edges(_pairs(edges), None)
        features = None if x is None else _as_features(x)
        labels = None if y is None else _as_labels(y)
        known = next((len(part) for part in (features, labels) if part is not None), None)
        if ids is not None:
            names = Ids.of(ids, "ids")
        elif known is not None:
            names = Ids.counted(known)
        else:
            names = _linked(listed, source, end)
        for name, part in (("x", features), ("y", labels)):
            if part is not None and len(part) != len(names):
                raise ShapeError(f"Graph.from_edges: {len(names)} nodes, but {name} has {len(part)} rows.")
        links = _Links.of(listed, source, end, names, edges, weight, directed)
        return cls(
            over=links.over(len(names)),
            ids=names,
            directed=directed,
            edge_row=links.row,
            x=features,
            y=labels,
            edge_table=links.table,
            splits=splits,
            notes=links.notes,
        )

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Links as they are listed: an undirected one counts once."""
        if self.directed:
            return self.over.num_edges
        return int((self.over.rows.index <= self.over.rows.row).sum())

    @property
    def labelled(self) -> Tensor:
        """Positions of the nodes whose label is known."""
        if self.y is None:
            return torch.zeros(0, dtype=torch.int64)
        return torch.from_numpy(np.flatnonzero(self.y.is_valid()))

    def with_splits(self, *splits: Split) -> Self:
        """The same graph with other splits."""
        return replace(self, splits=splits)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        notes = [f"{self.num_nodes} nodes", f"{self.num_edges} {kind} edges"]
        notes += [] if self.x is None else [f"{self.x.shape[1]} features"]
        notes += [] if self.columns is None else [f"{self.columns.num_columns} columns"]
        notes += [] if self.y is None else [f"{len(self.labelled)} labelled"]
        return f"Graph({', '.join(notes)})"


@dataclass(frozen=True, eq=False)
class _Links:
    """Edges between positions: where each is listed, and how much it weighs."""

    source: Tensor
    target: Tensor
    row: Tensor
    weight: Tensor | None
    table: "pa.Table | None"
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, listed: "pa.Table", source: str, end: str, ids: Ids, edges: TableLike, weight: str | None, directed: bool
    ) -> Self:
        place = place_of(edges, "edges")

        def number(at: int) -> int:
            return row_number(edges, at)

        ends = [
            torch.from_numpy(ids.positions(listed[name].combine_chunks(), f"{place}, column {name!r}", number))
            for name in (source, end)
        ]
        heavy = (
            None if weight is None else _read_weight(require_column(listed, weight, place, "weights"), place, weight, number)
        )
        rest = listed.drop_columns([source, end])
        table = rest if rest.num_columns else None
        if directed:
            loops = int((ends[0] == ends[1]).sum())
            return cls(ends[0], ends[1], _counting(ends[0]), heavy, table, _notes(place, 0, loops))
        low, high = torch.minimum(ends[0], ends[1]), torch.maximum(ends[0], ends[1])
        first, pair = _first_of_each(low * len(ids) + high)
        merged = None if heavy is None else heavy.new_zeros(len(first)).index_add_(0, pair, heavy)
        low, high = low[first], high[first]
        apart = low != high
        again, loops = len(pair) - len(first), int((~apart).sum())
        row = torch.cat([first, first[apart]])
        both = None if merged is None else torch.cat([merged, merged[apart]])
        ways = torch.cat([low, high[apart]]), torch.cat([high, low[apart]])
        return cls(ways[0], ways[1], row, both, table, _notes(place, again, loops))

    def over(self, nodes: int) -> Sparse:
        return Sparse.from_edges(self.source, self.target, nodes, weight=self.weight)


def _read_edges(edges: TableLike, ends: tuple[str, str] | None) -> tuple["pa.Table", tuple[str, str]]:
    place = place_of(edges, "edges")
    if ends is None:  # a text file is parsed once it is known which columns name things
        table, names = None, text_header(edges, "edges")
        if names is None:
            table = read_table(edges, "edges")
            names = table.column_names
        if len(names) < 2:
            raise DataError(f"{place}: a link has two ends, but the only column is {', '.join(map(repr, names)) or 'none'}.")
        ends = ("source", "target") if {"source", "target"} <= set(names) else (names[0], names[1])
        table = read_table(edges, "edges", ends) if table is None else table
    else:
        if len(ends) != 2 or ends[0] == ends[1]:
            raise WeftValueError(f"{place}: ends must be two columns, but are {ends!r}.")
        table = read_table(edges, "edges", ends)
    for name, role in zip(ends, ("source end", "target end"), strict=True):
        require_column(table, name, place, role)
    return table, ends


def _read_weight(values: "pa.Array", place: str, name: str, number: Number) -> Tensor:
    weights = as_floats(values, f"{place}, column {name!r}", number).astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        at = int(wrong[0])
        what = "has no weight" if np.isnan(weights[at]) else f"weighs {weights[at]}"
        raise DataError(f"{place}, column {name!r}: row {number(at)} {what}; {len(wrong):,} rows are like this.")
    return torch.from_numpy(weights)


def _check_finite(table: "pa.Table", kinds: Mapping[str, Kind], place: str, number: Number) -> None:
    """Refuse what no feature can be while the row still has its owner's number."""
    import pyarrow as pa

    for name in table.column_names:
        if pa.types.is_floating(table[name].type) and kinds.get(name) != "skip":
            values = as_floats(table[name].combine_chunks(), name)
            infinite = np.flatnonzero(np.isinf(values))
            if len(infinite):
                at = int(infinite[0])
                raise DataError(
                    f"{place}, column {name!r}: row {number(at)} holds {values[at]}; a feature must be finite or missing. "
                    f"Correct it, or leave the column out: kinds={{{name!r}: 'skip'}}."
                )


def _counting(like: Tensor) -> Tensor:
    return torch.arange(len(like), device=like.device)


def _first_of_each(key: Tensor) -> tuple[Tensor, Tensor]:
    """Where each key stands for the first time, in the order in which they come, and which of these each one is."""
    ranked, order = key.sort(stable=True)
    new = torch.ones_like(ranked, dtype=torch.bool)
    torch.ne(ranked[1:], ranked[:-1], out=new[1:])
    if bool(new.all()):
        return _counting(key), _counting(key)
    first, rank = order[new].sort()
    place = torch.empty_like(rank)
    place[rank] = _counting(rank)
    which = torch.empty_like(order)
    which[order] = place[new.cumsum(0) - 1]
    return first, which


def _notes(place: str, again: int, loops: int) -> tuple[str, ...]:
    notes: list[str] = []
    if again:
        notes.append(
            f"{place}: {again:,} links repeat a pair that is listed before, in either direction; each pair counts "
            "once, and weights are added."
        )
    if loops:
        notes.append(f"{place}: {loops:,} links lead from a thing to itself.")
    return tuple(notes)


def _pairs(edges: Any) -> TableLike:
    """A list of pairs, or an array of two rows or columns, as a table."""
    if isinstance(edges, Tensor):
        edges = edges.numpy(force=True)
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or 2 not in edges.shape:
            raise ShapeError(f"Graph.from_edges: edges must be (count, 2) or (2, count), but have shape {edges.shape}.")
        if edges.shape == (2, 2):
            raise ShapeError(
                "Graph.from_edges: an array of shape (2, 2) can be two pairs, or two ends of two edges. "
                "Give a list of pairs, or {'source': …, 'target': …}."
            )
        edges = edges.T if edges.shape[1] == 2 else edges
        return {"source": np.ascontiguousarray(edges[0]), "target": np.ascontiguousarray(edges[1])}
    if isinstance(edges, list | tuple | set | frozenset):
        pairs = list(edges) if isinstance(edges, list | tuple) else sorted(edges, key=repr)
        for at, pair in enumerate(pairs):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise WeftTypeError(f"Graph.from_edges: edge {at} must be a pair, but is {pair!r}.")
        return {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]}
    return edges


def _linked(listed: "pa.Table", source: str, end: str) -> Ids:
    """The things that links name, in the order in which they first come."""
    import pyarrow as pa

    both = [canonical(listed[name], f"edges, column {name!r}") for name in (source, end)]
    if both[0].type != both[1].type:
        both = [part.cast(pa.string()) for part in both]
    return Ids.of(pa.concat_arrays(both).unique().drop_null(), "edges")


def _as_features(x: Any) -> Tensor:
    for way in ("toarray", "to_dense", "to_numpy"):
        x = getattr(x, way)() if hasattr(x, way) else x
    try:
        x = torch.as_tensor(x if isinstance(x, Tensor) else np.array(x))  # a copy: what comes may be read-only
    except (TypeError, ValueError, RuntimeError) as error:
        raise WeftTypeError(
            f"Graph.from_edges: x must be numbers (nodes, features), but got {type(x).__name__}: {error}."
        ) from None
    if x.is_complex():
        raise WeftTypeError("Graph.from_edges: x must be real numbers, but is complex.")
    if x.ndim != 2:
        raise ShapeError(f"Graph.from_edges: x must be (nodes, features), but has shape {tuple(x.shape)}.")
    x = x.float()
    wrong = (~torch.isfinite(x)).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        raise DataError(f"Graph.from_edges: x[{row}, {column}] is {float(x[row, column])}; features must be finite numbers.")
    return x


def _as_labels(y: Any) -> "pa.Array":
    """One label per node; NaN is a label that is not known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(y, pa.ChunkedArray):
        y = y.combine_chunks()
    if not isinstance(y, pa.Array):
        try:
            y = pa.array(y.numpy(force=True) if isinstance(y, Tensor) else y, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise WeftTypeError(f"Graph: y must be one label per node, all of one kind: {first_line(error)}.") from None
    if pa.types.is_nested(y.type):
        raise WeftTypeError(f"Graph: y must be one label per node, but holds values of type {y.type}.")
    if pa.types.is_dictionary(y.type):
        y = y.dictionary_decode()
    return pc.if_else(pc.is_nan(y), None, y) if pa.types.is_floating(y.type) else y
