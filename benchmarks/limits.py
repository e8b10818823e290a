"""The bytes that a kernel must move, and how fast this machine moves bytes: what no kernel can beat.

Two models for each workload. `no_reuse`: every edge fetches its source's row from memory. `compulsory`: every row is
fetched once, as if caches had no end. Only kernels over edges are counted, not the matrix products of a layer.
Per edge 4 bytes of index; rows of features are written once, which on a CPU reads them too.
"""

from dataclasses import dataclass

import torch

from benchmarks.graphs import SHAPES
from benchmarks.measure import clock
from weft.ops import aggregate
from weft.structure import Sparse


@dataclass(frozen=True)
class Bytes:
    """What one run moves at least: with no reuse of fetched rows, and with all of it."""

    no_reuse: float
    compulsory: float

    def __add__(self, other: "Bytes") -> "Bytes":
        return Bytes(self.no_reuse + other.no_reuse, self.compulsory + other.compulsory)


@dataclass(frozen=True)
class Model:
    """One pass over the edges: numbers fetched and told per edge, numbers read and written per node.

    `fetched` and `read`, `written` count features in the element type of the call; `told` counts bytes that belong
    to the edge alone, and `looked_up` bytes per edge that belong to the node at its other end.
    """

    fetched: int
    read: int
    written: int
    told: int = 4
    looked_up: int = 0

    def bytes(self, shape: str, size: int, device: str) -> Bytes:
        nodes, edges = SHAPES[shape].nodes, SHAPES[shape].edges
        writes = 2 if device == "cpu" else 1
        rows = nodes * (8 + size * (self.read + self.written * writes))
        far = self.fetched * size + self.looked_up
        return Bytes(edges * (self.told + far) + rows, edges * self.told + nodes * far + rows)


def total(models: tuple[Model, ...], shape: str, size: int, device: str) -> Bytes:
    """All passes of a workload."""
    result = Bytes(0, 0)
    for model in models:
        result += model.bytes(shape, size, device)
    return result


def sums(width: int, *, passes: int) -> tuple[Model, ...]:
    return (Model(fetched=width, read=0, written=width),) * passes


def extremes(width: int) -> tuple[Model, ...]:
    """Forward writes the value and the edge it came along (4 bytes); backward fetches both, and where the edge is stored."""
    return (
        Model(fetched=width, read=0, written=2 * width),
        Model(fetched=width, read=0, written=width, told=8, looked_up=4 * width),
    )


def attention(heads: int, dim: int, *, score: str) -> tuple[Model, ...]:
    """Forward, back by targets, back by sources, for `score` dot, additive or activated.

    Keys are a number per head where the score is additive, and are the values themselves where it is activated.
    """
    width = heads * dim
    query = heads if score == "additive" else width
    own = {"dot": 2 * width, "additive": width + heads, "activated": width}[score]  # keys and values of one source
    learnt = width + query  # gradients of a source: one row each for keys and values
    return (
        Model(fetched=own, read=query, written=width + heads),
        Model(fetched=own, read=query + 2 * width, written=query + 2 * heads),
        Model(fetched=query + width, read=own, written=learnt, looked_up=8 * heads),
    )


def copy_bandwidth(device: str) -> float:
    """Bytes per second, read and written, of a copy far larger than any cache."""
    x = torch.ones(1 << (30 if device == "cuda" else 27), device=device)
    y = torch.empty_like(x)
    return 2 * 4 * x.numel() / (min(clock(lambda: y.copy_(x), device) for _ in range(5)) / 1e3)


def row_gather_bandwidth(device: str, width: int = 128, rows: int = 1 << 22, count: int = 1 << 23) -> float:
    """Bytes per second at which a sum reads random rows of 2 GB of float32: the honest limit of a CPU."""
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(rows, (count,), generator=generator)
    over = Sparse.from_edges(source, torch.arange(count) // 1024, count // 1024, rows).to(device)
    x = torch.randn(rows, width, device=device)
    return count * width * 4 / (min(clock(lambda: aggregate(x, over), device) for _ in range(5)) / 1e3)
