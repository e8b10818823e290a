"""Each position to itself and the past."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from weft.errors import WeftValueError
from weft.structure.base import Regular, as_lengths, as_size, freeze
from weft.types import IndexLike


@dataclass(frozen=True, eq=False, init=False)
class Causal(Regular):
    """Each position to itself and the past; the targets are the last positions.

    `Causal(1, t)` is one decoding step over a past of t positions, itself included.

    >>> Causal(3).to_sparse().num_edges
    6
    >>> Causal(1, 3).to_sparse().num_edges
    3
    """

    num_targets: int
    num_sources: int
    lengths: Tensor | None

    def __init__(self, num_targets: int, num_sources: int | None = None, *, lengths: IndexLike | None = None):
        targets = as_size(num_targets, "Causal", "num_targets")
        sources = targets if num_sources is None else as_size(num_sources, "Causal", "num_sources")
        if targets > sources:
            raise WeftValueError(
                f"Causal: the {targets} targets are the last of the sources, but there are only {sources} sources."
            )
        freeze(self, num_targets=targets, num_sources=sources, lengths=as_lengths(lengths, "Causal", sources))

    def allowed(self, device: torch.device | str) -> Tensor:
        full = torch.ones(self.num_targets, self.num_sources, dtype=torch.bool, device=device)
        return full.tril(self.num_sources - self.num_targets)

    def to(self, device: torch.device | str) -> Self:
        lengths = None if self.lengths is None else self.lengths.to(device)
        return type(self)(self.num_targets, self.num_sources, lengths=lengths)
