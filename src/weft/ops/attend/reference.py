"""The definition of `attend`, edge by edge, in plain torch; what is per edge stands in the given order."""

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from weft.ops.aggregate.reference import reduce
from weft.ops.attend.score import Activated, Dot, Score
from weft.ops.random import kept
from weft.structure import Sparse


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    over: Sparse,
    score: Score,
    *,
    bias: Tensor | None = None,
    edge_k: Tensor | None = None,
    edge_v: Tensor | None = None,
    dropout: float = 0.0,
    seed: Tensor | None = None,
) -> Tensor:
    """Σ softmax(score) · v over the sources of each target: q, k, v (positions, heads, …) → (targets, heads, dim)."""
    source, target = over.ends()
    keys = k[source] if edge_k is None else k[source] + edge_k
    values = v[source] if edge_v is None else v[source] + edge_v
    energy = match(q[target], keys, score)  # (edges, heads)
    energy = energy if bias is None else energy + bias
    weight = softmax(energy, over)
    if dropout > 0:
        assert seed is not None
        weight = weight * keep(over, weight.shape[1], dropout, seed) / (1 - dropout)
    return reduce(weight[..., None] * values, over, "sum")


def match(q: Tensor, k: Tensor, score: Score) -> Tensor:
    """The score of paired queries and keys."""
    if isinstance(score, Dot):
        return (q * k).sum(-1) * scale_of(score, q)
    activated = leaky_relu(q + k, score.slope)
    return (score.vector * activated).sum(-1) if isinstance(score, Activated) else activated


def softmax(energy: Tensor, over: Sparse) -> Tensor:
    """Positive and one in sum per target; zeros where every energy is -inf."""
    _, target = over.ends()
    highest = reduce(energy.detach(), over, "max")
    weight = torch.exp(energy - torch.where(highest.isinf(), 0.0, highest)[target])
    mass = reduce(weight, over, "sum")
    return weight / torch.where(mass == 0, 1.0, mass)[target]


def keep(over: Sparse, heads: int, dropout: float, seed: Tensor) -> Tensor:
    """Which (edge, head) survive: numbered in storage order, so that every kernel agrees."""
    stored = torch.arange(over.num_edges, device=over.device) if over.undo_edge is None else over.undo_edge.long()
    return kept(seed, stored[:, None] * heads + torch.arange(heads, device=over.device), dropout)


def scale_of(score: Dot, q: Tensor) -> float:
    return q.shape[-1] ** -0.5 if score.scale is None else score.scale
