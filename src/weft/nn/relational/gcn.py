"""Graph convolution."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.linear import Linear
from weft.ops import aggregate
from weft.ops.linear import shifted
from weft.structure import Sparse


class GCN(nn.Module):
    r"""Graph convolution (Kipf & Welling 2017, https://arxiv.org/abs/1609.02907, eq. 2).

        X' = D̂^(-1/2) Â D̂^(-1/2) X W + b,      Â = A + I

    x: (n, in_dim),  over: n → n   gives   (n, out_dim)

    `project` stands for W; for features that are mostly zero hand in a `Bag`, and x is its relation.

    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> GCN(3, 4)(torch.ones(2, 3), over).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_dim: int, out_dim: int, *, project: nn.Module | None = None):
        super().__init__()
        self.project = Linear(in_dim, out_dim, bias=False) if project is None else project
        self.bias = nn.Parameter(torch.zeros(out_dim))
        for weight in self.project.parameters():
            nn.init.xavier_uniform_(weight)

    def forward(self, x: Float[Tensor, "n in_dim"] | Sparse, over: Sparse) -> Float[Tensor, "n out_dim"]:
        over = over.with_self_loops().normalized("symmetric")  # cached on the structure
        return shifted(aggregate(self.project(x), over), self.bias)
