"""A linear map of features that are mostly zero."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.ops import aggregate, dropout
from weft.structure import Sparse


class Bag(nn.Module):
    r"""X W for a matrix X that is mostly zero: a bag of words as a relation of words to documents.

        y_t = Σ_{s → t} x_ts w_s

    The edges of `x` are the entries of X, its weights their values (1 where it has none). `dropout` drops
    entries, which is dropout of X: what is zero stays zero either way.

    x: in_dim → n   gives   (n, out_dim)

    >>> words = Sparse.from_edges([0, 2, 1], [0, 0, 1], num_targets=2, num_sources=3)
    >>> Bag(3, 4)(words).shape
    torch.Size([2, 4])
    """

    def __init__(self, in_dim: int, out_dim: int, *, dropout: float = 0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_dim, out_dim))
        self.dropout = dropout
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Sparse) -> Float[Tensor, "n out_dim"]:
        if not self.training or self.dropout == 0:
            return aggregate(self.weight, x)
        kept = dropout(self.weight.new_ones(x.num_edges), self.dropout)
        return aggregate(self.weight, x, weight=kept)
