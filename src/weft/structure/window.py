"""Neighbours on a line."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from weft.structure.base import Regular, as_lengths, as_size, freeze
from weft.types import IndexLike


@dataclass(frozen=True, eq=False, init=False)
class Window(Regular):
    """Neighbours on a line: `left` back, `right` ahead, and the position itself.

    >>> Window(4, left=1).to_sparse().num_edges
    7
    """

    length: int
    left: int
    right: int
    lengths: Tensor | None

    def __init__(self, length: int, left: int, right: int = 0, *, lengths: IndexLike | None = None):
        length = as_size(length, "Window", "length")
        freeze(
            self,
            length=length,
            left=as_size(left, "Window", "left"),
            right=as_size(right, "Window", "right"),
            lengths=as_lengths(lengths, "Window", length),
            num_targets=length,
            num_sources=length,
        )

    def allowed(self, device: torch.device | str) -> Tensor:
        at = torch.arange(self.length, device=device)
        ahead = at[None, :] - at[:, None]
        return (ahead >= -self.left) & (ahead <= self.right)

    def to(self, device: torch.device | str) -> Self:
        lengths = None if self.lengths is None else self.lengths.to(device)
        return type(self)(self.length, self.left, self.right, lengths=lengths)
