"""Seeded graphs of the shapes that results are quoted for. Sources and targets, in no particular order."""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor


@dataclass(frozen=True)
class Shape:
    """Nodes, directed edges, and how unequal the degrees are."""

    nodes: int
    edges: int
    exponent: float
    communities: int


SHAPES = {
    "cora": Shape(2_708, 10_556, 0.35, 20),
    "pubmed": Shape(19_717, 88_648, 0.35, 60),
    "quarter-arxiv": Shape(42_336, 578_900, 0.65, 100),
    "arxiv": Shape(169_343, 2_315_598, 0.65, 400),
    "products-tenth": Shape(244_903, 12_371_828, 0.55, 600),
    "products": Shape(2_449_029, 123_718_280, 0.55, 6_000),
}


@cache
def edges(name: str) -> tuple[Tensor, Tensor]:
    """A symmetric power-law graph, half of whose edges stay within a community; node numbers are shuffled.

    The chance of a node is its rank to the power of -exponent.
    """
    shape = SHAPES[name]
    generator = torch.Generator().manual_seed(0)
    half = shape.edges // 2
    chance = torch.arange(1, shape.nodes + 1, dtype=torch.float64) ** -shape.exponent
    ladder = chance.cumsum(0) / chance.sum()

    def draw(count: int) -> Tensor:
        return torch.searchsorted(ladder, torch.rand(count, generator=generator, dtype=torch.float64)).clamp(
            max=shape.nodes - 1
        )

    a, b = draw(half), draw(half)
    near = torch.rand(half, generator=generator) < 0.5
    size = shape.nodes // shape.communities  # node i lives in community i mod communities
    neighbour = a % shape.communities + torch.randint(size, (half,), generator=generator) * shape.communities
    b = torch.where(near, neighbour, b)
    b = torch.where(a == b, (b + 1) % shape.nodes, b)  # no loops: what to do about several at one node differs by library
    number = torch.randperm(shape.nodes, generator=generator)
    a, b = number[a], number[b]
    return torch.cat([a, b]), torch.cat([b, a])
