"""Each position follows the one before it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from weft.structure.base import Ordered, Regular, as_lengths, as_size, freeze
from weft.types import Index, IndexLike


@dataclass(frozen=True, eq=False, init=False)
class Chain(Regular, Ordered):
    """Each position follows the one before it; `reverse` runs from the end to the start.

    >>> Chain(4).to_sparse().num_edges
    3
    >>> [group.tolist() for group in Chain(3, reverse=True).order()]
    [[2], [1], [0]]
    """

    length: int
    lengths: Tensor | None
    reverse: bool

    def __init__(self, length: int, *, lengths: IndexLike | None = None, reverse: bool = False):
        length = as_size(length, "Chain", "length")
        freeze(
            self,
            length=length,
            lengths=as_lengths(lengths, "Chain", length),
            reverse=bool(reverse),
            num_targets=length,
            num_sources=length,
        )

    def allowed(self, device: torch.device | str) -> Tensor:
        at = torch.arange(self.length, device=device)
        before = at + 1 if self.reverse else at - 1
        return at[None, :] == before[:, None]

    def order(self) -> Iterator[Index]:
        """One position after the other; of a batch with `lengths`, the same positions as without."""
        at = torch.arange(self.length)
        return iter((at.flip(0) if self.reverse else at)[:, None])

    def to(self, device: torch.device | str) -> Self:
        lengths = None if self.lengths is None else self.lengths.to(device)
        return type(self)(self.length, lengths=lengths, reverse=self.reverse)
