"""GraphSAGE."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.linear import Linear, maps_of
from weft.ops import aggregate
from weft.ops.linear import added
from weft.structure import Sparse


class SAGE(nn.Module):
    r"""GraphSAGE (Hamilton, Ying & Leskovec 2017, https://arxiv.org/abs/1706.02216, algorithm 1).

        x'_t = mean_{s → t} W x_s + B x_t + b

    The mean and the node's own features keep a matrix each, which is one matrix on both side by side; the mean of maps
    is the map of the mean. With fewer targets than sources the targets are the first sources, as in a sampled
    neighbourhood.

    x: (sources, in_dim),  over: sources → targets   gives   (targets, out_dim)

    >>> import torch
    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> SAGE(3, 4)(torch.ones(2, 3), over).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_dim: int, out_dim: int):
        super().__init__()
        self.neighbours = Linear(in_dim, out_dim, bias=False)
        self.own = Linear(in_dim, out_dim)

    def forward(self, x: Float[Tensor, "sources in_dim"], over: Sparse) -> Float[Tensor, "targets out_dim"]:
        own = over.targets_of(x)
        maps = maps_of(x, self.neighbours, self.own) if own is x else [self.neighbours(x), self.own(own)]
        return added(aggregate(maps[0], over, how="mean"), maps[1])
