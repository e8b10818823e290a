"""The definition of `aggregate`, edge by edge, in plain torch; x (sources, …), weight (edges, …) as given."""

import torch
from torch import Tensor

from weft.structure import Sparse
from weft.types import How


def aggregate(x: Tensor, over: Sparse, how: How, weight: Tensor | None = None) -> Tensor:
    """Messages weight · x[source], combined by target; a target without edges gets zeros."""
    source, _ = over.ends()
    messages = x[source]
    for factor in (weight, edge_weight(over)):
        if factor is not None:
            messages = messages * factor.to(x.dtype).reshape(*factor.shape, *[1] * (x.ndim - factor.ndim))
    return reduce(messages, over, how)


def reduce(messages: Tensor, over: Sparse, how: How) -> Tensor:
    """Messages (edges, …) combined by target. Of equal extremes, the first edge in storage order counts."""
    _, target = over.ends()
    zeros = messages.new_zeros(over.num_targets, *messages.shape[1:])
    place = target.reshape(-1, *[1] * (messages.ndim - 1)).expand_as(messages)
    count = over.rows.degree.clamp(min=1).to(messages.dtype).reshape(-1, *[1] * (messages.ndim - 1))
    if how in ("sum", "mean"):
        total = zeros.scatter_add(0, place, messages)
        return total if how == "sum" else total / count
    if how == "std":
        away = messages - reduce(messages.detach(), over, "max")[target]  # equal messages: exactly zero
        away = away - reduce(away, over, "mean")[target]
        variance = reduce(away * away, over, "mean")
        return torch.where(variance != 0, variance, 1.0).sqrt() * (variance != 0)
    extreme = zeros.scatter_reduce(0, place, messages.detach(), f"a{how}", include_self=False)
    stored = torch.arange(over.num_edges, device=target.device) if over.undo_edge is None else over.undo_edge.long()
    number = stored.reshape(-1, *[1] * (messages.ndim - 1)).expand_as(messages)
    reached = (messages == extreme[target]) | messages.isnan()
    first = torch.full_like(zeros, over.num_edges, dtype=torch.int64)
    first = first.scatter_reduce(0, place, torch.where(reached, number, over.num_edges), "amin")
    given = torch.arange(over.num_edges, device=target.device) if over.edge is None else over.edge.long()
    padded = torch.cat([messages, zeros.new_zeros(1, *messages.shape[1:])])
    return padded.gather(0, torch.cat([given, given.new_full((1,), over.num_edges)])[first])


def edge_weight(over: Sparse) -> Tensor | None:
    """The whole weight of every edge, in the order in which the edges were given."""
    weight = over.stored_weight()
    return weight if weight is None or over.undo_edge is None else weight[over.undo_edge]
