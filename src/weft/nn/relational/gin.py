"""Graph isomorphism network."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.ops import aggregate
from weft.structure import Sparse


class GIN(nn.Module):
    r"""Graph isomorphism network (Xu et al. 2019, https://arxiv.org/abs/1810.00826, eq. 4.1).

        x'_t = MLP((1 + ε) x_t + Σ_{s → t} x_s),      ε learnt

    x: (n, in_dim),  over: n → n   gives   what the given network makes of (n, in_dim)

    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> GIN(nn.Linear(3, 4))(torch.ones(2, 3), over).shape
    torch.Size([2, 4])
    """

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network
        self.epsilon = nn.Parameter(torch.zeros(()))

    def forward(self, x: Float[Tensor, "n in_dim"], over: Sparse) -> Float[Tensor, "n out_dim"]:
        return self.network((1 + self.epsilon) * x + aggregate(x, over))
