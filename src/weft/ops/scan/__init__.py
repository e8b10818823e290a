"""Carry a state along an order."""

from math import prod

import torch
from torch import Tensor

from weft.errors import DeviceError, ShapeError, StructureError, WeftTypeError
from weft.ops.dispatch import check_tensor, record
from weft.ops.scan.fused import scan_fused
from weft.ops.scan.levels import scan_levels
from weft.ops.scan.linear import decay_rows
from weft.ops.scan.reference import scan_chain
from weft.ops.scan.step import Gates, GRUStep, LinearStep, LSTMStep, RNNStep, Step
from weft.structure import Acyclic, Chain, Ordered, Structure, Tree
from weft.types import State


def scan(step: Step, x: Tensor, over: Ordered, *, state: State | None = None) -> tuple[Tensor, State]:
    """Carry a state along an order: what comes out at every position, and the state at the end.

        x (…, length, in_dim) along a Chain               gives  (…, length, dim), parts of (…, dim)
        x (nodes, in_dim) over a Tree or topological()    gives  (nodes, dim), parts of (nodes, dim)

    Along a chain, `state` is what was before its first position (zeros if nothing is given); positions at or
    beyond an item's length put out zeros and leave its state alone.

    >>> decay = torch.full((3, 1), 0.5)
    >>> out, _ = scan(LinearStep(decay), torch.ones(3, 1), Chain(3))
    >>> out.flatten().tolist()
    [1.0, 1.5, 1.75]
    """
    if not isinstance(over, Ordered):
        raise StructureError(_no_order(over))
    if isinstance(over, Chain):
        return _along_chain(step, x, over, state)
    if not isinstance(over, Acyclic | Tree):
        raise StructureError(f"scan: knows chains, trees and acyclic graphs, but got {over!r}.")
    check_tensor(x, "scan", "x", over.to_sparse().device)
    if x.ndim != 2 or x.shape[0] != over.num_targets:
        raise ShapeError(
            f"scan: `over` orders {over.num_targets} nodes, so x must be ({over.num_targets}, dim), not {tuple(x.shape)}."
        )
    if state is not None:
        raise WeftTypeError("scan: a tree or graph starts where nothing comes before; only a Chain takes a state.")
    if isinstance(step, LinearStep):
        _check_decay(step, x)
        x = torch.cat([x, step.decay], dim=1)
    record(f"scan[{type(step).__name__}]", "levels", ("fused", f"{type(over).__name__} branches"))
    return scan_levels(step, x, over)


def _along_chain(step: Step, x: Tensor, over: Chain, state: State | None) -> tuple[Tensor, State]:
    check_tensor(x, "scan", "x", None if over.lengths is None else over.lengths.device)
    if x.ndim < 2 or x.shape[-2] != over.length:
        raise ShapeError(f"scan: {over!r} needs x of shape (…, {over.length}, dim), but got {tuple(x.shape)}.")
    batch = x.shape[:-2]
    if over.lengths is not None and batch != over.lengths.shape:
        raise ShapeError(
            f"scan: `over` has {len(over.lengths)} lengths, so x needs as many items in front, but has shape {tuple(x.shape)}."
        )
    if state is None:
        state = tuple(x.new_zeros(*batch, width) for width in step.widths)
    _check_state(step, state, x, batch)
    items = prod(batch)
    flat = x.reshape(items, *x.shape[-2:])
    before = tuple(part.reshape(items, part.shape[-1]) for part in state)
    verb = f"scan[{type(step).__name__}]"
    if isinstance(step, LinearStep):
        record(verb, "parallel")
        _check_decay(step, x)
        out, after = _linear(flat, step.decay.reshape(flat.shape), over, before)
    elif isinstance(step, RNNStep | GRUStep | LSTMStep) and over.length > 0:
        record(verb, "torch's fused kernel")
        out, after = scan_fused(step, flat, over, before)
    else:
        record(verb, "reference", ("fused", f"{type(step).__name__} is not one that torch fuses"))
        out, after = scan_chain(step, flat, over, before)
    return out.reshape(*batch, over.length, out.shape[-1]), tuple(part.reshape(*batch, part.shape[-1]) for part in after)


def _linear(x: Tensor, decay: Tensor, over: Chain, state: State) -> tuple[Tensor, State]:
    """Beyond an item's length the state is kept: nothing comes in and nothing decays."""
    real = None
    if over.lengths is not None:
        real = (torch.arange(over.length, device=x.device) < over.lengths[:, None])[..., None]
        x, decay = torch.where(real, x, 0), torch.where(real, decay, 1)
    if over.reverse:
        x, decay = x.flip(1), decay.flip(1)
    h = decay_rows(x.contiguous(), decay.contiguous(), state[0].contiguous())
    last = h[:, -1] if over.length else state[0]
    out = h.flip(1) if over.reverse else h
    return out if real is None else torch.where(real, out, 0), (last,)


def _check_state(step: Step, state: State, x: Tensor, batch: torch.Size) -> None:
    shapes = [(*batch, width) for width in step.widths]
    if [tuple(part.shape) for part in state] != shapes:
        found = ", ".join(str(tuple(part.shape)) for part in state)
        raise ShapeError(
            f"scan: {type(step).__name__} carries parts of shape {', '.join(map(str, shapes))}, but state has {found}."
        )
    for part in state:
        if part.device != x.device:
            raise DeviceError(f"scan: x is on {x.device} and state on {part.device}; move one.")


def _check_decay(step: LinearStep, x: Tensor) -> None:
    if step.decay.shape != x.shape:
        raise ShapeError(f"scan: decay must have the shape of x, {tuple(x.shape)}, but has {tuple(step.decay.shape)}.")


def _no_order(over: object) -> str:
    if not isinstance(over, Structure):
        return f"scan: over must be a structure with an order, but got {type(over).__name__}."
    return (
        f"scan: needs an order, and {over!r} has none.\n"
        "      For a directed acyclic graph use over.topological(); to combine neighbours use aggregate."
    )


__all__ = ["GRUStep", "Gates", "LSTMStep", "LinearStep", "RNNStep", "Step", "scan"]
