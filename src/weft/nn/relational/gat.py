"""Graph attention."""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.heads import head_dim, join_heads, split_heads
from weft.nn.linear import Linear
from weft.ops import Additive, attend
from weft.ops.linear import linears, shifted
from weft.structure import Sparse


class GAT(nn.Module):
    r"""Graph attention (Veličković et al. 2018, https://arxiv.org/abs/1710.10903, eq. 3 and 5).

        α_ts = softmax_s(leaky_relu(a_t · W x_t + a_s · W x_s)),      x'_t = ‖_heads Σ_s α_ts W x_s + b

    x: (n, in_dim),  over: n → n   gives   (n, out_dim), the heads side by side; every node also attends to itself

    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> GAT(3, 8, heads=2)(torch.ones(2, 3), over).shape
    torch.Size([2, 8])
    """

    def __init__(self, in_dim: int, out_dim: int, *, heads: int = 8, dropout: float = 0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.project = Linear(in_dim, out_dim, bias=False)
        d = head_dim(out_dim, heads, "GAT")
        self.a_target, self.a_source = nn.Parameter(torch.empty(heads, d)), nn.Parameter(torch.empty(heads, d))
        self.bias = nn.Parameter(torch.zeros(out_dim))
        for weight in (self.project.weight, self.a_target, self.a_source):
            nn.init.xavier_uniform_(weight)

    def forward(self, x: Float[Tensor, "n in_dim"], over: Sparse) -> Float[Tensor, "n out_dim"]:
        w = rearrange(self.project.weight, "(heads d) in_dim -> heads d in_dim", heads=self.heads)
        of_target, of_source = ((w * a[..., None]).sum(1) for a in (self.a_target, self.a_source))  # (heads, in_dim)
        h, q, k = linears(x, (self.project.weight, None), (of_target, None), (of_source, None))  # (a · W) x for a · (W x)
        v, dropout = split_heads(h, self.heads), self.dropout if self.training else 0.0
        out = attend(q, k, v, over.with_self_loops(), score=Additive(slope=0.2), dropout=dropout)
        return shifted(join_heads(out), self.bias)
