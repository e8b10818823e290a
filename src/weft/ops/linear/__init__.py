"""Linear maps: what torch computes, faster and repeatable.

The gradient of a shared input is summed inside the product. On a CPU products are cut into pieces by their shape alone,
so that they are the same bytes for any number of threads, and results take the memory of earlier ones, whose pages need
not be cleared again. On a GPU, where rows are many, float32 runs on the matrix units as exactly as without them, and
gradients of biases are summed at the speed of memory. Everywhere else, and while anything is compiled or traced, these
are torch's own maps, which are also the definition.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from weft.ops import buffers
from weft.ops.dispatch import has_module, record
from weft.ops.linear import cpu
from weft.ops.operator import transforms_active, watched

MANY = 4096
"""From this many rows on, a GPU gains."""

MOST = 4
"""So many maps share a launch."""

KINDS = {"cuda": (torch.float32, torch.bfloat16, torch.float16), "cpu": (torch.float32, torch.float64, torch.bfloat16)}

Bias = Tensor | None


def linears(x: Tensor, *maps: tuple[Tensor, Bias]) -> list[Tensor]:
    """x · weightᵀ + bias for several maps (weight (wide, dim), bias (wide) or None) of one x (rows, dim).

    >>> [y.tolist() for y in linears(torch.ones(1, 2), (torch.ones(1, 2), None), (torch.eye(2), torch.ones(2)))]
    [[[2.0]], [[2.0, 2.0]]]
    """
    weights, biases = [weight for weight, _ in maps], [bias for _, bias in maps]
    if len(maps) > MOST or not _gains(x, *weights, *biases):
        return [linear(x, weight, bias) for weight, bias in maps]
    return list(_Linears.apply(x, len(maps), *weights, *biases))


def shifted(x: Tensor, bias: Tensor) -> Tensor:
    """x (rows, wide) + bias (wide)."""
    return _Shifted.apply(x, bias) if _gains(x, bias) else x + bias


def added(x: Tensor, y: Tensor) -> Tensor:
    """x + y, both (rows, wide)."""
    return _Added.apply(x, y) if _gains(x, y) and not _on_gpu(x) else x + y


def _gains(first: Tensor, *others: Bias) -> bool:
    device = first.device.type
    if device not in KINDS or first.ndim != 2 or first.dtype not in KINDS[device]:
        return False
    if device == "cuda" and (first.shape[0] < MANY or not has_module("triton")):
        return False
    if watched() or transforms_active() or torch.is_autocast_enabled(device):
        return False
    if any(other is not None and other.dtype != first.dtype for other in others):
        return False
    if device == "cuda":
        record("linear", "gpu" if _exact(first) else "torch's matrix product, gpu sums")
    return True


def _exact(x: Tensor) -> bool:
    """Whether float32 is asked for in full, and the GPU has matrix units for it."""
    if not _on_gpu(x) or x.dtype != torch.float32:
        return False
    return _has_units(x.get_device()) and torch.get_float32_matmul_precision() == "highest"


def _on_gpu(x: Tensor) -> bool:
    return x.is_cuda


@cache
def _has_units(device: int) -> bool:
    return torch.cuda.get_device_capability(device) >= (8, 0)


def _map_each(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Bias]) -> list[Tensor]:
    if _exact(x):
        from weft.ops.linear import gpu

        return gpu.linears(x.contiguous(), [weight.contiguous() for weight in weights], biases)
    return [_map(x, weight, bias) for weight, bias in zip(weights, biases, strict=True)]


def _map(x: Tensor, weight: Tensor, bias: Bias) -> Tensor:
    return linear(x, weight, bias) if _on_gpu(x) else cpu.linear(x, weight, bias)


def _sum_all(xs: Sequence[Tensor], weights: Sequence[Tensor], bias: Bias) -> Tensor:
    if _exact(xs[0]):
        from weft.ops.linear import gpu

        return gpu.linear_sum([x.contiguous() for x in xs], [weight.contiguous() for weight in weights], bias)
    out = _map(xs[0], weights[0], bias)
    for x, weight in zip(xs[1:], weights[1:], strict=True):
        out.addmm_(x, weight.T) if _on_gpu(x) else cpu.add_linear(out, x, weight)
    return out


def _outer(grad: Tensor, x: Tensor) -> Tensor:
    """gradᵀ · x: what every weight learns."""
    return grad.T @ x if _on_gpu(x) or torch.is_grad_enabled() else cpu.outer(grad, x)


def _add(x: Tensor, bias: Tensor) -> Tensor:
    return x + bias if _on_gpu(x) else torch.add(x, bias, out=buffers.empty(*x.shape, dtype=x.dtype))


def _column_sums(grads: Sequence[Tensor]) -> list[Tensor]:
    if not grads or not _on_gpu(grads[0]):
        return [grad.sum(0) for grad in grads]
    from weft.ops.linear import gpu

    return gpu.column_sums([grad.contiguous() for grad in grads])


class _Linears(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, many: int, *maps: Bias) -> Any:  # pyright: ignore
        weights: Any = maps[:many]
        ctx.save_for_backward(x, *weights)
        return tuple(_map_each(x, weights, maps[many:]))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, *weights = ctx.saved_tensors
        many, need = len(weights), ctx.needs_input_grad
        if torch.is_grad_enabled():
            x_grad = sum(grad @ weight for grad, weight in zip(grads, weights, strict=True))
            sums = [grad.sum(0) for grad in grads]
        else:
            x_grad = _sum_all(grads, [weight.T for weight in weights], None) if need[0] else None
            wanted = [nth for nth in range(many) if need[2 + many + nth]]
            found = dict(zip(wanted, _column_sums([grads[nth] for nth in wanted]), strict=True))
            sums = [found.get(nth) for nth in range(many)]
        outer = [_outer(grad, x) if need[2 + nth] else None for nth, grad in enumerate(grads)]
        return x_grad, None, *outer, *(given if need[2 + many + nth] else None for nth, given in enumerate(sums))


class _Shifted(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:  # pyright: ignore
        return _add(x, bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore
        if not ctx.needs_input_grad[1]:
            return grad, None
        return grad, grad.sum(0) if torch.is_grad_enabled() else _column_sums([grad])[0]


class _Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:  # pyright: ignore
        return _add(x, y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore
        return grad, grad
