"""Aggregation over regular structures: no edge is listed where a rule will do. x is (…, sources, dim)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from weft.errors import ShapeError
from weft.ops.dispatch import check_tensor, record
from weft.structure import Causal, Chain, Dense, Grid, Regular, Window
from weft.types import How


def aggregate_regular(x: Tensor, over: Regular, how: How) -> Tensor:
    """`aggregate` over a regular structure."""
    check_positions(x, over, "aggregate", "x", over.num_sources, axis=-2)
    if over.num_targets == 0 or over.num_sources == 0:
        return x.sum(-2, keepdim=True).expand(*x.shape[:-2], over.num_targets, x.shape[-1])
    if how == "std" and isinstance(over, Causal | Grid):
        record(f"aggregate[{how}]", "edges", ("rule", f"a running std over {type(over).__name__} would cancel digits"))
        return through_edges(x, over, how)
    record(f"aggregate[{how}]", f"rule[{type(over).__name__}]")
    speaks = speaking(over, x.device)
    there = x.new_ones(over.num_sources, 1) if speaks is None else speaks[..., None].to(x.dtype)
    count = total(there, over)
    result = _combine(x if speaks is None else x.masked_fill(~speaks[..., None], 0), over, how, count, speaks)
    if speaks is not None and over.num_targets == over.num_sources:
        count = count * speaks[..., None]
    return torch.where(count > 0, result, 0)


def _combine(x: Tensor, over: Regular, how: How, count: Tensor, speaks: Tensor | None) -> Tensor:
    if how in ("sum", "mean"):
        return total(x, over) if how == "sum" else total(x, over) / count.clamp(min=1)
    if how == "std":
        return _std(x, over, count, speaks)
    signed = x if how == "max" else -x
    if speaks is not None:
        signed = signed.masked_fill(~speaks[..., None], -torch.inf)
    largest = highest(signed, over)
    return largest if how == "max" else -largest


def total(x: Tensor, over: Regular) -> Tensor:
    """The sum over the sources of each target."""
    match over:
        case Dense():
            return x.sum(-2, keepdim=True).expand(*x.shape[:-2], over.num_targets, x.shape[-1])
        case Causal():
            return x.cumsum(-2)[..., over.num_sources - over.num_targets :, :]
        case Grid():
            lattice = x.reshape(*x.shape[:-2], *over.shape, x.shape[-1])
            for axis in grid_axes(over):
                lattice = windows(lattice, axis, over.radius, over.radius, 0.0).sum(-1)
            return lattice.reshape(x.shape)
        case _:
            return windows(x, -2, *reach(over), 0.0).sum(-1)


def highest(x: Tensor, over: Regular) -> Tensor:
    """The largest of the sources of each target; of equal ones the first takes the gradient."""
    match over:
        case Dense():
            return pick_first(x, -2).expand(*x.shape[:-2], over.num_targets, x.shape[-1])
        case Causal():
            return _running_highest(x)[..., over.num_sources - over.num_targets :, :]
        case Grid():
            lattice = x.reshape(*x.shape[:-2], *over.shape, x.shape[-1])
            for axis in reversed(grid_axes(over)):
                lattice = pick_first(windows(lattice, axis, over.radius, over.radius, -torch.inf), -1).squeeze(-1)
            return lattice.reshape(x.shape)
        case _:
            return pick_first(windows(x, -2, *reach(over), -torch.inf), -1).squeeze(-1)


def _running_highest(x: Tensor) -> Tensor:
    peak = x.detach().cummax(-2).values
    rises = torch.ones_like(x, dtype=torch.bool)
    rises[..., 1:, :] = peak[..., 1:, :] > peak[..., :-1, :]
    rises |= x.isnan()
    at = torch.arange(x.shape[-2], device=x.device)[:, None].expand_as(x)
    return x.gather(-2, torch.where(rises, at, 0).cummax(-2).values)


def _std(x: Tensor, over: Regular, count: Tensor, speaks: Tensor | None) -> Tensor:
    share = count.clamp(min=1)
    if isinstance(over, Dense):
        away = x - x.sum(-2, keepdim=True) / share[..., :1, :]
        there = 1 if speaks is None else speaks[..., None]
        variance = total(away * away * there, over) / share
    else:
        seen = windows(x, -2, *reach(over), 0.0)
        ones = x.new_ones(over.num_sources, 1) if speaks is None else speaks[..., None].to(x.dtype)
        there = windows(ones, -2, *reach(over), 0.0)
        away = (seen - (seen.sum(-1) / share)[..., None]) * there
        variance = (away * away).sum(-1) / share
    return torch.where(variance != 0, variance, 1.0).sqrt() * (variance != 0)


def reach(over: Regular) -> tuple[int, int]:
    """How far back and ahead a position looks on a line; a chain looks at one neighbour and not at itself."""
    if isinstance(over, Chain):
        return (-1, 1) if over.reverse else (1, -1)
    assert isinstance(over, Window)
    return over.left, over.right


def windows(x: Tensor, axis: int, back: int, ahead: int, fill: float) -> Tensor:
    """Every position beside what it sees along an axis: one more axis at the end, padded with `fill`."""
    axis = axis % x.ndim
    edges = [0, 0] * (x.ndim - axis - 1) + [back, ahead]
    return pad(x, edges, value=fill).unfold(axis, back + ahead + 1, 1)


def pick_first(x: Tensor, axis: int) -> Tensor:
    """The largest along an axis, which stays with size one; the gradient goes to the first of equals."""
    return x.gather(axis, x.detach().argmax(axis, keepdim=True))


def grid_axes(over: Grid) -> list[int]:
    """The axes of the lattice, counted from the end, features last."""
    return list(range(-1 - len(over.shape), -1))


def speaking(over: Regular, device: torch.device) -> Tensor | None:
    """Which positions of each item are real: (items, sources) of bool, or None where all are."""
    if over.lengths is None:
        return None
    return torch.arange(over.num_sources, device=device) < over.lengths[:, None]


def through_edges(x: Tensor, over: Regular, how: How) -> Tensor:
    """The same over the written-out edges: batch axes become features, or blocks where lengths differ."""
    from weft.ops.aggregate import combine

    sparse = over.to_sparse().to(x.device)
    if over.lengths is not None:
        result = combine(x.reshape(-1, x.shape[-1]), sparse, how, None, f"aggregate[{how}]")
        return result.reshape(len(over.lengths), over.num_targets, x.shape[-1])
    first = x.movedim(-2, 0)
    result = combine(first.reshape(over.num_sources, -1), sparse, how, None, f"aggregate[{how}]")
    return result.reshape(over.num_targets, *first.shape[1:]).movedim(0, -2)


def check_positions(x: Tensor, over: Regular, caller: str, name: str, size: int, axis: int) -> None:
    """x has `size` positions along `axis`, and one item per length where there are lengths."""
    check_tensor(x, caller, name, None if over.lengths is None else over.lengths.device)
    need = (
        "(…, positions, heads, dim)" if axis == -3 else "(…, positions, heads)" if caller == "attend" else "(…, positions, dim)"
    )
    if x.ndim < -axis or x.shape[axis] != size:
        raise ShapeError(
            f"{caller}: `over` relates {over.num_targets} targets to {over.num_sources} sources, so {name} needs "
            f"{size} positions as {need}, but has shape {tuple(x.shape)}."
        )
    if over.lengths is not None and (x.ndim != 1 - axis or x.shape[0] != len(over.lengths)):
        raise ShapeError(
            f"{caller}: `over` has {len(over.lengths)} lengths, so {name} needs as many items in front, "
            f"but has shape {tuple(x.shape)}."
        )
