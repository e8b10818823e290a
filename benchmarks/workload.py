"""What a measurement is: contenders on the same inputs, the figures to reach, and the bytes to move."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.limits import Model
from benchmarks.peers import Run

Build = Callable[[str, str, torch.dtype], dict[str, Run]]
"""`build(shape, device, dtype)`: the contenders by name, weft first."""


@dataclass(frozen=True)
class Figure:
    """What to reach against one peer: times faster (must, aim), and the share of its memory (must, aim)."""

    peer: str
    must: float
    aim: float
    memory: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bound:
    """What to stay under where no peer can run: milliseconds (must, aim) per element type, and GiB in all."""

    milliseconds: dict[str, tuple[float, float]]
    gib: tuple[float, float]


@dataclass(frozen=True)
class Workload:
    """A named measurement, taken on the devices that have figures.

    `small` is the shape on which it is held against the reference, and `gate` what is built for that where it is not
    the same; `bound` holds on a GPU; `models` are the passes over the edges whose bytes limit it.
    """

    name: str
    shape: str
    build: Build
    cpu: tuple[Figure, ...] = ()
    cuda: tuple[Figure, ...] = ()
    small: str = "cora"
    gate: Build | None = None
    bound: Bound | None = None
    models: tuple[Model, ...] = ()

    def figures(self, device: str) -> tuple[Figure, ...]:
        return self.cpu if device == "cpu" else self.cuda
