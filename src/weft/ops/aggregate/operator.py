"""The operators behind `aggregate`, as torch knows them: device kernels, shapes, and derivatives.

Inside, features are (positions, heads, dim), weights (edges, heads) in storage order, and a structure is the
list of tensors that `relation` makes.
"""

from typing import Any

import torch
from torch import Tensor

from weft.ops.buffers import accumulator, computable, empty, exact, flat
from weft.ops.dispatch import SCALE_SOURCE, Relation, transpose
from weft.ops.operator import operator
from weft.ops.parallel import for_rows


@operator("weft::sum_rows")
def sum_rows(x: Tensor, weight: Tensor | None, over: list[Tensor | None]) -> Tensor:
    """out[target] = scale_target · Σ weight · scale_source · x[source]."""
    from weft.ops.aggregate import cpu

    pointer, index, position, scale, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    dtype, x = x.dtype, computable(x)
    _, heads, dim = x.shape
    out = empty(pointer.shape[0] - 1, heads, dim, dtype=x.dtype)
    for_rows(
        cpu.sum_rows,
        cuts.tolist(),
        index.shape[0] * heads * dim,
        *map(flat, (pointer, index, None if weight is None else position, x)),
        heads,
        dim,
        *map(flat, (None if weight is None else exact(weight), scale, over[SCALE_SOURCE], out)),
    )
    return out.to(dtype)


@sum_rows.on_gpu
def _(x, weight, over):
    from weft.ops.aggregate import gpu

    return gpu.sum_rows(x, weight, over)


@sum_rows.shapes
def _(x: Tensor, weight: Tensor | None, over: Relation) -> Tensor:
    pointer = over[0]
    assert pointer is not None
    return x.new_empty(pointer.shape[0] - 1, x.shape[1], x.shape[2])


@operator("weft::dot_edges")
def dot_edges(a: Tensor, b: Tensor, over: list[Tensor | None]) -> Tensor:
    """out[edge, head] = scale_target · scale_source · ⟨a[target, head], b[source, head]⟩."""
    from weft.ops.aggregate import cpu

    pointer, index, position, scale, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    dtype = torch.promote_types(a.dtype, b.dtype)
    a, b = computable(a.to(dtype)), computable(b.to(dtype))
    _, heads, dim = a.shape
    out = empty(index.shape[0], heads, dtype=accumulator(a.dtype))
    for_rows(
        cpu.dot_edges,
        cuts.tolist(),
        index.shape[0] * heads * dim,
        *map(flat, (pointer, index, position, a, b)),
        heads,
        dim,
        *map(flat, (scale, over[SCALE_SOURCE], out)),
    )
    return out.to(dtype)


@dot_edges.on_gpu
def _(a, b, over):
    from weft.ops.aggregate import gpu

    return gpu.dot_edges(a, b, over)


@dot_edges.shapes
def _(a: Tensor, b: Tensor, over: Relation) -> Tensor:
    index = over[1]
    assert index is not None
    return a.new_empty(index.shape[0], a.shape[1], dtype=torch.promote_types(a.dtype, b.dtype))


def _save_sum(ctx: Any, inputs: tuple[Tensor, Tensor | None, Relation], output: Tensor) -> None:
    x, weight, over = inputs
    ctx.save_for_backward(x if weight is not None else None, weight, *over)


def _sum_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    x, weight, *over = ctx.saved_tensors
    grad = grad.contiguous()
    x_grad = sum_rows(grad, weight, transpose(over)) if ctx.needs_input_grad[0] else None
    weight_grad = None
    if weight is not None and ctx.needs_input_grad[1]:
        weight_grad = dot_edges(grad, x, over).to(weight.dtype)
    return x_grad, weight_grad, None


def _save_dot(ctx: Any, inputs: tuple[Tensor, Tensor, Relation], output: Tensor) -> None:
    a, b, over = inputs
    ctx.save_for_backward(a, b, *over)


def _dot_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    a, b, *over = ctx.saved_tensors
    a_grad = sum_rows(b, grad, over) if ctx.needs_input_grad[0] else None
    b_grad = sum_rows(a, grad, transpose(over)) if ctx.needs_input_grad[1] else None
    return a_grad, b_grad, None


sum_rows.derivative(_sum_backward, _save_sum)
dot_edges.derivative(_dot_backward, _save_dot)
