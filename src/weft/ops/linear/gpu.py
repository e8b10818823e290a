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

from weft.ops.gpu import launch

PIECES = 1024
"""The rows are cut into as many pieces for the sum of a column; fixed, so that the sum never depends on the device."""

ROWS, COLUMNS, STEP = 64, 64, 32
TILES = {"ROWS": ROWS, "COLUMNS": COLUMNS, "STEP": STEP, "num_warps": 4, "num_stages": 3}


def linears(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor | None]) -> list[Tensor]:
    """x · weightᵀ + bias for each weight (wide, dim); float32."""
    outs = [torch.empty(len(x), len(weight), dtype=x.dtype, device=x.device) for weight in weights]
    widths = tuple(len(weight) for weight in weights)
    grid = triton.cdiv(len(x), ROWS), triton.cdiv(max(widths), COLUMNS), len(widths)
    tensors = x, tuple(weights), tuple(biases), tuple(outs)
    launch(_linears, grid, *tensors, len(x), DIM=x.shape[1], WIDTHS=widths, **TILES)
    return outs


@triton.jit
def _linears(
    x, weights, biases, outs, rows,
    DIM: tl.constexpr, WIDTHS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    for nth in tl.static_range(len(WIDTHS)):
        if tl.program_id(2) == nth and tl.program_id(1) * COLUMNS < WIDTHS[nth]:
            here = column < WIDTHS[nth]
            sums = tl.zeros([ROWS, COLUMNS], tl.float32)
            sums = products(sums, x, weights[nth], row, column, rows, here, DIM, ROWS, STEP)
            if biases[nth] is not None:
                sums += tl.load(biases[nth] + column, here, 0)[None, :]
            at = row[:, None] * WIDTHS[nth] + column[None, :]
            tl.store(outs[nth] + at, sums, (row < rows)[:, None] & here[None, :])


def linear_sum(xs: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor | None) -> Tensor:
    """The sum of x · weightᵀ over pairs of x (rows, dim) and weight (wide, dim), plus the bias; float32."""
    wide = len(weights[0])
    out = torch.empty(len(xs[0]), wide, dtype=xs[0].dtype, device=xs[0].device)
    grid = triton.cdiv(len(out), ROWS), triton.cdiv(wide, COLUMNS)
    dims = tuple(x.shape[1] for x in xs)
    launch(_linear_sum, grid, out, tuple(xs), tuple(weights), bias, len(out), WIDE=wide, DIMS=dims, **TILES)
    return out


@triton.jit
def _linear_sum(
    out, xs, weights, bias, rows,
    WIDE: tl.constexpr, DIMS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    here = column < WIDE
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    for nth in tl.static_range(len(DIMS)):
        sums = products(sums, xs[nth], weights[nth], row, column, rows, here, DIMS[nth], ROWS, STEP)
    if bias is not None:
        sums += tl.load(bias + column, here, 0)[None, :]
    tl.store(out + row[:, None] * WIDE + column[None, :], sums, (row < rows)[:, None] & here[None, :])


@triton.jit
def products(sums, x, weight, row, column, rows, here, DIM: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr):
    """sums + x[row] · weight[column]ᵀ."""
    for start in range(0, DIM, STEP):
        inner = start + tl.arange(0, STEP)
        inside = inner < DIM
        left = tl.load(x + row[:, None] * DIM + inner[None, :], (row < rows)[:, None] & inside[None, :], 0)
        right = tl.load(weight + column[None, :] * DIM + inner[:, None], inside[:, None] & here[None, :], 0)
        sums = tl.dot(left, right, sums, input_precision="tf32x3")
    return sums


def column_sums(xs: Sequence[Tensor]) -> list[Tensor]:
    """The sum over the rows of each x, all as long as each other."""
    widths = tuple(x.shape[1] for x in xs)
    rows, widest = len(xs[0]), max(widths)
    parts = torch.empty(len(xs), PIECES, widest, dtype=torch.float32, device=xs[0].device)
    COLUMNS = min(triton.next_power_of_2(widest), 256)
    STEP = max(1, 2048 // COLUMNS)
    grid = PIECES, triton.cdiv(widest, COLUMNS), len(xs)
    length = triton.cdiv(rows, PIECES)
    launch(_column_sums, grid, parts, tuple(xs), rows, length, WIDTHS=widths, WIDEST=widest, COLUMNS=COLUMNS, STEP=STEP)
    sums = parts.sum(1)
    return [sums[nth, : x.shape[1]].to(x.dtype) for nth, x in enumerate(xs)]


@triton.jit
def _column_sums(
    parts, xs, rows, length,
    WIDTHS: tl.constexpr, WIDEST: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    piece = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    first, last = piece * length, tl.minimum((piece + 1) * length, rows)
    for nth in tl.static_range(len(WIDTHS)):
        if tl.program_id(2) == nth:
            here = column < WIDTHS[nth]
            sums = tl.zeros([STEP, COLUMNS], tl.float32)
            for start in range(first, last, STEP):
                row = start + tl.arange(0, STEP)
                alive = (row < last)[:, None] & here[None, :]
                sums += tl.load(xs[nth] + row[:, None] * WIDTHS[nth] + column[None, :], alive, 0).to(tl.float32)
            at = (piece + nth * tl.num_programs(0)) * WIDEST + column
            tl.store(parts + at, tl.sum(sums, 0), column < WIDEST)
