"""One step of a recurrence: from what comes in and what was before to what is after.

A step sees `x` (targets, in_dim), the states of its predecessors, each part (sources, dim), and the relation
between the two, so that the same equation serves a chain (one predecessor) and a tree or a graph (several).
The weights lie as torch lays them: one row block per gate.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import linear

from weft.ops.aggregate import aggregate
from weft.ops.edges import gather, reduce
from weft.structure import Sparse
from weft.types import State


class Step(Protocol):
    """What `scan` carries along an order; the first part of a state is what comes out."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each part of the state."""
        ...

    def __call__(self, x: Tensor, before: State, over: Sparse) -> State:
        """The states of the targets from those of their predecessors; without any, from zeros."""
        ...


@dataclass(frozen=True, eq=False)
class Gates:
    """The weights of a gated step: (gates · dim, in_dim), (gates · dim, dim), and a bias for each."""

    weight_x: Tensor
    weight_h: Tensor
    bias_x: Tensor | None = None
    bias_h: Tensor | None = None

    def flat(self) -> list[Tensor]:
        """In the order that torch's fused kernels take."""
        return [part for part in (self.weight_x, self.weight_h, self.bias_x, self.bias_h) if part is not None]


@dataclass(frozen=True, eq=False)
class RNNStep:
    """h' = tanh(W x + U h), h summed over the predecessors (Elman 1990)."""

    gates: Gates

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.gates.weight_h.shape[1],)

    def __call__(self, x: Tensor, before: State, over: Sparse) -> State:
        h = aggregate(before[0], over)
        return (
            torch.tanh(linear(x, self.gates.weight_x, self.gates.bias_x) + linear(h, self.gates.weight_h, self.gates.bias_h)),
        )


@dataclass(frozen=True, eq=False)
class LSTMStep:
    """Long short-term memory (Hochreiter & Schmidhuber 1997); of several predecessors, the child-sum of Tai et al. 2015.

    i, g, o from W x + U Σ h,   one f per predecessor from W x + U h,   c' = i g + Σ f c,   h' = o tanh c'
    """

    gates: Gates

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.gates.weight_h.shape[1],) * 2

    def __call__(self, x: Tensor, before: State, over: Sparse) -> State:
        h, c = before
        w = self.gates
        along = linear(x, w.weight_x, w.bias_x)
        total = along + linear(aggregate(h, over), w.weight_h, w.bias_h)
        i, _, g, o = total.chunk(4, dim=1)
        f_x = along.chunk(4, dim=1)[1]
        f_h = linear(gather(h, over, "source"), w.weight_h.chunk(4)[1], None if w.bias_h is None else w.bias_h.chunk(4)[1])
        f = torch.sigmoid(gather(f_x, over, "target") + f_h)
        kept = reduce(f * gather(c, over, "source"), over)
        c = torch.sigmoid(i) * torch.tanh(g) + kept
        return torch.sigmoid(o) * torch.tanh(c), c


@dataclass(frozen=True, eq=False)
class GRUStep:
    """Gated recurrent unit (Cho et al. 2014), h summed over the predecessors.

    r, z from W x + U h,   n = tanh(W x + r U h),   h' = (1 - z) n + z h
    """

    gates: Gates

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.gates.weight_h.shape[1],)

    def __call__(self, x: Tensor, before: State, over: Sparse) -> State:
        h = aggregate(before[0], over)
        r_x, z_x, n_x = linear(x, self.gates.weight_x, self.gates.bias_x).chunk(3, dim=1)
        r_h, z_h, n_h = linear(h, self.gates.weight_h, self.gates.bias_h).chunk(3, dim=1)
        z = torch.sigmoid(z_x + z_h)
        n = torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h)
        return ((1 - z) * n + z * h,)


@dataclass(frozen=True, eq=False)
class LinearStep:
    """h' = decay · h + x, feature by feature; `decay` stands beside x, one factor for each of its numbers.

    The only step without a nonlinearity between positions, and so the one that runs in parallel.
    """

    decay: Tensor

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.decay.shape[-1],)

    def __call__(self, x: Tensor, before: State, over: Sparse) -> State:
        own, decay = x.chunk(2, dim=1)
        return (decay * aggregate(before[0], over) + own,)
