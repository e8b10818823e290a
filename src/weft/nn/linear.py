"""A linear map."""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.ops.linear import linears


class Linear(nn.Module):
    r"""y = x Wᵀ + b, with the weights, the names and the start of `torch.nn.Linear`, and faster where rows are many.

    x: (…, in_dim)   gives   (…, out_dim)

    >>> Linear(3, 4)(torch.ones(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_dim: int, out_dim: int, *, bias: bool = True):
        super().__init__()
        bound = 1 / sqrt(in_dim) if in_dim else 0.0
        self.weight = nn.Parameter(torch.empty(out_dim, in_dim).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_dim).uniform_(-bound, bound)) if bias else None

    def forward(self, x: Float[Tensor, "*positions in_dim"]) -> Float[Tensor, "*positions out_dim"]:
        return maps_of(x, self)[0]


def maps_of(x: Tensor, *maps: Linear) -> list[Tensor]:
    """Several maps of one x, which together cost less than one after the other."""
    return linears(x, *((each.weight, each.bias) for each in maps))
