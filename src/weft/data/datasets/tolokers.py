"""Tolokers: crowd workers, linked if they worked on the same task, some of them banned; with ten splits in the file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from weft.data.datasets.compressed import DAMAGED, Array, undirected, without_loops
from weft.data.datasets.npz import read_npz
from weft.data.graph import Graph
from weft.data.split import PARTS, Split
from weft.errors import DataError

ARRAYS = {"node_features": ("iuf", 2), "node_labels": ("iu", 1), "edges": ("iu", 2)}
EXPECTED = ARRAYS | {f"{part}_masks": ("b", 2) for part in PARTS}


def read(paths: Mapping[str, Path], name: str) -> Graph:
    """The graph of a single file: y is 1 for those who were banned."""
    (path,) = paths.values()
    arrays = read_npz(path, EXPECTED)
    x, y, edges = arrays["node_features"], arrays["node_labels"], arrays["edges"]
    masks = [arrays[f"{part}_masks"] for part in PARTS]
    if len(x) != len(y) or edges.shape[1] != 2:
        raise DataError(f"{path.name}: {len(x):,} rows of features, {len(y):,} labels, edges of shape {edges.shape}. {DAMAGED}")
    wrong = edges[(edges < 0) | (edges >= len(y))]
    if len(wrong):
        raise DataError(f"{path.name}: node {wrong[0]} is linked, but there are {len(y):,} nodes. {DAMAGED}")
    pairs, loops = undirected(edges[:, 0], edges[:, 1])
    graph = Graph.from_edges(pairs, x=x.astype(np.float32), y=y.astype(np.int64), splits=_splits(masks, len(y), path.name))
    return replace(graph, notes=(*graph.notes, *without_loops(path.name, loops)))


def _splits(masks: list[Array], size: int, place: str) -> tuple[Split, ...]:
    shapes = {mask.shape for mask in masks}
    if len(shapes) != 1 or masks[0].shape[1] != size:
        raise DataError(f"{place}: masks of {size:,} nodes must be equally many, but have shapes {sorted(shapes)}. {DAMAGED}")
    train, val, test = masks
    twice = np.argwhere(train.astype(int) + val + test > 1)
    if len(twice):
        number, node = twice[0]
        raise DataError(f"{place}: split {number + 1} puts node {node} into more than one part. {DAMAGED}")
    rows = [[np.flatnonzero(mask[number]) for mask in masks] for number in range(len(train))]
    return tuple(Split.of(*row, how=f"published split {at + 1} of {len(rows)}") for at, row in enumerate(rows))
