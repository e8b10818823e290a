"""Co-purchase and co-author graphs as the gnn-benchmark project publishes them: two sparse matrices and a list of labels."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from weft.data.datasets.compressed import DAMAGED, Array, Compressed, undirected, without_loops
from weft.data.datasets.npz import read_npz
from weft.data.graph import Graph
from weft.errors import DataError

PARTS = {"data": "iuf", "indices": "iu", "indptr": "iu", "shape": "iu"}
EXPECTED = {"labels": ("iu", 1)} | {f"{matrix}_{part}": (PARTS[part], 1) for matrix in ("adj", "attr") for part in PARTS}


def read(paths: Mapping[str, Path], name: str) -> Graph:
    """The graph of a single file: links without direction, each once, loops left out; there is no published split."""
    (path,) = paths.values()
    links, features, labels = _parts(path)
    pairs, loops = undirected(links.row, links.indices)
    graph = Graph.from_edges(pairs, x=features.dense(), y=labels.astype(np.int64))
    return replace(graph, notes=(*graph.notes, *without_loops(path.name, loops)))


def content_of(path: Path) -> str:
    """The sha256 of what a file says, however it is compressed and in whatever order a row's entries are."""
    links, features, labels = _parts(path)
    pairs, _ = undirected(links.row, links.indices)
    there = features.data != 0
    row, column, value = features.row[there], features.indices[there], features.data[there]
    order = np.lexsort((column, row))
    numbers = (pairs["source"], pairs["target"], np.array(features.shape), row[order], column[order], labels)
    told = sha256()
    for part in numbers:
        told.update(part.astype("<i8").tobytes())
    told.update(value[order].astype("<f4").tobytes())
    return told.hexdigest()


def _parts(path: Path) -> tuple[Compressed, Compressed, Array]:
    arrays = read_npz(path, EXPECTED)
    links, features = (
        Compressed.of(*(arrays[f"{matrix}_{part}"] for part in PARTS), where=path.name) for matrix in ("adj", "attr")
    )
    labels = arrays["labels"]
    if links.shape != (len(labels), len(labels)) or len(labels) != features.shape[0]:
        raise DataError(
            f"{path.name}: {len(labels):,} labels, but links among {links.shape} and features of {features.shape[0]:,} nodes. "
            f"{DAMAGED}"
        )
    return links, features, labels
