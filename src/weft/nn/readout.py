"""From members to one vector per group."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.ops import aggregate, attend
from weft.structure import Partition
from weft.types import How


class Readout(nn.Module):
    """The sum, mean, or extreme of the members of each group.

    x: (members, dim),  over: members → groups   gives   (groups, dim)

    >>> Readout("mean")(torch.tensor([[1.0], [3.0], [5.0]]), Partition([0, 2, 3])).tolist()
    [[2.0], [5.0]]
    """

    def __init__(self, how: How = "mean"):
        super().__init__()
        self.how: How = how

    def forward(self, x: Float[Tensor, "members dim"], over: Partition) -> Float[Tensor, "groups dim"]:
        return aggregate(x, over, how=self.how)


class AttentionReadout(nn.Module):
    r"""A weighted mean whose weights are learnt (Li et al. 2016, https://arxiv.org/abs/1511.05493, eq. 7).

        y_g = Σ_i softmax_i(q · W_k x_i / √dim) W_v x_i,      q learnt, one query for every group

    x: (members, dim),  over: members → groups   gives   (groups, dim)

    >>> AttentionReadout(4)(torch.ones(3, 4), Partition([0, 2, 3])).shape
    torch.Size([2, 4])
    """

    def __init__(self, dim: int):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(dim))
        self.k, self.v = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim)
        nn.init.normal_(self.query, std=dim**-0.5)

    def forward(self, x: Float[Tensor, "members dim"], over: Partition) -> Float[Tensor, "groups dim"]:
        q = self.query.expand(over.num_targets, 1, -1)
        return attend(q, self.k(x)[:, None], self.v(x)[:, None], over).flatten(1)
