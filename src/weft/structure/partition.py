"""Members to groups."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from weft.errors import ShapeError, WeftTypeError, WeftValueError
from weft.structure.base import Structure, as_index, freeze, remember
from weft.structure.compress import Rows, index_dtype
from weft.structure.dense import Dense
from weft.structure.sparse import Sparse
from weft.types import IndexLike


@dataclass(frozen=True, eq=False, init=False)
class Partition(Structure):
    """Members to groups: readout, bags, ragged batches.

    Group g holds the members `boundaries[g]` … `boundaries[g + 1] - 1`.

    >>> Partition([0, 2, 5]).lengths.tolist()
    [2, 3]
    """

    boundaries: Tensor

    def __init__(self, boundaries: IndexLike):
        boundaries = as_index(boundaries, "Partition", "boundaries").to(torch.int64)
        if len(boundaries) == 0 or boundaries[0] != 0:
            first = boundaries[0].item() if len(boundaries) else "nothing"
            raise WeftValueError(f"Partition: boundaries must start with 0, but start with {first}.")
        falls = (boundaries[1:] < boundaries[:-1]).nonzero()
        if len(falls):
            at = int(falls[0])
            raise WeftValueError(
                f"Partition: boundaries must not fall, but boundaries[{at + 1}] is {int(boundaries[at + 1])} "
                f"after {int(boundaries[at])}."
            )
        members = int(boundaries[-1])
        freeze(self, boundaries=boundaries, num_targets=len(boundaries) - 1, num_sources=members)

    @classmethod
    def from_lengths(cls, lengths: IndexLike) -> Self:
        """Groups one after the other, each of the given length."""
        lengths = as_index(lengths, "Partition.from_lengths", "lengths").to(torch.int64)
        if len(lengths) and int(lengths.min()) < 0:
            raise WeftValueError(
                f"Partition.from_lengths: lengths[{int(lengths.argmin())}] is {int(lengths.min())}, below zero."
            )
        return cls(torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]))

    @cached_property
    def lengths(self) -> Tensor:
        """How many members each group has."""
        return self.boundaries[1:] - self.boundaries[:-1]

    @cached_property
    def member_group(self) -> Tensor:
        """The group of each member (int64)."""
        groups = torch.arange(self.num_targets, device=self.boundaries.device)
        return torch.repeat_interleave(groups, self.lengths, output_size=self.num_sources)

    @cached_property
    def _sparse(self) -> Sparse:
        members = torch.arange(self.num_sources, device=self.boundaries.device)
        narrow = index_dtype(self.num_targets, self.num_sources)
        rows = Rows(self.boundaries, members.to(narrow), None)
        sparse = Sparse(num_targets=self.num_targets, num_sources=self.num_sources, rows=rows)
        one_each = torch.arange(self.num_sources + 1, device=self.boundaries.device)
        remember(sparse, "columns", Rows(one_each, self.member_group.to(narrow), None))
        return sparse

    def to_sparse(self) -> Sparse:
        return self._sparse

    def to(self, device: torch.device | str) -> Self:
        return type(self)(self.boundaries.to(device))

    def pad(self, x: Tensor) -> tuple[Tensor, Dense]:
        """Members (members, …) as a padded batch (groups, longest, …), and everyone-to-everyone within each."""
        self._check_members(x, "Partition.pad")
        padded = x.new_zeros(self.num_targets, self._longest, *x.shape[1:])
        padded = padded.index_put((self.member_group, self._offset), x)
        return padded, Dense(self._longest, lengths=self.lengths)

    def unpad(self, padded: Tensor) -> Tensor:
        """The members of a padded batch (groups, longest, …), one after the other."""
        if not isinstance(padded, Tensor):
            raise WeftTypeError(f"Partition.unpad: padded must be a tensor, but got {type(padded).__name__}.")
        if padded.ndim < 2 or padded.shape[0] != self.num_targets or padded.shape[1] < self._longest:
            raise ShapeError(
                f"Partition.unpad: {self.num_targets} groups of up to {self._longest} members need a padded batch of "
                f"({self.num_targets}, {self._longest}, …), but got {tuple(padded.shape)}."
            )
        return padded[self.member_group, self._offset]

    @cached_property
    def _offset(self) -> Tensor:
        return torch.arange(self.num_sources, device=self.boundaries.device) - self.boundaries[self.member_group]

    @cached_property
    def _longest(self) -> int:
        return int(self.lengths.max()) if self.num_targets else 0

    def _check_members(self, x: Tensor, caller: str) -> None:
        if not isinstance(x, Tensor):
            raise WeftTypeError(f"{caller}: x must be a tensor, but got {type(x).__name__}.")
        if x.ndim < 1 or x.shape[0] != self.num_sources:
            raise ShapeError(f"{caller}: {self.num_sources} members, but x has shape {tuple(x.shape)}.")

    def __repr__(self) -> str:
        return f"Partition({self.num_sources} members → {self.num_targets} groups)"
