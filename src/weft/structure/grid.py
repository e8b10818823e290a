"""Neighbours on a lattice."""

from dataclasses import dataclass
from math import prod
from typing import Self

import torch
from torch import Tensor

from weft.errors import WeftTypeError
from weft.structure.base import Regular, as_size, freeze


@dataclass(frozen=True, eq=False, init=False)
class Grid(Regular):
    """Neighbours on a lattice: every position at most `radius` away along each axis, itself included.

    Positions are numbered row by row, as `image.flatten()` does.

    >>> Grid((3, 3)).to_sparse().num_edges
    49
    """

    shape: tuple[int, ...]
    radius: int
    lengths: Tensor | None

    def __init__(self, shape: tuple[int, ...], radius: int = 1):
        if not isinstance(shape, tuple) or not shape:
            raise WeftTypeError(f"Grid: shape must be a tuple of sizes such as (28, 28), but got {shape!r}.")
        shape = tuple(as_size(size, "Grid", f"shape[{axis}]") for axis, size in enumerate(shape))
        radius = as_size(radius, "Grid", "radius")
        freeze(self, shape=shape, radius=radius, lengths=None, num_targets=prod(shape), num_sources=prod(shape))

    def allowed(self, device: torch.device | str) -> Tensor:
        axes = [torch.arange(size, device=device) for size in self.shape]
        at = torch.stack([axis.flatten() for axis in torch.meshgrid(*axes, indexing="ij")], dim=1)
        return ((at[:, None, :] - at[None, :, :]).abs() <= self.radius).all(dim=2)

    def to(self, device: torch.device | str) -> Self:
        return self
