"""Everyone to everyone."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from weft.structure.base import Regular, as_lengths, as_size, freeze
from weft.types import IndexLike


@dataclass(frozen=True, eq=False, init=False)
class Dense(Regular):
    """Everyone to everyone.

    >>> Dense(3).to_sparse().num_edges
    9
    >>> Dense(1, 3).to_sparse().num_edges
    3
    """

    num_targets: int
    num_sources: int
    lengths: Tensor | None

    def __init__(self, num_targets: int, num_sources: int | None = None, *, lengths: IndexLike | None = None):
        targets = as_size(num_targets, "Dense", "num_targets")
        sources = targets if num_sources is None else as_size(num_sources, "Dense", "num_sources")
        freeze(self, num_targets=targets, num_sources=sources, lengths=as_lengths(lengths, "Dense", sources))

    def allowed(self, device: torch.device | str) -> Tensor:
        return torch.ones(self.num_targets, self.num_sources, dtype=torch.bool, device=device)

    def to(self, device: torch.device | str) -> Self:
        lengths = None if self.lengths is None else self.lengths.to(device)
        return type(self)(self.num_targets, self.num_sources, lengths=lengths)
