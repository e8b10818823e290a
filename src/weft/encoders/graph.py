"""Models of graphs. Each maps (nodes, in_dim) to (nodes, out_dim); `depth` counts the layers that change the width or mix.

With `residual`, every layer is dim wide and added to what it was given after normalisation (Platonov et al. 2023), which
keeps deep models trainable; without, layers follow each other as their papers have it, the last one answering.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import nn
from torch.nn.functional import elu

from weft.encoders.encoder import Encoder
from weft.errors import WeftValueError
from weft.nn import GAT, GCN, GIN, MLP, SAGE, Everywhere, GATv2, MeanHeads, Plain, PreNorm, TransformerConv
from weft.nn.linear import Linear

Make = Callable[[int, int], nn.Module]
"""A layer of two widths."""


def mlp(in_dim: int, out_dim: int, *, dim: int = 64, depth: int = 2, dropout: float = 0.5, residual: bool = False) -> Encoder:
    """A multi-layer perceptron of each node by itself: what features alone can do."""

    def make(a: int, b: int) -> nn.Module:
        return Everywhere(Linear(a, b))

    return _stack(make, make, in_dim, out_dim, dim, depth, dropout, residual)


def gcn(in_dim: int, out_dim: int, *, dim: int = 64, depth: int = 2, dropout: float = 0.5, residual: bool = False) -> Encoder:
    """Graph convolutions (Kipf & Welling 2017)."""
    return _stack(GCN, GCN, in_dim, out_dim, dim, depth, dropout, residual)


def sage(in_dim: int, out_dim: int, *, dim: int = 64, depth: int = 2, dropout: float = 0.5, residual: bool = False) -> Encoder:
    """GraphSAGE with the mean of neighbours (Hamilton et al. 2017)."""
    return _stack(SAGE, SAGE, in_dim, out_dim, dim, depth, dropout, residual)


def gin(in_dim: int, out_dim: int, *, dim: int = 64, depth: int = 2, dropout: float = 0.5, residual: bool = False) -> Encoder:
    """Graph isomorphism network (Xu et al. 2019), with networks of two layers."""

    def make(a: int, b: int) -> nn.Module:
        return GIN(MLP(a, b, dim=dim))

    return _stack(make, make, in_dim, out_dim, dim, depth, dropout, residual)


def gat(
    in_dim: int,
    out_dim: int,
    *,
    dim: int = 64,
    depth: int = 2,
    heads: int = 8,
    last_heads: int = 1,
    dropout: float = 0.6,
    residual: bool = False,
) -> Encoder:
    """Graph attention (Veličković et al. 2018); the last layer takes the mean of its heads."""
    return _attention(GAT, in_dim, out_dim, dim, depth, heads, last_heads, dropout, residual)


def gatv2(
    in_dim: int,
    out_dim: int,
    *,
    dim: int = 64,
    depth: int = 2,
    heads: int = 8,
    last_heads: int = 1,
    dropout: float = 0.6,
    residual: bool = False,
) -> Encoder:
    """Dynamic graph attention (Brody et al. 2022); the last layer takes the mean of its heads."""
    return _attention(GATv2, in_dim, out_dim, dim, depth, heads, last_heads, dropout, residual)


def graph_transformer(
    in_dim: int,
    out_dim: int,
    *,
    dim: int = 64,
    depth: int = 2,
    heads: int = 4,
    dropout: float = 0.3,
    residual: bool = False,
) -> Encoder:
    """Graph transformer convolutions (Shi et al. 2021)."""

    def make(a: int, b: int) -> nn.Module:
        return TransformerConv(a, b, heads=heads, dropout=dropout)

    def last(a: int, b: int) -> nn.Module:
        return TransformerConv(a, b, heads=1, dropout=dropout)

    return _stack(make, last, in_dim, out_dim, dim, depth, dropout, residual)


def _attention(
    layer: type[GAT] | type[GATv2],
    in_dim: int,
    out_dim: int,
    dim: int,
    depth: int,
    heads: int,
    last_heads: int,
    dropout: float,
    residual: bool,
) -> Encoder:
    def make(a: int, b: int) -> nn.Module:
        return layer(a, b, heads=heads, dropout=dropout)

    def last(a: int, b: int) -> nn.Module:
        return MeanHeads(layer(a, b * last_heads, heads=last_heads, dropout=dropout), last_heads)

    return _stack(make, last, in_dim, out_dim, dim, depth, dropout, residual, activation=elu)


def _stack(
    make: Make,
    last: Make,
    in_dim: int,
    out_dim: int,
    dim: int,
    depth: int,
    dropout: float,
    residual: bool,
    activation: Callable[[torch.Tensor], torch.Tensor] = torch.relu,
) -> Encoder:
    if depth < 1:
        raise WeftValueError(f"encoder: depth must be at least 1, but got {depth}.")
    if residual:
        first = Plain(Everywhere(Linear(in_dim, dim)), activation=activation, dropout=dropout)
        layers = [PreNorm(Plain(make(dim, dim), activation=activation), dim, dropout=dropout) for _ in range(depth)]
        return Encoder([first, *layers], Everywhere(nn.Sequential(nn.LayerNorm(dim), Linear(dim, out_dim))))
    widths = [in_dim, *[dim] * (depth - 1)]
    layers = [Plain(make(a, b), activation=activation, dropout=dropout) for a, b in pairwise(widths)]
    return Encoder(layers, Plain(last(widths[-1], out_dim), activation=nn.Identity(), dropout=dropout))
