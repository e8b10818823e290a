"""Sparse matrices and lists of links as published files hold them, checked before anything is made of them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from weft.errors import DataError

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Compressed:
    """A sparse matrix by rows: row r holds data[indptr[r] : indptr[r + 1]] in columns indices[…]; what is there twice adds up.

    >>> import numpy as np
    >>> Compressed.of(np.array([5.0, 7.0]), np.array([2, 0]), np.array([0, 1, 2]), (2, 3), "example.npz").dense().tolist()
    [[0.0, 0.0, 5.0], [7.0, 0.0, 0.0]]
    """

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]
    where: str

    @classmethod
    def of(cls, data: Array, indices: Array, indptr: Array, shape: Any, where: str) -> Self:
        """Refuse what is no matrix; `where` names the file."""
        if len(shape) != 2 or min(shape) < 0:
            raise DataError(
                f"{where}: a matrix has rows and columns, but its shape is {[int(size) for size in shape]}. {DAMAGED}"
            )
        rows, columns = int(shape[0]), int(shape[1])
        if not all(part.ndim == 1 and part.dtype.kind in "iu" for part in (indices, indptr)) or data.ndim != 1:
            raise DataError(f"{where}: indices and indptr must be lists of whole numbers beside a list of values. {DAMAGED}")
        steps = np.diff(indptr.astype(np.int64))
        if len(indptr) != rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (steps < 0).any():
            raise DataError(f"{where}: indptr does not share out {len(indices):,} entries among {rows:,} rows. {DAMAGED}")
        if len(data) != len(indices):
            raise DataError(f"{where}: {len(data):,} values for {len(indices):,} entries. {DAMAGED}")
        if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
            wrong = indices[(indices < 0) | (indices >= columns)][0]
            raise DataError(f"{where}: an entry stands in column {wrong}, but there are {columns:,} columns. {DAMAGED}")
        return cls(data, indices.astype(np.int64), indptr.astype(np.int64), (rows, columns), where)

    @property
    def row(self) -> Array:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def dense(self) -> Array:
        """Every number, as float32."""
        try:
            matrix = np.zeros(self.shape, np.float32)
        except (MemoryError, ValueError):  # NumPy says either, depending on how far out of reach it is
            raise DataError(
                f"{self.where}: {self.shape[0]:,} rows of {self.shape[1]:,} numbers do not fit into memory. "
                "Use a machine with more, or a smaller dataset."
            ) from None
        np.add.at(matrix, (self.row, self.indices), self.data.astype(np.float32))
        return matrix


def undirected(source: Array, target: Array) -> tuple[dict[str, Array], int]:
    """Each linked pair once, the smaller position first, in ascending order; and how many loops were left out."""
    low, high = np.minimum(source, target).astype(np.int64), np.maximum(source, target).astype(np.int64)
    apart = low != high
    size = int(high.max(initial=0)) + 1
    key = np.unique(low[apart] * size + high[apart])
    return {"source": key // size, "target": key % size}, int((~apart).sum())


def without_loops(place: str, loops: int) -> tuple[str, ...]:
    """What a graph's notes say of the loops that were left out."""
    return (f"{place}: links from a thing to itself are left out: {loops:,}.",) if loops else ()


DAMAGED = "The file is damaged or of another kind; fetch it again."
