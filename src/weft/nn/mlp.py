"""A multi-layer perceptron."""

from collections.abc import Callable
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.errors import WeftValueError
from weft.nn.dropout import Dropout
from weft.nn.linear import Linear


class MLP(nn.Module):
    r"""Linear maps with a nonlinearity between them (Rumelhart, Hinton & Williams 1986).

        x' = W_depth φ(… φ(W_1 x + b_1) …) + b_depth

    x: (…, in_dim)   gives   (…, out_dim); `dim` is the width between, `depth` the number of linear maps

    >>> MLP(3, 2, dim=16)(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        dim: int,
        depth: int = 2,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        dropout: float = 0.0,
    ):
        super().__init__()
        if depth < 1:
            raise WeftValueError(f"MLP: depth must be at least 1, but got {depth}.")
        widths = [in_dim, *[dim] * (depth - 1), out_dim]
        self.layers = nn.ModuleList(Linear(before, after) for before, after in pairwise(widths))
        self.activation, self.dropout = activation, Dropout(dropout)

    def forward(self, x: Float[Tensor, "*positions in_dim"]) -> Float[Tensor, "*positions out_dim"]:
        *hidden, last = self.layers
        for layer in hidden:
            x = self.dropout(self.activation(layer(x)))
        return last(x)
