"""The operator behind std: mean and variance in two passes, and the way back through the variance."""

from typing import Any

import torch
from torch import Tensor

from weft.ops.buffers import accumulator, computable, empty, flat
from weft.ops.dispatch import Relation, transpose
from weft.ops.operator import operator
from weft.ops.parallel import for_rows


@operator("weft::spread_rows")
def spread_rows(x: Tensor, over: list[Tensor | None]) -> tuple[Tensor, Tensor]:
    """Variance and mean of each feature over the sources of a target (both zero without edges)."""
    from weft.ops.aggregate import cpu

    pointer, index, _, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    x = computable(x)
    variance = empty(pointer.shape[0] - 1, x.shape[1], dtype=accumulator(x.dtype))
    mean = empty(*variance.shape, dtype=variance.dtype)
    work = 2 * index.shape[0] * x.shape[1]
    arrays = map(flat, (pointer, index, x))
    for_rows(cpu.spread_rows, cuts.tolist(), work, *arrays, x.shape[1], *map(flat, (mean, variance)))
    return variance, mean


@spread_rows.on_gpu
def _(x, over):
    from weft.ops.aggregate import gpu

    return gpu.spread_rows(x, over)


@spread_rows.shapes
def _(x: Tensor, over: Relation) -> tuple[Tensor, Tensor]:
    pointer = over[0]
    assert pointer is not None
    variance = x.new_empty(pointer.shape[0] - 1, x.shape[1], dtype=accumulator(x.dtype))
    return variance, torch.empty_like(variance)


@operator("weft::unspread_rows")
def unspread_rows(x: Tensor, mean: Tensor, grad: Tensor, over: list[Tensor | None]) -> Tensor:
    """Each source collects grad[target] · (x[source] - mean[target]); `over` is seen from the sources."""
    from weft.ops.aggregate import cpu

    pointer, index, _, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    wide = computable(x).to(mean.dtype)
    out = empty(*wide.shape, dtype=wide.dtype)
    work = 2 * index.shape[0] * x.shape[1]
    arrays = map(flat, (pointer, index, wide, mean, grad))
    for_rows(cpu.unspread_rows, cuts.tolist(), work, *arrays, x.shape[1], flat(out))
    return out.to(x.dtype)


@unspread_rows.on_gpu
def _(x, mean, grad, over):
    from weft.ops.aggregate import gpu

    return gpu.unspread_rows(x, mean, grad, over)


@unspread_rows.shapes
def _(x: Tensor, mean: Tensor, grad: Tensor, over: Relation) -> Tensor:
    return torch.empty_like(x)


def _save_spread(ctx: Any, inputs: tuple[Tensor, Relation], output: tuple[Tensor, Tensor]) -> None:
    x, over = inputs
    ctx.save_for_backward(x, output[1], *over)
    ctx.mark_non_differentiable(output[1])


def _spread_backward(ctx: Any, grad: Tensor, _: None) -> tuple[Tensor, None]:
    x, mean, *over = ctx.saved_tensors
    count = (over[0][1:] - over[0][:-1]).clamp(min=1).to(grad.dtype)
    return unspread_rows(x, mean, (2 * grad / count[:, None]).contiguous(), transpose(over)), None


spread_rows.derivative(_spread_backward, _save_spread)
