"""The operator behind max and min: the value, the edge it came along, and the way back along that edge."""

from typing import Any

import torch
from torch import Tensor

from weft.ops.buffers import computable, empty, flat
from weft.ops.dispatch import Relation, transpose
from weft.ops.operator import operator
from weft.ops.parallel import for_rows


@operator("weft::extreme_rows")
def extreme_rows(x: Tensor, over: list[Tensor | None], largest: bool) -> tuple[Tensor, Tensor]:
    """The extreme of each feature over the sources of a target, and the stored edge of it (-1: no edge)."""
    from weft.ops.aggregate import cpu

    pointer, index, _, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    dtype, x = x.dtype, computable(x)
    out = empty(pointer.shape[0] - 1, x.shape[1], dtype=x.dtype)
    winner = empty(*out.shape, dtype=torch.int32)
    kernel = cpu.max_rows if largest else cpu.min_rows
    work = index.shape[0] * x.shape[1]
    for_rows(kernel, cuts.tolist(), work, *map(flat, (pointer, index, x)), x.shape[1], *map(flat, (out, winner)))
    return out.to(dtype), winner


@extreme_rows.on_gpu
def _(x, over, largest):
    from weft.ops.aggregate import gpu

    return gpu.extreme_rows(x, over, largest)


@extreme_rows.shapes
def _(x: Tensor, over: Relation, largest: bool) -> tuple[Tensor, Tensor]:
    pointer = over[0]
    assert pointer is not None
    out = x.new_empty(pointer.shape[0] - 1, x.shape[1])
    return out, torch.empty_like(out, dtype=torch.int32)


@operator("weft::won_rows")
def won_rows(grad: Tensor, winner: Tensor, over: list[Tensor | None]) -> Tensor:
    """Each source collects the gradient of the features it won; `over` is seen from the sources."""
    from weft.ops.aggregate import cpu

    pointer, index, position, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    dtype, grad = grad.dtype, computable(grad)
    out = empty(pointer.shape[0] - 1, grad.shape[1], dtype=grad.dtype)
    work = index.shape[0] * grad.shape[1]
    arrays = map(flat, (pointer, index, position, grad, winner))
    for_rows(cpu.won_rows, cuts.tolist(), work, *arrays, grad.shape[1], flat(out))
    return out.to(dtype)


@won_rows.on_gpu
def _(grad, winner, over):
    from weft.ops.aggregate import gpu

    return gpu.won_rows(grad, winner, over)


@won_rows.shapes
def _(grad: Tensor, winner: Tensor, over: Relation) -> Tensor:
    pointer = over[0]
    assert pointer is not None
    return grad.new_empty(pointer.shape[0] - 1, grad.shape[1])


def _save_extreme(ctx: Any, inputs: tuple[Tensor, Relation, bool], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(output[1], *inputs[1])
    ctx.mark_non_differentiable(output[1])


def _extreme_backward(ctx: Any, grad: Tensor, _: None) -> tuple[Tensor, None, None]:
    winner, *over = ctx.saved_tensors
    return won_rows(grad.contiguous(), winner, transpose(over)), None, None


def _save_won(ctx: Any, inputs: tuple[Tensor, Tensor, Relation], output: Tensor) -> None:
    _, winner, over = inputs
    ctx.save_for_backward(winner, over[1], over[6])


def _won_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    winner, _, source = ctx.saved_tensors
    came_from = source[winner.clamp(min=0).long()].long() if len(source) else winner.long()
    return torch.where(winner >= 0, grad.gather(0, came_from), 0.0), None, None


extreme_rows.derivative(_extreme_backward, _save_extreme)
won_rows.derivative(_won_backward, _save_won)
