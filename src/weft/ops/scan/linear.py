"""The linear recurrence h_t = decay_t · h_(t-1) + x_t as an operator: serial per item on a CPU, by doubling elsewhere."""

from typing import Any

import torch
from torch import Tensor

from weft.ops.buffers import accumulator, empty, flat
from weft.ops.operator import operator
from weft.ops.parallel import for_rows


@operator("weft::decay_rows")
def decay_rows(x: Tensor, decay: Tensor, start: Tensor) -> Tensor:
    """x, decay (items, length, dim), start (items, dim): every h (items, length, dim)."""
    from weft.ops.scan import cpu

    items, length, dim = x.shape
    wide = accumulator(x.dtype)
    out = empty(items, length, dim, dtype=wide)
    pieces = max(1, min(64, items))
    cuts = [items * piece // pieces for piece in range(pieces + 1)]
    arrays = [flat(part.to(wide)) for part in (x, decay, start)]
    for_rows(cpu.decay_rows, cuts, 3 * x.numel(), *arrays, length, dim, flat(out))
    return out.to(x.dtype)


@decay_rows.on_gpu
def by_doubling(x: Tensor, decay: Tensor, start: Tensor) -> Tensor:
    """The same in log2(length) passes: after pass p, every h has heard from the 2^p positions before it."""
    length = x.shape[1]
    if length == 0:
        return x.clone()
    h = torch.cat([x[:, :1] + decay[:, :1] * start[:, None], x[:, 1:]], dim=1)
    reach = 1
    while reach < length:
        h = torch.cat([h[:, :reach], h[:, reach:] + decay[:, reach:] * h[:, :-reach]], dim=1)
        decay = torch.cat([decay[:, :reach], decay[:, reach:] * decay[:, :-reach]], dim=1)
        reach *= 2
    return h


@decay_rows.shapes
def _(x: Tensor, decay: Tensor, start: Tensor) -> Tensor:
    return torch.empty_like(x)


def _save(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
    _, decay, start = inputs
    ctx.save_for_backward(decay, start, output)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient runs the same recurrence from the end: g_t = grad_t + decay_(t+1) · g_(t+1)."""
    decay, start, h = ctx.saved_tensors
    ahead = torch.cat([decay[:, 1:], torch.zeros_like(decay[:, :1])], dim=1)
    g = decay_rows(grad.flip(1).contiguous(), ahead.flip(1).contiguous(), torch.zeros_like(start)).flip(1)
    before = torch.cat([start[:, None], h[:, :-1]], dim=1)
    return g, g * before, (decay[:, 0] * g[:, 0] if h.shape[1] else torch.zeros_like(start))


decay_rows.derivative(_backward, _save)
