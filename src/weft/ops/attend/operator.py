"""The operator behind `attend` over listed edges, as torch knows it: device kernels, shapes, derivatives.

q, k are (positions, heads, dim), or (positions, heads) where the score is additive; v is (sources, heads, wide);
all that is per edge stands in storage order. Second derivatives go through the reference.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from weft.ops.attend import reference
from weft.ops.attend.score import Activated, Additive, Dot, Score
from weft.ops.buffers import accumulator, computable, empty, exact, flat
from weft.ops.dispatch import Relation
from weft.ops.operator import operator
from weft.ops.parallel import for_pieces, for_rows
from weft.ops.random import threshold
from weft.structure import Sparse
from weft.structure.compress import Rows

DOT, ADDITIVE, ACTIVATED = 0, 1, 2


def lanes_for(dim: int) -> tuple[int, bool]:
    """How many lanes of a row to take at a time, and whether they are exactly the row."""
    lanes = next((lanes for lanes in (16, 32, 64, 128) if dim <= lanes), 128)
    return lanes, lanes == dim


@operator("weft::attend_rows")
def attend_rows(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    vector: Tensor | None,
    bias: Tensor | None,
    edge_k: Tensor | None,
    edge_v: Tensor | None,
    seed: Tensor | None,
    over: list[Tensor | None],
    kind: int,
    scale: float,
    slope: float,
    dropout: float,
) -> tuple[Tensor, Tensor]:
    """The attended values (targets, heads, wide), and the logarithm of each softmax's mass (targets, heads).

    Both as they were summed: half-precision inputs give float32, because the way back subtracts.
    """
    from weft.ops.attend import cpu

    pointer, index, _, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    call = _Call(q, k, v, vector, bias, edge_k, edge_v, seed, kind, scale, slope, dropout)
    targets = pointer.shape[0] - 1
    out = empty(targets, call.heads, call.wide, dtype=accumulator(call.dtype))
    lse = empty(targets, call.heads, dtype=accumulator(call.dtype))
    for_rows(
        cpu.attend_rows(kind, *lanes_for(call.dim), *lanes_for(call.wide)),
        cuts.tolist(),
        call.work(index),
        flat(pointer),
        flat(index),
        *call.arguments(),
        flat(out),
        flat(lse),
        call.like,
    )
    return out, lse


@attend_rows.on_gpu
def _(*inputs: Any) -> tuple[Tensor, Tensor]:
    from weft.ops.attend import gpu

    return gpu.attend_rows(*inputs)


@attend_rows.shapes
def _(q, k, v, vector, bias, edge_k, edge_v, seed, over, kind, scale, slope, dropout):  # type: ignore[no-untyped-def]
    targets = over[0].shape[0] - 1
    return (
        v.new_empty(targets, v.shape[1], v.shape[2], dtype=accumulator(v.dtype)),
        v.new_empty(targets, v.shape[1], dtype=accumulator(v.dtype)),
    )


@operator("weft::attend_backward")
def attend_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    vector: Tensor | None,
    bias: Tensor | None,
    edge_k: Tensor | None,
    edge_v: Tensor | None,
    seed: Tensor | None,
    over: list[Tensor | None],
    kind: int,
    scale: float,
    slope: float,
    dropout: float,
    out: Tensor,
    lse: Tensor,
    grad: Tensor,
    needs: list[bool],
) -> list[Tensor]:
    """Gradients of q, k, v, vector, bias, edge_k, edge_v; an empty tensor for each that is not needed."""
    from weft.ops.attend import cpu_backward

    pointer, index, _, _, cuts = over[:5]
    assert pointer is not None and index is not None and cuts is not None
    call = _Call(q, k, v, vector, bias, edge_k, edge_v, seed, kind, scale, slope, dropout)
    wide_sum, edges, pieces = accumulator(call.dtype), index.shape[0], cuts.shape[0] - 1
    q_grad = empty(*call.q.shape, dtype=call.q.dtype)
    vector_grad = torch.zeros(pieces, call.heads, call.dim, dtype=wide_sum) if call.vector is not None else None
    bias_grad = torch.empty_like(call.bias) if call.bias is not None and needs[4] else None
    edge_k_grad = torch.empty_like(call.edge_k) if call.edge_k is not None and needs[5] else None
    edge_v_grad = torch.empty_like(call.edge_v) if call.edge_v is not None and needs[6] else None
    left_over = empty(edges, call.heads, 2, dtype=wide_sum)
    widths = (*lanes_for(call.dim), *lanes_for(call.wide))
    for_pieces(
        cpu_backward.backward_rows(kind, *widths),
        cuts.tolist(),
        2 * call.work(index),
        flat(pointer),
        flat(index),
        *call.arguments(),
        *map(flat, (out, lse, grad, q_grad, vector_grad, bias_grad, edge_k_grad, edge_v_grad, left_over)),
        call.like,
    )
    k_grad = v_grad = q.new_empty(0)
    if needs[1] or needs[2]:
        columns, targets, position, _, column_cuts = over[5:]
        assert columns is not None and targets is not None and column_cuts is not None
        k_grad, v_grad = empty(*call.k.shape, dtype=call.k.dtype), empty(*call.v.shape, dtype=call.v.dtype)
        for_rows(
            cpu_backward.backward_columns(kind, *widths),
            column_cuts.tolist(),
            2 * call.work(index),
            *map(flat, (columns, targets, position, call.q, call.k, call.edge_k)),
            call.heads,
            call.dim,
            call.wide,
            flat(call.vector),
            call.like.dtype.type(scale),
            call.like.dtype.type(slope),
            *map(flat, (grad, left_over, k_grad, v_grad)),
        )
    none = q.new_empty(0)
    return [
        q_grad.to(q.dtype) if needs[0] else none,
        k_grad.to(k.dtype) if needs[1] else none.clone(),
        v_grad.to(v.dtype) if needs[2] else none.clone(),
        vector_grad.sum(0).to(vector.dtype) if vector is not None and vector_grad is not None and needs[3] else none.clone(),
        bias_grad.to(bias.dtype) if bias is not None and bias_grad is not None else none.clone(),
        edge_k_grad.to(edge_k.dtype) if edge_k is not None and edge_k_grad is not None else none.clone(),
        edge_v_grad.to(edge_v.dtype) if edge_v is not None and edge_v_grad is not None else none.clone(),
    ]


class _Call:
    """One call's tensors as the CPU kernels take them."""

    def __init__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        vector: Tensor | None,
        bias: Tensor | None,
        edge_k: Tensor | None,
        edge_v: Tensor | None,
        seed: Tensor | None,
        kind: int,
        scale: float,
        slope: float,
        dropout: float,
    ):
        paired = exact if kind == ADDITIVE else computable  # one number per head is read by itself
        self.q, self.k, self.v = paired(q), paired(k), computable(v)
        self.vector = None if vector is None else exact(vector)
        self.bias = None if bias is None else exact(bias)
        self.edge_k = None if edge_k is None else paired(edge_k)
        self.edge_v = None if edge_v is None else computable(edge_v)
        self.dtype, self.heads, self.wide = self.v.dtype, v.shape[1], v.shape[2]
        self.dim = 1 if kind == ADDITIVE else q.shape[2]
        self.like = np.empty(1, np.float64 if self.dtype == torch.float64 else np.float32)
        self.numbers = [self.like.dtype.type(number) for number in (scale, slope, dropout)]
        self.seed = 0 if seed is None else int(seed)

    def work(self, index: Tensor) -> int:
        return index.shape[0] * self.heads * (self.dim + self.wide)

    def arguments(self) -> list[Any]:
        return [
            *map(flat, (self.q, self.k, self.v)),
            self.heads,
            self.dim,
            self.wide,
            *map(flat, (self.vector, self.bias, self.edge_k, self.edge_v)),
            *self.numbers,
            threshold(float(self.numbers[2])),
            self.seed,
        ]


@attend_backward.on_gpu
def _(*inputs: Any) -> list[Tensor]:
    from weft.ops.attend import gpu_backward

    return gpu_backward.attend_backward(*inputs)


@attend_backward.shapes
def _(q, k, v, vector, bias, edge_k, edge_v, seed, over, kind, scale, slope, dropout, out, lse, grad, needs):  # type: ignore[no-untyped-def]
    inputs = (q, k, v, vector, bias, edge_k, edge_v)
    return [q.new_empty(0) if x is None or not need else torch.empty_like(x) for x, need in zip(inputs, needs, strict=True)]


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, over, kind, scale, slope, dropout = inputs
    ctx.save_for_backward(*tensors, *output, *over)
    ctx.settings = kind, scale, slope, dropout
    ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, grad: Tensor, _: None) -> tuple[Tensor | None, ...]:
    *tensors, out, lse = ctx.saved_tensors[:10]
    over = list(ctx.saved_tensors[10:])
    needs = [tensor is not None and need for tensor, need in zip(tensors[:7], ctx.needs_input_grad[:7], strict=True)]
    if torch.is_grad_enabled():
        grads = _through_reference(tensors, over, ctx.settings, grad, needs)
    else:
        grads = attend_backward(*tensors, over, *ctx.settings, out, lse, grad.contiguous(), needs)
    return *(given if need else None for given, need in zip(grads, needs, strict=True)), *[None] * 6


def _through_reference(
    tensors: list[Tensor | None], over: Relation, settings: tuple[int, float, float, float], grad: Tensor, needs: list[bool]
) -> list[Tensor | None]:
    """The same gradients by plain torch, differentiable once more; one tensor in two places is told apart."""
    tensors = [tensor if tensor is None else tensor.view_as(tensor) for tensor in tensors]
    q, k, v, vector, bias, edge_k, edge_v, seed = tensors
    kind, scale, slope, dropout = settings
    assert q is not None and k is not None and v is not None and over[0] is not None and over[1] is not None
    score: Score = Dot(scale) if kind == DOT else Additive(slope)
    if kind == ACTIVATED:
        assert vector is not None
        score = Activated(vector, slope)
    sparse = Sparse(num_targets=q.shape[0], num_sources=k.shape[0], rows=Rows(over[0], over[1], None))
    with torch.enable_grad():
        out = reference.attend(q, k, v, sparse, score, bias=bias, edge_k=edge_k, edge_v=edge_v, dropout=dropout, seed=seed)
        wanted = [tensor for tensor, need in zip(tensors, needs, strict=False) if need and tensor is not None]
        found = iter(torch.autograd.grad(out, wanted, grad, create_graph=True, allow_unused=True))
    return [next(found) if need else None for need in needs]


attend_rows.derivative(_backward, _save)
