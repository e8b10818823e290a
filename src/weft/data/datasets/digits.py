"""A graph of handwritten digits: every image linked to the eight that are most like it. Nothing has to be fetched.

The images are those that scikit-learn brings along. Ties between equally near images go to the one that comes first,
and distances are whole numbers, so that the graph is the same on every machine.
"""

from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.data.datasets.compressed import Array, undirected
from weft.data.graph import Graph
from weft.data.split import Split
from weft.data.table import write_table
from weft.errors import DataError, MissingFileError

if TYPE_CHECKING:
    import pyarrow as pa

NEIGHBOURS, PER_CLASS, SIDE = 8, 10, 8
SEED = 0


def read() -> Graph:
    """Pixels are columns p00 … p77 (row, column), the digit is what is to be predicted; ids are img-0001 and so on."""
    nodes, edges = _tables()
    graph = Graph.from_tables(nodes, edges, id="id", target="digit", split="split")
    (split,) = graph.splits
    how = f"{PER_CLASS} train and {PER_CLASS} val of each class, all others test"
    return graph.with_splits(Split.of(split.train, split.val, split.test, how=how))


def write_digits(folder: str | PathLike[str]) -> tuple[Path, Path]:
    """Write `nodes.csv` (id, pixels, digit, split) and `edges.csv` (source, target) into a folder that is there.

    >>> import tempfile
    >>> nodes, edges = write_digits(tempfile.mkdtemp())
    >>> Graph.from_tables(nodes, edges, target="digit", split="split").num_nodes
    1797
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise MissingFileError(f"write_digits: there is no folder {folder}. Make it first, or name another one.")
    paths = folder / "nodes.csv", folder / "edges.csv"
    for path, table in zip(paths, _tables(), strict=True):
        write_table(table, path)
    return paths


@cache
def _tables() -> tuple["pa.Table", "pa.Table"]:
    import pyarrow as pa

    pixels, digits = _images()
    dice = np.random.RandomState(SEED)  # the one generator of NumPy that is promised to stay the same
    names = np.array([f"img-{number + 1:04d}" for number in dice.permutation(len(digits))])
    split = np.full(len(digits), "test", dtype="<U5")
    for digit in range(10):
        members = dice.permutation(np.flatnonzero(digits == digit))
        split[members[:PER_CLASS]] = "train"
        split[members[PER_CLASS : 2 * PER_CLASS]] = "val"
    columns = {f"p{row}{column}": pixels[:, row * SIDE + column] for row in range(SIDE) for column in range(SIDE)}
    nodes = pa.table({"id": names, **columns, "digit": digits, "split": split})
    pairs, _ = undirected(np.repeat(np.arange(len(digits)), NEIGHBOURS), nearest(pixels, NEIGHBOURS).reshape(-1))
    return nodes, pa.table({end: names[positions] for end, positions in pairs.items()})


def nearest(points: Array, count: int) -> Array:
    """(rows, count) positions of the other rows that are nearest, the nearest first, of equally near ones the first.

    >>> nearest(np.array([[0], [1], [3], [7]]), 2).tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
    points = points.astype(np.int64)
    squares = (points * points).sum(1)
    distance = squares[:, None] + squares - 2 * (points @ points.T)
    np.fill_diagonal(distance, np.iinfo(np.int64).max)
    return np.argsort(distance, axis=1, kind="stable")[:, :count]


def _images() -> tuple[Any, Any]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise DataError(
            "datasets: the images of digits come with scikit-learn, which is not installed. Install scikit-learn, or use "
            "another dataset."
        ) from None
    pixels, digits = load_digits(return_X_y=True)
    return pixels.astype(np.int64), digits.astype(np.int64)
