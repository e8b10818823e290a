"""Which labelled things are learnt from, which decide when to stop, and which are only scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from weft.data.ids import Number
from weft.errors import DataError, WeftValueError
from weft.structure.base import as_index

PARTS = ("train", "val", "test")
SPELLINGS = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2, "testing": 2}


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of three disjoint parts, each in ascending order, and how they came about.

    >>> Split.of([0, 1], [2], [3], how="by hand")
    Split(2 train, 1 val, 1 test, by hand)
    """

    train: Tensor
    val: Tensor
    test: Tensor
    how: str

    @classmethod
    def of(cls, train: Any, val: Any, test: Any, *, how: str) -> Self:
        """From positions in any order; a position in two parts is refused."""
        parts = [
            as_index(_own(part), "Split.of", name).long().sort().values
            for part, name in zip((train, val, test), PARTS, strict=True)
        ]
        whole = torch.cat(parts)
        values, counts = whole.unique(return_counts=True)
        if len(values) < len(whole):
            twice = int(values[counts > 1][0])
            found = [name for name, part in zip(PARTS, parts, strict=True) for at in part.tolist() if at == twice]
            raise WeftValueError(f"Split.of: position {twice} is in {' and in '.join(found)}; each may be in one part, once.")
        if len(values) and int(values[0]) < 0:
            raise WeftValueError(f"Split.of: position {int(values[0])} is below zero; positions count from 0.")
        return cls(*parts, how=how)

    @classmethod
    def from_words(cls, words: Sequence[str | None], where: str, number: Number = int) -> Self:
        """From a column of train, val, test, or nothing (not used)."""
        codes = np.full(len(words), -1)
        for row, word in enumerate(words):
            if word is None or not str(word).strip():
                continue
            code = SPELLINGS.get(str(word).strip().lower())
            if code is None:
                raise DataError(f"{where}: row {number(row)} says {word!r}; a split is train, val or test, or left empty.")
            codes[row] = code
        return cls.from_codes(codes, how=f"as given in {where}")

    @classmethod
    def from_codes(cls, codes: Any, *, how: str) -> Self:
        """From 0 (train), 1 (val), 2 (test) or -1 (not used) for each position."""
        codes = as_index(_own(codes), "Split.from_codes", "codes")
        wrong = ((codes < -1) | (codes >= len(PARTS))).nonzero()
        if len(wrong):
            at = int(wrong[0])
            raise WeftValueError(f"Split.from_codes: codes[{at}] is {int(codes[at])}; 0 is train, 1 val, 2 test, -1 not used.")
        return cls(*((codes == code).nonzero().flatten() for code in range(3)), how=how)

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        """The parts by name."""
        return zip(PARTS, (self.train, self.val, self.test), strict=True)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part)} {name}" for name, part in self)
        return f"Split({sizes}, {self.how})"


def _own(positions: Any) -> Any:
    """Arrays as copies: torch warns of those that cannot be written to."""
    return positions.copy() if isinstance(positions, np.ndarray) else positions
