"""The weights of a gated recurrence."""

from math import sqrt

import torch
from torch import Tensor, nn

from weft.ops import Gates


class GateWeights(nn.Module):
    """Input and hidden matrices of `gates` gates, with a bias each, laid as torch lays them."""

    def __init__(self, in_dim: int, out_dim: int, gates: int):
        super().__init__()
        self.weight_x = nn.Parameter(torch.empty(gates * out_dim, in_dim))
        self.weight_h = nn.Parameter(torch.empty(gates * out_dim, out_dim))
        self.bias_x = nn.Parameter(torch.empty(gates * out_dim))
        self.bias_h = nn.Parameter(torch.empty(gates * out_dim))
        for weight in self.parameters():
            nn.init.uniform_(weight, -1 / sqrt(out_dim), 1 / sqrt(out_dim))

    def forward(self) -> Gates:
        return Gates(self.weight_x, self.weight_h, self.bias_x, self.bias_h)

    def zeros(self, batch: int) -> Tensor:
        """Hidden values before anything was seen."""
        return self.weight_h.new_zeros(batch, self.weight_h.shape[1])
