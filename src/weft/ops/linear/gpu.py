"""Linear maps on a GPU: matrix products of float32 on the matrix units, and sums of columns.

Each float32 is told apart into two numbers of TensorFloat-32, what the first rounds away and the rest, and three of
the four products are summed (Ootomo & Yokota 2022): relative errors of 2^-22, where one such product has 2^-11 and
float32 itself 2^-24 for each addition. An infinite number becomes NaN.

The products read x once per tile of columns; rows are many and weights small. What several maps share is one launch.
Sums of columns are taken piece by piece and the pieces in their order.
"""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops.gpu import ceil_div, launch, power_of_2, slots

PIECES = 1024
"""The rows are cut into as many pieces for the sum of a column; fixed, so that the sum never depends on the device."""

ROWS, COLUMNS, STEP = 64, 64, 32
TILES = {"ROWS": ROWS, "COLUMNS": COLUMNS, "STEP": STEP, "num_warps": 4, "num_stages": 3}


def linears(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor | None]) -> list[Tensor]:
    """x · weightᵀ + bias for each of at most MOST weights (wide, dim); float32."""
    rows, dim = x.shape
    widths = [weight.shape[0] for weight in weights]
    outs = [torch.empty(rows, wide, dtype=x.dtype, device=x.device) for wide in widths]
    sizes = {f"WIDE_{nth}": wide for nth, wide in enumerate(slots(widths, 0))}
    grid = ceil_div(rows, ROWS), ceil_div(max(widths), COLUMNS), len(widths)
    launch(_linears, grid, x, *slots(weights), *slots(biases), *slots(outs), rows, DIM=dim, **sizes, **TILES)
    return outs


@triton.jit
def _linears(
    x, weight_0, weight_1, weight_2, weight_3, bias_0, bias_1, bias_2, bias_3, out_0, out_1, out_2, out_3, rows,
    DIM: tl.constexpr, WIDE_0: tl.constexpr, WIDE_1: tl.constexpr, WIDE_2: tl.constexpr, WIDE_3: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Map number n for the n-th program along the third axis."""
    if tl.program_id(2) == 0:
        _linear(x, weight_0, bias_0, out_0, rows, DIM, WIDE_0, ROWS, COLUMNS, STEP)
    if weight_1 is not None:
        if tl.program_id(2) == 1:
            _linear(x, weight_1, bias_1, out_1, rows, DIM, WIDE_1, ROWS, COLUMNS, STEP)
    if weight_2 is not None:
        if tl.program_id(2) == 2:
            _linear(x, weight_2, bias_2, out_2, rows, DIM, WIDE_2, ROWS, COLUMNS, STEP)
    if weight_3 is not None:
        if tl.program_id(2) == 3:
            _linear(x, weight_3, bias_3, out_3, rows, DIM, WIDE_3, ROWS, COLUMNS, STEP)


@triton.jit
def _linear(
    x, weight, bias, out, rows,
    DIM: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row, column = _corner(ROWS, COLUMNS)
    if tl.program_id(1) * COLUMNS < WIDE:
        here = column < WIDE
        sums = tl.zeros([ROWS, COLUMNS], tl.float32)
        sums = _products(sums, x, weight, row, column, rows, here, DIM, STEP)
        if bias is not None:
            sums += tl.load(bias + column, here, 0)[None, :]
        tl.store(out + row[:, None] * WIDE + column[None, :], sums, (row < rows)[:, None] & here[None, :])


def linear_sum(xs: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor | None) -> Tensor:
    """The sum of x · weightᵀ over at most MOST pairs of x (rows, dim) and weight (wide, dim), plus the bias; float32."""
    rows, wide = xs[0].shape[0], weights[0].shape[0]
    out = torch.empty(rows, wide, dtype=xs[0].dtype, device=xs[0].device)
    sizes = {f"DIM_{nth}": dim for nth, dim in enumerate(slots([x.shape[1] for x in xs], 0))}
    grid = ceil_div(rows, ROWS), ceil_div(wide, COLUMNS)
    launch(_linear_sum, grid, out, *slots(xs), *slots(weights), bias, rows, WIDE=wide, **sizes, **TILES)
    return out


@triton.jit
def _linear_sum(
    out, x_0, x_1, x_2, x_3, weight_0, weight_1, weight_2, weight_3, bias, rows,
    WIDE: tl.constexpr, DIM_0: tl.constexpr, DIM_1: tl.constexpr, DIM_2: tl.constexpr, DIM_3: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row, column = _corner(ROWS, COLUMNS)
    here = column < WIDE
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    sums = _products(sums, x_0, weight_0, row, column, rows, here, DIM_0, STEP)
    if x_1 is not None:
        sums = _products(sums, x_1, weight_1, row, column, rows, here, DIM_1, STEP)
    if x_2 is not None:
        sums = _products(sums, x_2, weight_2, row, column, rows, here, DIM_2, STEP)
    if x_3 is not None:
        sums = _products(sums, x_3, weight_3, row, column, rows, here, DIM_3, STEP)
    if bias is not None:
        sums += tl.load(bias + column, here, 0)[None, :]
    tl.store(out + row[:, None] * WIDE + column[None, :], sums, (row < rows)[:, None] & here[None, :])


@triton.jit
def _corner(ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The rows and columns of a program's tile."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    return row, tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)


@triton.jit
def _products(sums, x, weight, row, column, rows, here, DIM: tl.constexpr, STEP: tl.constexpr):
    """sums + x[row] · weight[column]ᵀ."""
    for start in range(0, DIM, STEP):
        inner = start + tl.arange(0, STEP)
        inside = inner < DIM
        left = tl.load(x + row[:, None] * DIM + inner[None, :], (row < rows)[:, None] & inside[None, :], 0)
        right = tl.load(weight + column[None, :] * DIM + inner[:, None], inside[:, None] & here[None, :], 0)
        sums = tl.dot(left, right, sums, input_precision="tf32x3")
    return sums


def column_sums(xs: Sequence[Tensor]) -> list[Tensor]:
    """The sum over the rows of each of at most MOST x, all as long as each other."""
    rows, widths = xs[0].shape[0], [x.shape[1] for x in xs]
    widest = max(widths)
    parts = torch.empty(len(xs), PIECES, widest, dtype=torch.float32, device=xs[0].device)
    COLUMNS = min(power_of_2(widest), 256)
    sizes = {f"WIDE_{nth}": wide for nth, wide in enumerate(slots(widths, 0))}
    sizes |= {"WIDEST": widest, "COLUMNS": COLUMNS, "STEP": max(1, 2048 // COLUMNS)}
    grid = PIECES, ceil_div(widest, COLUMNS), len(xs)
    launch(_column_sums, grid, parts, *slots(xs), rows, ceil_div(rows, PIECES), **sizes)
    sums = parts.sum(1).to(xs[0].dtype)
    return [sums[nth, :wide] for nth, wide in enumerate(widths)]


@triton.jit
def _column_sums(
    parts, x_0, x_1, x_2, x_3, rows, length,
    WIDE_0: tl.constexpr, WIDE_1: tl.constexpr, WIDE_2: tl.constexpr, WIDE_3: tl.constexpr,
    WIDEST: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Matrix number n for the n-th program along the third axis."""
    if tl.program_id(2) == 0:
        _column_sum(parts, x_0, rows, length, WIDE_0, WIDEST, COLUMNS, STEP)
    if x_1 is not None:
        if tl.program_id(2) == 1:
            _column_sum(parts, x_1, rows, length, WIDE_1, WIDEST, COLUMNS, STEP)
    if x_2 is not None:
        if tl.program_id(2) == 2:
            _column_sum(parts, x_2, rows, length, WIDE_2, WIDEST, COLUMNS, STEP)
    if x_3 is not None:
        if tl.program_id(2) == 3:
            _column_sum(parts, x_3, rows, length, WIDE_3, WIDEST, COLUMNS, STEP)


@triton.jit
def _column_sum(parts, x, rows, length, WIDE: tl.constexpr, WIDEST: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    piece = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    first, last = piece * length, tl.minimum((piece + 1) * length, rows)
    sums = tl.zeros([STEP, COLUMNS], tl.float32)
    for start in range(first, last, STEP):
        row = start + tl.arange(0, STEP)
        alive = (row < last)[:, None] & (column < WIDE)[None, :]
        sums += tl.load(x + row[:, None] * WIDE + column[None, :], alive, 0).to(tl.float32)
    at = (piece + tl.program_id(2) * tl.num_programs(0)) * WIDEST + column
    tl.store(parts + at, tl.sum(sums, 0), column < WIDEST)
