"""The mean of heads."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.heads import split_heads
from weft.structure import Structure


class MeanHeads(nn.Module):
    """The heads of an attention layer averaged instead of side by side (Veličković et al. 2018, eq. 6).

    x: (n, in_dim)   gives   (n, dim), the given layer giving (n, heads · dim)

    >>> import torch
    >>> from weft.nn import GAT
    >>> from weft.structure import Sparse
    >>> MeanHeads(GAT(3, 8, heads=4), 4)(torch.ones(2, 3), Sparse.from_edges([0], [1], 2)).shape
    torch.Size([2, 2])
    """

    def __init__(self, mix: nn.Module, heads: int):
        super().__init__()
        self.mix, self.heads = mix, heads

    def forward(self, x: Float[Tensor, "n in_dim"], over: Structure) -> Float[Tensor, "n dim"]:
        return split_heads(self.mix(x, over), self.heads).mean(-2)
