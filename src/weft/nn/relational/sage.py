"""GraphSAGE."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.linear import Linear
from weft.ops import aggregate
from weft.ops.linear import linear_sum
from weft.structure import Sparse
from weft.types import How


class SAGE(nn.Module):
    r"""GraphSAGE (Hamilton, Ying & Leskovec 2017, https://arxiv.org/abs/1706.02216, algorithm 1).

        x'_t = W · mean_{s → t} x_s + B x_t + b

    The mean and the node's own features keep a matrix each, which is one matrix on both side by side. With
    fewer targets than sources the targets are the first sources, as in a sampled neighbourhood.

    x: (sources, in_dim),  over: sources → targets   gives   (targets, out_dim)

    >>> import torch
    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> SAGE(3, 4)(torch.ones(2, 3), over).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_dim: int, out_dim: int, *, how: How = "mean"):
        super().__init__()
        self.how: How = how
        self.neighbours = Linear(in_dim, out_dim, bias=False)
        self.own = Linear(in_dim, out_dim)

    def forward(self, x: Float[Tensor, "sources in_dim"], over: Sparse) -> Float[Tensor, "targets out_dim"]:
        around = aggregate(x, over, how=self.how)
        own = over.targets_of(x)
        return linear_sum((around, self.neighbours.weight), (own, self.own.weight), bias=self.own.bias)
