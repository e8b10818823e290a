"""Combine the sources of each target, in no order."""

from math import prod
from typing import get_args

import torch
from torch import Tensor

from weft.errors import ShapeError, StructureError, WeftTypeError, WeftValueError
from weft.ops.aggregate import reference
from weft.ops.aggregate.extreme import extreme_rows
from weft.ops.aggregate.operator import sum_rows
from weft.ops.aggregate.regular import aggregate_regular
from weft.ops.aggregate.spread import spread_rows
from weft.ops.buffers import accumulator
from weft.ops.dispatch import SCALE_TARGET, check_tensor, choose, relation
from weft.structure import Regular, Sparse, Structure
from weft.types import How


def aggregate(x: Tensor, over: Structure, *, how: How = "sum", weight: Tensor | None = None) -> Tensor:
    """Combine the sources of each target, in no order; a target without sources gets zeros.

    A message is weight · x[source], times the weight that `over` itself carries. `mean` divides by the number
    of messages; `std` is that of the whole population; of equal extremes the first takes the gradient.

        x (sources, …), over listing its edges              gives  (targets, …)
        x (…, sources, dim), over a regular structure       gives  (…, targets, dim)
        weight (edges) or (edges, heads) with x (sources, heads, …), in the given order of the edges

    >>> over = Sparse.from_edges([0, 1, 2], [1, 2, 1], num_targets=3)
    >>> aggregate(torch.tensor([1.0, 10.0, 100.0]), over).tolist()
    [0.0, 101.0, 10.0]
    >>> aggregate(torch.tensor([1.0, 10.0, 100.0]), over, how="max").tolist()
    [0.0, 100.0, 10.0]
    """
    if not isinstance(over, Structure):
        raise WeftTypeError(f"aggregate: over must be a structure, but got {type(over).__name__}.")
    check_how(how, "aggregate")
    if isinstance(over, Regular):
        if weight is not None:
            raise StructureError(f"aggregate: {over!r} lists no edges to weigh. Use over.to_sparse().")
        return aggregate_regular(x, over, how)
    over = over.to_sparse()
    check_tensor(x, "aggregate", "x", over.device)
    if x.ndim < 1 or x.shape[0] != over.num_sources:
        raise ShapeError(f"aggregate: `over` has {over.num_sources} sources, but x has shape {tuple(x.shape)}.")
    if weight is not None:
        check_tensor(weight, "aggregate", "weight", over.device)
        if weight.ndim < 1 or weight.shape[0] != over.num_edges or weight.shape[1:] != x.shape[1 : weight.ndim]:
            raise ShapeError(
                f"aggregate: {over.num_edges} edges and x of shape {tuple(x.shape)} need weight of shape ({over.num_edges},) "
                f"or {(over.num_edges, *x.shape[1:])}, or that with its last axes left out, but it has {tuple(weight.shape)}."
            )
    return combine(x, over, how, weight, f"aggregate[{how}]")


def check_how(how: How, caller: str) -> None:
    if how not in get_args(How):
        raise WeftValueError(f"{caller}: how must be one of {', '.join(get_args(How))}, but got {how!r}.")


def combine(x: Tensor, over: Sparse, how: How, weight: Tensor | None, verb: str) -> Tensor:
    """`aggregate` over listed edges, once its arguments are known to fit."""
    if choose(verb, x, over) == "reference":
        return reference.aggregate(x, over, how, weight)
    if how in ("sum", "mean"):
        return weighted_sum(x, over, weight, over.rows.share if how == "mean" else None)
    whole = reference.edge_weight(over)
    if weight is not None or whole is not None:
        return combine(messages(x, over, weight, whole), over.incidence, how, None, verb)
    learns = torch.is_grad_enabled() and x.requires_grad
    rows = x.reshape(x.shape[0], prod(x.shape[1:])).contiguous()
    if how == "std":
        variance, _ = spread_rows(rows, relation(over, learns))
        varies = variance != 0  # or is NaN
        result = (torch.where(varies, variance, 1.0).sqrt() * varies).to(x.dtype)
    else:
        result, _ = extreme_rows(rows, relation(over, learns), how == "max")
    return result.reshape(over.num_targets, *x.shape[1:])


def weighted_sum(x: Tensor, over: Sparse, weight: Tensor | None, share: Tensor | None = None) -> Tensor:
    """The sum over listed edges, with the weights of the structure and those given, times a share per target."""
    if weight is not None and over.edge is not None:
        weight = in_order(weight, over)
    if over.weight is not None:
        own = over.weight.to(x.dtype)
        weight = own if weight is None else weight * own.reshape(-1, *[1] * (weight.ndim - 1))
    heads = 1 if weight is None else prod(weight.shape[1:])
    learns = torch.is_grad_enabled() and (x.requires_grad or (weight is not None and weight.requires_grad))
    split = x.reshape(x.shape[0], heads, prod(x.shape[1:]) // max(heads, 1)).contiguous()
    flat = None if weight is None else weight.reshape(weight.shape[0], heads).contiguous()
    tensors = relation(over, learns)
    if share is not None:
        own = over.scale_target
        tensors[SCALE_TARGET] = (share if own is None else share * own).to(accumulator(x.dtype))
    return sum_rows(split, flat, tensors).reshape(over.num_targets, *x.shape[1:])


def in_order(values: Tensor, over: Sparse) -> Tensor:
    """Values per edge, from the given order to the stored one."""
    return combine(values, over.storage, "sum", None, "reorder")


def messages(x: Tensor, over: Sparse, weight: Tensor | None, whole: Tensor | None) -> Tensor:
    """weight · x[source] of every edge, in the given order."""
    towards_source = over.reversed().incidence.reversed()
    result = combine(x, towards_source, "sum", None, "gather[source]")
    for factor in (weight, whole):
        if factor is not None:
            result = result * factor.to(x.dtype).reshape(*factor.shape, *[1] * (x.ndim - factor.ndim))
    return result
