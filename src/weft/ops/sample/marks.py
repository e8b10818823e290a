"""Which nodes a sample has met already: an array over all nodes, kept for later samples and never cleared."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from weft.structure import Sparse


class Marks:
    """One whole number per node: the turn in which it was met last, times 2^32, plus the number it was given then."""

    def __init__(self, num_nodes: int) -> None:
        self.marks: np.ndarray[Any, np.dtype[np.int64]] = np.zeros(num_nodes, np.int64)
        self.turn = 0

    def begin(self) -> int:
        """Marks below this are of earlier samples."""
        self.turn += 1
        return self.turn << 32


_free: "WeakKeyDictionary[Sparse, list[Marks]]" = WeakKeyDictionary()
"""Marks that nobody uses, as long as their graph lives; lists are safe to share between threads."""


@contextmanager
def borrowed(over: Sparse) -> Generator[Marks]:
    """Marks for the nodes of this graph, for nobody else meanwhile."""
    free = _free.setdefault(over, [])
    try:
        marks = free.pop()
    except IndexError:
        marks = Marks(over.num_sources)
    try:
        yield marks
    finally:
        free.append(marks)
