"""The definition of `dropout`, in plain torch."""

import torch
from torch import Tensor

from weft.ops.random import kept


def dropout(x: Tensor, share: float, seed: Tensor) -> Tensor:
    """x / (1 - share) where the number of an element, counted along the rows, survives; zero elsewhere."""
    number = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    return torch.where(kept(seed, number, share), x / (1 - share), 0)
