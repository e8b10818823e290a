"""How a layer joins the stream of features: blocks around anything that takes (x, over)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.dropout import Dropout
from weft.structure import Structure


class Plain(nn.Module):
    r"""Drop, transform, bend: x' = φ(f(dropout(x), over)).

    x: (…, in_dim)   gives   (…, out_dim) of f

    >>> from weft.nn import GCN
    >>> from weft.structure import Sparse
    >>> Plain(GCN(4, 2))(torch.ones(2, 4), Sparse.from_edges([0], [1], 2)).shape
    torch.Size([2, 2])
    """

    def __init__(self, mix: nn.Module, *, activation: Callable[[Tensor], Tensor] = torch.relu, dropout: float = 0.0):
        super().__init__()
        self.mix, self.activation, self.dropout = mix, activation, Dropout(dropout)

    def forward(self, x: Float[Tensor, "*positions in_dim"], over: Structure) -> Float[Tensor, "*positions out_dim"]:
        return self.activation(self.mix(self.dropout(x), over))


class PreNorm(nn.Module):
    r"""Normalise, transform, add (He et al. 2016; Xiong et al. 2020): x' = x + f(norm(x), over).

    x: (…, dim)   gives   (…, dim)

    >>> from weft.nn import GCN
    >>> from weft.structure import Sparse
    >>> PreNorm(GCN(4, 4), 4)(torch.ones(2, 4), Sparse.from_edges([0], [1], 2)).shape
    torch.Size([2, 4])
    """

    def __init__(self, mix: nn.Module, dim: int, *, dropout: float = 0.0):
        super().__init__()
        self.mix, self.norm, self.dropout = mix, nn.LayerNorm(dim), Dropout(dropout)

    def forward(self, x: Float[Tensor, "*positions dim"], over: Structure) -> Float[Tensor, "*positions dim"]:
        return x + self.dropout(self.mix(self.norm(x), over))


class PostNorm(nn.Module):
    r"""Transform, add, normalise (Vaswani et al. 2017): x' = norm(x + f(x, over)).

    x: (…, dim)   gives   (…, dim)
    """

    def __init__(self, mix: nn.Module, dim: int, *, dropout: float = 0.0):
        super().__init__()
        self.mix, self.norm, self.dropout = mix, nn.LayerNorm(dim), Dropout(dropout)

    def forward(self, x: Float[Tensor, "*positions dim"], over: Structure) -> Float[Tensor, "*positions dim"]:
        return self.norm(x + self.dropout(self.mix(x, over)))


class Everywhere(nn.Module):
    """A map of each position by itself, where a block expects (x, over): the feed-forward half of a transformer."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, x: Float[Tensor, "*positions in_dim"], over: Structure) -> Float[Tensor, "*positions out_dim"]:
        return self.network(x)
