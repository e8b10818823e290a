"""Citation graphs as Planetoid publishes them, put together as the papers do.

Eight files: x, y the labelled rows to learn from; allx, ally all rows but the test nodes, the labelled ones first; tx,
ty the test nodes, in the order in which test.index lists their numbers; graph who is linked to whom.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from weft.data.datasets.compressed import DAMAGED, Array, undirected, without_loops
from weft.data.datasets.pickles import read_array, read_lists, read_matrix
from weft.data.graph import Graph
from weft.data.split import Split
from weft.errors import DataError


def read(paths: Mapping[str, Path], name: str, *, val: int = 500) -> Graph:
    """The graph of the files `ind.NAME.…`, by name; `val` rows after those to learn from decide when to stop.

    Numbers that the test nodes leave out (Citeseer's isolated papers) are nodes without words and without a label.
    """
    x, tx = (read_matrix(paths[f"ind.{name}.{part}"]).dense() for part in ("allx", "tx"))
    y, ty, first = (_classes(paths[f"ind.{name}.{part}"]) for part in ("ally", "ty", "y"))
    for part, features, labels in (("allx", x, y), ("tx", tx, ty)):
        if len(features) != len(labels):
            raise DataError(f"ind.{name}.{part}: {len(features):,} rows, but {len(labels):,} labels beside them. {DAMAGED}")
    if x.shape[1] != tx.shape[1]:
        raise DataError(f"ind.{name}.tx: {tx.shape[1]:,} columns, but ind.{name}.allx has {x.shape[1]:,}. {DAMAGED}")
    if not np.array_equal(first, y[: len(first)]):
        raise DataError(f"ind.{name}.y: not the labels that ind.{name}.ally begins with. {DAMAGED}")
    if len(first) + val > len(x):
        raise DataError(f"ind.{name}.allx: {len(x):,} rows, too few for {len(first):,} train and {val:,} val. {DAMAGED}")
    test = _test_index(paths[f"ind.{name}.test.index"], len(x), len(tx))
    size = max(int(test.max(initial=-1)) + 1, len(x))
    features = np.zeros((size, x.shape[1]), np.float32)
    labels = np.full(size, -1)
    features[: len(x)], labels[: len(x)] = x, y
    features[test], labels[test] = tx, ty
    source, target = _links(paths[f"ind.{name}.graph"], size)
    pairs, loops = undirected(source, target)
    train = len(first)
    split = Split.of(np.arange(train), np.arange(train, train + val), test, how="the published Planetoid split")
    graph = Graph.from_edges(pairs, x=features, y=_known(labels), splits=(split,))
    return replace(graph, notes=(*graph.notes, *without_loops(f"ind.{name}.graph", loops)))


def _classes(path: Path) -> Array:
    """The class of each row, -1 where none is marked."""
    marks = read_array(path)
    if marks.ndim != 2 or not np.isin(marks, (0, 1)).all() or (marks.sum(1) > 1).any():
        raise DataError(f"{path.name}: expected one column for each class and at most a single 1 in each row. {DAMAGED}")
    if marks.shape[1] == 0:
        return np.full(len(marks), -1)
    return np.where(marks.any(1), marks.argmax(1), -1)


def _test_index(path: Path, begin: int, count: int) -> Array:
    """The numbers of the test nodes, in their order: as many as there are, each once, from the first free one."""
    try:
        numbers = np.array([int(line) for line in path.read_bytes().split()], np.int64)
    except (OSError, ValueError, OverflowError) as error:
        raise DataError(f"{path.name}: expected a whole number on each line ({error}). {DAMAGED}") from None
    if len(numbers) != count or len(np.unique(numbers)) != count:
        found = f"{len(np.unique(numbers)):,} different numbers on {len(numbers):,} lines"
        raise DataError(f"{path.name}: {found}, but there are {count:,} test nodes. {DAMAGED}")
    if count and numbers.min() != begin:
        raise DataError(f"{path.name}: the test nodes begin at {numbers.min()}, but {begin:,} rows come before. {DAMAGED}")
    if count and numbers.max() >= begin + 10 * count:
        raise DataError(
            f"{path.name}: number {numbers.max()} is out of reach of {count:,} test nodes from {begin:,} on. {DAMAGED}"
        )
    return numbers


def _links(path: Path, size: int) -> tuple[Array, Array]:
    """Both ends of every listed link."""
    lists = read_lists(path)
    try:
        keys = np.fromiter(lists, np.int64, len(lists))
        source = np.repeat(keys, [len(members) for members in lists.values()])
        target = np.fromiter(chain.from_iterable(lists.values()), np.int64, len(source))
    except OverflowError:
        raise DataError(f"{path.name}: a link leads to a number that no node has. {DAMAGED}") from None
    for ends in (keys, target):
        wrong = ends[(ends < 0) | (ends >= size)]
        if len(wrong):
            raise DataError(f"{path.name}: node {wrong[0]} is linked, but there are {size:,} nodes. {DAMAGED}")
    return source, target


def _known(labels: Array) -> object:
    """Class numbers, null where there is none."""
    import pyarrow as pa

    return pa.array(labels, pa.int64(), mask=labels < 0)
