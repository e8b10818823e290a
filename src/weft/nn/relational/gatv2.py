"""Dynamic graph attention."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.heads import head_dim, join_heads, split_heads
from weft.nn.linear import Linear, maps_of
from weft.ops import Activated, attend
from weft.ops.linear import shifted
from weft.structure import Sparse


class GATv2(nn.Module):
    r"""Dynamic graph attention (Brody, Alon & Yahav 2022, https://arxiv.org/abs/2105.14491, eq. 7).

        α_ts = softmax_s(a · leaky_relu(W_t x_t + W_s x_s)),      x'_t = ‖_heads Σ_s α_ts W_s x_s + b

    x: (n, in_dim),  over: n → n   gives   (n, out_dim), the heads side by side; every node also attends to itself

    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> GATv2(3, 8, heads=2)(torch.ones(2, 3), over).shape
    torch.Size([2, 8])
    """

    def __init__(self, in_dim: int, out_dim: int, *, heads: int = 8, dropout: float = 0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.target, self.source = Linear(in_dim, out_dim), Linear(in_dim, out_dim)
        self.a = nn.Parameter(torch.empty(heads, head_dim(out_dim, heads, "GATv2")))
        self.bias = nn.Parameter(torch.zeros(out_dim))
        for weight in (self.target.weight, self.source.weight, self.a):
            nn.init.xavier_uniform_(weight)

    def forward(self, x: Float[Tensor, "n in_dim"], over: Sparse) -> Float[Tensor, "n out_dim"]:
        q, k = (split_heads(part, self.heads) for part in maps_of(x, self.target, self.source))
        dropout = self.dropout if self.training else 0.0
        out = attend(q, k, k, over.with_self_loops(), score=Activated(self.a, slope=0.2), dropout=dropout)
        return shifted(join_heads(out), self.bias)
