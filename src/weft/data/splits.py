"""Ways to part labelled nodes into train, validation and test: each a value that makes a `Split` of a graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from weft.data.columns import as_floats, as_seconds
from weft.data.split import Split
from weft.data.table import require_column
from weft.errors import DataError, WeftTypeError, WeftValueError

if TYPE_CHECKING:
    import pyarrow as pa

    from weft.data.graph import Graph


class Splitter(Protocol):
    """A way to part a graph's labelled nodes."""

    def __call__(self, graph: "Graph") -> Split: ...


@dataclass(frozen=True)
class Published:
    """The split that came with the graph: a column of the user's table, or the masks of a data set, by number."""

    number: int = 0

    def __call__(self, graph: "Graph") -> Split:
        if not isinstance(self.number, int) or not 0 <= self.number < len(graph.splits):
            raise WeftValueError(
                f"Published: the graph comes with {len(graph.splits)} splits, so there is no number {self.number!r}."
            )
        return graph.splits[self.number]


@dataclass(frozen=True)
class Random:
    """Labelled nodes in random order, cut at the shares.

    >>> from weft.data import Graph
    >>> Random(train=0.5, val=0.25)(Graph.from_edges([(0, 1)], y=["a", "b", "a", "b"]))
    Split(2 train, 1 val, 1 test, at random: 50 % train, 25 % val, seed 0)
    """

    train: float = 0.6
    val: float = 0.2
    seed: int = 0

    def __call__(self, graph: "Graph") -> Split:
        _check_shares(self.train, self.val)
        order = np.random.default_rng(self.seed).permutation(_labelled(graph))
        return _cut(order, self.train, self.val, f"at random: {_say(self.train, self.val)}, seed {self.seed}")


@dataclass(frozen=True)
class Stratified:
    """As `Random`, class by class, so that each class has about the same shares."""

    train: float = 0.6
    val: float = 0.2
    seed: int = 0

    def __call__(self, graph: "Graph") -> Split:
        _check_shares(self.train, self.val)
        dice = np.random.default_rng(self.seed)
        parts = [_cut(dice.permutation(members), self.train, self.val, "") for _, members in _by_class(graph)]
        joined = [np.concatenate([getattr(part, name) for part in parts]) for name in ("train", "val", "test")]
        return Split.of(*joined, how=f"class by class: {_say(self.train, self.val)}, seed {self.seed}")


@dataclass(frozen=True)
class PerClass:
    """So many training and validation nodes of each class; all other labelled nodes are the test part."""

    train: int = 20
    val: int = 30
    seed: int = 0

    def __call__(self, graph: "Graph") -> Split:
        for name, count, least in (("train", self.train, 1), ("val", self.val, 0)):
            if not isinstance(count, int) or count < least:
                raise WeftValueError(f"PerClass: {name} must be a whole number, {least} or more, but is {count!r}.")
        dice = np.random.default_rng(self.seed)
        parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for name, members in _by_class(graph):
            if len(members) < self.train + self.val:
                raise DataError(
                    f"PerClass: class {name!r} has {len(members)} labelled nodes, fewer than {self.train} + {self.val}. "
                    "Ask for fewer per class, or use Stratified."
                )
            order = dice.permutation(members)
            for part, cut in zip(parts, np.split(order, [self.train, self.train + self.val]), strict=True):
                part.append(cut)
        how = f"{self.train} train and {self.val} val of each class, seed {self.seed}"
        return Split.of(*(np.concatenate(part) for part in parts), how=how)


@dataclass(frozen=True)
class ByTime:
    """The past is learnt from, the future is scored: labelled nodes by a column of numbers or dates, cut at the shares.

    Nodes of equal time stay together, in the earlier part.
    """

    column: str
    train: float = 0.6
    val: float = 0.2

    def __call__(self, graph: "Graph") -> Split:
        _check_shares(self.train, self.val)
        members = _labelled(graph)
        times = _times(_column(graph, self.column, "time"), f"ByTime: column {self.column!r}")[members]
        missing = np.flatnonzero(np.isnan(times))
        if len(missing):
            name = graph.ids.values[int(members[missing[0]])].as_py()
            raise DataError(
                f"ByTime: node {name!r} has no {self.column!r}, and so have {len(missing) - 1} others. "
                "Fill the gap, or take away the label."
            )
        ranked = np.sort(times)
        ends = [round(share * len(ranked)) for share in (self.train, self.train + self.val)]
        limits = [ranked[min(max(end, 1), len(ranked)) - 1] for end in ends]
        codes = np.where(times <= limits[0], 0, np.where(times <= limits[1], 1, 2))
        return Split.of(*(members[codes == part] for part in range(3)), how=f"by {self.column}: {_say(self.train, self.val)}")


@dataclass(frozen=True)
class ByGroup:
    """Groups of a column stay whole: whole groups in random order, cut where the shares of their members are reached."""

    column: str
    train: float = 0.6
    val: float = 0.2
    seed: int = 0

    def __call__(self, graph: "Graph") -> Split:
        _check_shares(self.train, self.val)
        members = _labelled(graph)
        values = _column(graph, self.column, "groups").take(members)
        codes = values.dictionary_encode("encode").indices.to_numpy()
        order = np.random.default_rng(self.seed).permutation(int(codes.max()) + 1 if len(codes) else 0)
        reached = np.bincount(codes, minlength=len(order))[order].cumsum() / max(len(codes), 1)
        part_of_group = np.empty(len(order), np.int64)
        part_of_group[order] = np.digitize(reached, [self.train + 1e-9, self.train + self.val + 1e-9])
        part_of_group[order[:1]] = 0  # however large it is, something must be learnt from
        how = f"whole groups of {self.column}: {_say(self.train, self.val)}, seed {self.seed}"
        return Split.of(*(members[part_of_group[codes] == part] for part in range(3)), how=how)


def folds(graph: "Graph", count: int = 5, *, seed: int = 0) -> Iterator[Split]:
    """`count` splits in which every labelled node is in the test part once; of the rest, one in eight decides when to stop."""
    members = _labelled(graph)
    if not isinstance(count, int) or not 2 <= count <= len(members):
        raise WeftValueError(f"folds: count must be 2 … {len(members)} (the labelled nodes), but got {count!r}.")
    dice = np.random.default_rng(seed)
    parts = np.array_split(dice.permutation(members), count)
    for number, test in enumerate(parts):
        rest = dice.permutation(np.concatenate([part for at, part in enumerate(parts) if at != number]))
        cut = len(rest) // 8
        yield Split.of(rest[cut:], rest[:cut], test, how=f"fold {number + 1} of {count}, seed {seed}")


def _times(values: "pa.Array", where: str) -> Any:
    import pyarrow as pa

    numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return as_floats(values if numbers else as_seconds(values, where), where)


def _labelled(graph: "Graph") -> Any:
    members = graph.labelled.numpy()
    if len(members) == 0:
        raise DataError("split: no node has a label. Name the column that holds what is to be predicted: target=….")
    return members


def _by_class(graph: "Graph") -> list[tuple[Any, Any]]:
    members = _labelled(graph)
    assert graph.y is not None
    encoded = graph.y.take(members).dictionary_encode()
    codes = encoded.indices.to_numpy()
    names = encoded.dictionary.to_pylist()
    return [(names[code], members[codes == code]) for code in sorted(range(len(names)), key=lambda code: str(names[code]))]


def _column(graph: "Graph", name: str, role: str) -> Any:
    if graph.columns is None:
        raise DataError(f"split: the graph has no columns, so none called {name!r}.")
    values = require_column(graph.columns, name, "nodes", role)
    return values.dictionary_decode() if hasattr(values, "dictionary_decode") else values


def _cut(order: Any, train: float, val: float, how: str) -> Split:
    first = max(round(train * len(order)), 1)
    second = max(round((train + val) * len(order)), first)
    return Split.of(order[:first], order[first:second], order[second:], how=how)


def _check_shares(train: float, val: float) -> None:
    if not isinstance(train, int | float) or not isinstance(val, int | float):
        raise WeftTypeError(f"split: shares must be numbers, but train is {train!r} and val is {val!r}.")
    if not (0 < train <= 1 and val >= 0 and train + val <= 1 + 1e-9):
        raise WeftValueError(f"split: shares must be positive and sum to at most 1, but train is {train} and val is {val}.")


def _say(train: float, val: float) -> str:
    return f"{train * 100:g} % train, {val * 100:g} % val"
