"""What the Triton kernels share: who does which edges, tiles of features, and sums of partial results.

A program takes a whole row, or one chunk of a row of more than HEAVY edges: first come as many programs as there are
`rows`, one for each, which leave the heavy ones alone; then those for the chunks that `table` lists. The result of a
row goes to its place in the output, that of a chunk to a workspace that a second kernel merges row by row. There are
no atomics, so the same call gives the same bits. Where no row is heavy there is neither table nor workspace (None).

Indices are read as they are stored (int32) and widened before they are multiplied; sums are kept in ACC.
"""

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops import random
from weft.ops.buffers import accumulator

PARTS = 8
"""How many partial results a merging program reads at a time, for each of its warps where they are only summed."""

MOST = 4
"""How many tensors of one kind a launch takes: single arguments, because Triton unpacks a tuple slowly."""

GOLDEN, MIX_1, MIX_2 = tl.constexpr(random.GOLDEN), tl.constexpr(random.MIX_1), tl.constexpr(random.MIX_2)
REST = tl.constexpr(64 - random.BITS)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def power_of_2(number: int) -> int:
    """The smallest power of two that is at least `number` and 1. (Triton's own takes longer than a small kernel.)"""
    return 1 << max(number - 1, 0).bit_length()


def slots(parts: Sequence[Any], none: Any = None) -> list[Any]:
    """Up to MOST parts, filled up."""
    return [*parts, *[none] * (MOST - len(parts))]


@cache
def tile(heads: int, *dims: int, widest: int = 512, held: int = 512, split: bool = False) -> dict[str, int]:
    """Sizes of a tile: EDGES of H heads of D features each, powers of two; `split` lets a wide head be cut.

    H · D is at most `widest`, and the rest is shared out over the second axis of the grid; EDGES · H · D is at most
    `held` for each warp. Few edges at a time leave registers for many programs, which hide the way to memory: with
    128 features 4 edges are best for a sum and 2 for attention, 8 cost 5 % and 25 % more.
    """
    D = power_of_2(max(dims))
    if split and widest < D:
        D = widest // 2  # pads less than `widest` would
    H = min(power_of_2(heads), max(1, widest // D))
    warps = min(8, max(1, H * D // 128))
    return {"H": H, "D": D, "EDGES": max(1, min(16, held * warps // (H * D))), "num_warps": warps}


def sums_of(dtype: torch.dtype) -> Any:
    """The type, in Triton's terms, in which kernels sum numbers of `dtype`: their ACC."""
    return tl.float64 if dtype == torch.float64 else tl.float32


def launch(kernel: Any, grid: tuple[int, ...], *args: Any, **meta: Any) -> None:
    """Start a kernel on the device of its first tensor, unless there is nothing to do."""
    if 0 not in grid:
        with torch.cuda.device_of(args[0]):
            kernel[grid](*args, **meta)


def sum_in_rows(kernel: Any, groups: int, pointer: Tensor, table: Tensor, out: Tensor, *args: Any, **meta: Any) -> Tensor:
    """Run a kernel whose programs sum, and merge its chunks."""
    partial = workspace(table, out)
    launch(kernel, (work(pointer, table), groups), *listed(pointer, table), out, partial, *args, **meta)
    merge_sums(table, (partial,), (out,))
    return out


def work(pointer: Tensor, table: Tensor) -> int:
    """How many programs there are for rows and chunks."""
    return pointer.shape[0] - 1 + table.shape[0]


def listed(pointer: Tensor, table: Tensor) -> tuple[Tensor, Tensor | None, int]:
    """Rows, chunks (None without any), and how many rows there are, as kernels take them."""
    return pointer, table if table.shape[0] else None, pointer.shape[0] - 1


def workspace(table: Tensor, out: Tensor | None) -> Tensor | None:
    """Room for one partial result per chunk, as exact as sums are kept; None where there is nothing to keep."""
    if out is None or not table.shape[0]:
        return None
    return torch.empty(table.shape[0], *out.shape[1:], dtype=accumulator(out.dtype), device=out.device)


def merge_sums(table: Tensor, partial: Sequence[Tensor | None], out: Sequence[Tensor | None]) -> None:
    """out[row] = Σ partial over the chunks of each heavy row, for one or two pairs of tensors, where they are there."""
    pairs = [(part, whole) for part, whole in zip(partial, out, strict=True) if part is not None and whole is not None]
    if not pairs:
        return
    widths = [prod(whole.shape[1:]) for _, whole in pairs]
    COLUMNS, warps = min(power_of_2(max(widths)), 256), 4
    grid = table.shape[0], ceil_div(max(widths), COLUMNS), len(pairs)
    (part, whole), (part_1, whole_1) = (*pairs, (None, None))[:2]
    tensors = table, part, whole, part_1, whole_1
    sizes = {"WIDTH": widths[0], "WIDTH_1": widths[-1], "COLUMNS": COLUMNS, "PARTS": PARTS * warps}
    launch(_merge_sums, grid, *tensors, **sizes, num_warps=warps)


@triton.jit
def _merge_sums(
    table, part, whole, part_1, whole_1,
    WIDTH: tl.constexpr, WIDTH_1: tl.constexpr, COLUMNS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    row, first, count = merged_row(table)
    if count == 0:
        return
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    if tl.program_id(2) == 0:
        _merge(part, whole, row, first, count, column, WIDTH, PARTS, COLUMNS)
    elif part_1 is not None:
        _merge(part_1, whole_1, row, first, count, column, WIDTH_1, PARTS, COLUMNS)


@triton.jit
def _merge(part, whole, row, first, count, column, WIDTH: tl.constexpr, PARTS: tl.constexpr, COLUMNS: tl.constexpr):
    inside = column < WIDTH
    sums = tl.zeros([PARTS, COLUMNS], part.dtype.element_ty)
    for start in range(0, count, PARTS):
        place = start + tl.arange(0, PARTS)
        at = (first + place)[:, None] * WIDTH + column[None, :]
        sums += tl.load(part + at, (place < count)[:, None] & inside[None, :], 0)
    tl.store(whole + row * WIDTH + column, tl.sum(sums, 0), inside)


@triton.jit
def merged_row(table):
    """The row that this program merges, its first chunk and how many there are: 0 except at the first chunk."""
    first = tl.program_id(0).to(tl.int64)
    return tl.load(table + 4 * first), first, tl.load(table + 4 * first + 3).to(tl.int32)


@triton.jit
def span(number, pointer, table, rows, HEAVY: tl.constexpr):
    """Row, first edge and number of edges of a piece of work; -1 edges: a heavy row, left to its chunks."""
    if table is None:
        row = number
        begin = tl.load(pointer + row)
        count = (tl.load(pointer + row + 1) - begin).to(tl.int32)
    elif number < rows:
        row = number
        begin = tl.load(pointer + row)
        count = (tl.load(pointer + row + 1) - begin).to(tl.int32)
        count = tl.where(count > HEAVY, -1, count)
    else:
        chunk = table + 4 * (number - rows)
        row = tl.load(chunk)
        begin = tl.load(chunk + 1)
        count = (tl.load(chunk + 2) - begin).to(tl.int32)
    return row, begin, count


@triton.jit
def put(out, partial, number, row, rows, within, value, mask, WIDTH: tl.constexpr):
    """Keep the result of a piece of work: a row's in `out`, a chunk's in `partial`, WIDTH numbers each."""
    if partial is None or number < rows:
        tl.store(out + row * WIDTH + within, value, mask)
    else:
        tl.store(partial + (number - rows) * WIDTH + within, value, mask)


@triton.jit
def stored(edge, position, alive):
    """Where edges stand in storage order (int64)."""
    if position is None:
        number = edge
    else:
        number = tl.load(position + edge, alive, 0).to(tl.int64)
    return number


@triton.jit
def features(x, row, head, column, HEADS: tl.constexpr, DIM: tl.constexpr, ACC: tl.constexpr):
    """One position's numbers (H, D); zeros outside."""
    here = (head < HEADS)[:, None] & (column < DIM)[None, :]
    within = head[:, None] * DIM + column[None, :]
    return tl.load(x + row * (HEADS * DIM) + within, here, 0).to(ACC)


@triton.jit
def gather(x, place, alive, head, column, HEADS: tl.constexpr, DIM: tl.constexpr, ACC: tl.constexpr):
    """The numbers of several positions (EDGES, H, D); zeros outside and where not `alive`. `place` is int64."""
    here = (head < HEADS)[:, None] & (column < DIM)[None, :]
    within = head[:, None] * DIM + column[None, :]
    at = place[:, None, None] * (HEADS * DIM) + within[None, :, :]
    return tl.load(x + at, alive[:, None, None] & here[None, :, :], 0).to(ACC)


@triton.jit
def kept(seed, number, limit):
    """Which of the numbered things survive dropout; the same as `weft.ops.random.kept`."""
    mixed = tl.load(seed).to(tl.uint64) + number.to(tl.uint64) * GOLDEN
    mixed = (mixed ^ (mixed >> 30)) * MIX_1
    mixed = (mixed ^ (mixed >> 27)) * MIX_2
    return ((mixed ^ (mixed >> 31)) >> REST).to(tl.int32) >= limit
