"""Aggregation on a GPU: one program per row of the result, or per chunk of a heavy row, without atomics.

Bytes per edge, with s bytes per feature: the index (4) and the source's features (width · s) in every kernel; in
addition the weight and the position of an edge (`sum_rows`, where there are any), what won (4 · width; `won_rows`),
mean and gradient (8 · width in place of the features; `unspread_rows`). `spread_rows` reads its features twice,
the second time mostly from cache.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops.buffers import accumulator
from weft.ops.dispatch import SCALE_SOURCE, Relation
from weft.ops.gpu import (
    PARTS,
    ceil_div,
    features,
    gather,
    launch,
    listed,
    merged_row,
    put,
    span,
    stored,
    sum_in_rows,
    sums_of,
    tile,
    work,
    workspace,
)
from weft.structure.compress import HEAVY


def sum_rows(x: Tensor, weight: Tensor | None, over: Relation, heavy: int = HEAVY) -> Tensor:
    """out[target] = scale_target · Σ weight · scale_source · x[source]."""
    pointer, index, position, scale, table = over[:5]
    out = torch.empty(pointer.shape[0] - 1, *x.shape[1:], dtype=x.dtype, device=x.device)
    _, heads, dim = x.shape
    if weight is None:  # all heads are alike
        heads, dim = 1, heads * dim
    sizes = tile(heads, dim, split=True)
    groups = ceil_div(heads, sizes["H"]) * ceil_div(dim, sizes["D"])
    weight = None if weight is None else weight.contiguous()
    tensors = index, position, x.contiguous(), weight, scale, over[SCALE_SOURCE]
    meta = {"HEADS": heads, "DIM": dim, "HEAVY": heavy, "ACC": sums_of(x.dtype)}
    return sum_in_rows(_sum_rows, groups, pointer, table, out, *tensors, **meta, **sizes)


@triton.jit(do_not_specialize=["rows"])
def _sum_rows(
    pointer, table, rows, out, partial, index, position, x, weight, scale_row, scale_index,
    HEADS: tl.constexpr, DIM: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr,
    H: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    head, column = _corner(DIM, H, D)
    sums = tl.zeros([EDGES, H, D], ACC)  # added up across edges once, at the end
    place = tl.arange(0, EDGES)
    following = tl.load(index + begin + place, place < count, 0)
    for start in range(0, count, EDGES):
        alive = start + place < count
        other = following.to(tl.int64)
        following = tl.load(index + begin + start + EDGES + place, start + EDGES + place < count, 0)
        value = gather(x, other, alive, head, column, HEADS, DIM, ACC)
        if scale_index is not None:
            value *= tl.load(scale_index + other, alive, 0).to(ACC)[:, None, None]
        if weight is not None:
            at = stored(begin + start + place, position, alive)[:, None] * HEADS + head[None, :]
            value *= tl.load(weight + at, alive[:, None] & (head < HEADS)[None, :], 0).to(ACC)[:, :, None]
        sums += value
    result = tl.sum(sums, 0)
    if scale_row is not None:
        result *= tl.load(scale_row + row).to(ACC)
    here = (head < HEADS)[:, None] & (column < DIM)[None, :]
    put(out, partial, number, row, rows, head[:, None] * DIM + column[None, :], result, here, HEADS * DIM)


def dot_edges(a: Tensor, b: Tensor, over: Relation, heavy: int = HEAVY) -> Tensor:
    """out[edge, head] = scale_target · scale_source · ⟨a[target, head], b[source, head]⟩."""
    pointer, index, position, scale, table = over[:5]
    _, heads, dim = a.shape
    out = torch.empty(index.shape[0], heads, dtype=torch.promote_types(a.dtype, b.dtype), device=a.device)
    sizes = tile(heads, dim)
    tensors = index, position, a.contiguous(), b.contiguous(), scale, over[SCALE_SOURCE]
    meta = {"HEADS": heads, "DIM": dim, "HEAVY": heavy, "ACC": sums_of(out.dtype)}
    grid = work(pointer, table), ceil_div(heads, sizes["H"])
    launch(_dot_edges, grid, *listed(pointer, table), out, *tensors, **meta, **sizes)
    return out


@triton.jit(do_not_specialize=["rows"])
def _dot_edges(
    pointer, table, rows, out, index, position, a, b, scale_row, scale_index,
    HEADS: tl.constexpr, DIM: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr,
    H: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    row, begin, count = span(tl.program_id(0).to(tl.int64), pointer, table, rows, HEAVY)
    if count < 0:
        return
    head = tl.program_id(1) * H + tl.arange(0, H)
    column = tl.arange(0, D)
    mine = features(a, row, head, column, HEADS, DIM, ACC)
    if scale_row is not None:
        mine *= tl.load(scale_row + row).to(ACC)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        alive = place < count
        other = tl.load(index + begin + place, alive, 0).to(tl.int64)
        value = gather(b, other, alive, head, column, HEADS, DIM, ACC)
        result = tl.sum(value * mine[None, :, :], 2)
        if scale_index is not None:
            result *= tl.load(scale_index + other, alive, 0).to(ACC)[:, None]
        at = stored(begin + place, position, alive)[:, None] * HEADS + head[None, :]
        tl.store(out + at, result, alive[:, None] & (head < HEADS)[None, :])


def extreme_rows(x: Tensor, over: Relation, largest: bool, heavy: int = HEAVY) -> tuple[Tensor, Tensor]:
    """The extreme of each feature over the sources of a target, and the stored edge of it (-1: no edge)."""
    pointer, index, _, _, table = over[:5]
    width, x = x.shape[1], x.contiguous()
    out = torch.empty(pointer.shape[0] - 1, width, dtype=x.dtype, device=x.device)
    winner = torch.empty(out.shape, dtype=torch.int32, device=x.device)
    sizes, groups, meta = _columns(x, heavy)
    meta["LARGEST"] = largest
    partial = workspace(table, out)
    won = None if partial is None else torch.empty(partial.shape, dtype=torch.int32, device=x.device)
    tensors = out, winner, partial, won, index, x
    launch(_extreme_rows, (work(pointer, table), groups), *listed(pointer, table), *tensors, **meta, **sizes)
    if partial is not None:
        sizes["EDGES"] = PARTS
        launch(_merge_extremes, (table.shape[0], groups), table, partial, won, out, winner, **meta, **sizes)
    return out, winner


@triton.jit(do_not_specialize=["rows"])
def _extreme_rows(
    pointer, table, rows, out, winner, partial, part_won, index, x,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, LARGEST: tl.constexpr,
    D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    here = (column < WIDTH)[None, :]
    best, won = tl.full([EDGES, D], float("-inf"), ACC), tl.full([EDGES, D], -1, tl.int32)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        alive = (place < count)[:, None] & here
        other = tl.load(index + begin + place, place < count, 0).to(tl.int64)
        value = tl.load(x + other[:, None] * WIDTH + column[None, :], alive, 0).to(ACC)
        best, won = _better(best, won, value, (begin + place).to(tl.int32)[:, None], alive, LARGEST)
    value, edge = _whole_extreme(best, won, LARGEST)
    put(out, partial, number, row, rows, column, value, column < WIDTH, WIDTH)
    put(winner, part_won, number, row, rows, column, edge, column < WIDTH, WIDTH)


@triton.jit
def _merge_extremes(
    table, partial, part_won, out, winner,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, LARGEST: tl.constexpr,
    D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    row, first, count = merged_row(table)
    if count == 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    here = (column < WIDTH)[None, :]
    best, won = tl.full([EDGES, D], float("-inf"), ACC), tl.full([EDGES, D], -1, tl.int32)
    for start in range(0, count, EDGES):
        part = start + tl.arange(0, EDGES)
        alive = (part < count)[:, None] & here
        at = (first + part)[:, None] * WIDTH + column[None, :]
        best, won = _better(best, won, tl.load(partial + at, alive, 0), tl.load(part_won + at, alive, 0), alive, LARGEST)
    value, edge = _whole_extreme(best, won, LARGEST)
    tl.store(out + row * WIDTH + column, value, column < WIDTH)
    tl.store(winner + row * WIDTH + column, edge, column < WIDTH)


@triton.jit
def _better(best, won, value, edge, alive, LARGEST: tl.constexpr):
    """A running extreme (of -value for the smallest) that lets NaN through and keeps the first of equals."""
    if not LARGEST:
        value = -value
    takes = alive & ((won < 0) | (value > best) | ((value != value) & (best == best)))
    return tl.where(takes, value, best), tl.where(takes, edge, won)


@triton.jit
def _whole_extreme(best, won, LARGEST: tl.constexpr):
    """The extreme over all running extremes, and of equals the first edge it came along; 0 and -1 without any."""
    nan = best != best
    spoilt = tl.max(nan.to(tl.int32), 0) > 0
    top = tl.max(tl.where(nan, float("-inf"), best), 0)
    reached = tl.where(spoilt[None, :], nan, best == top[None, :]) & (won >= 0)
    first = tl.min(tl.where(reached, won, 2147483647), 0)
    some = tl.max(won, 0) >= 0
    if not LARGEST:
        top = -top
    return tl.where(some, tl.where(spoilt, float("nan"), top), 0.0), tl.where(some, first, -1)


def won_rows(grad: Tensor, winner: Tensor, over: Relation, heavy: int = HEAVY) -> Tensor:
    """Each source collects the gradient of the features it won; `over` is seen from the sources."""
    pointer, index, position, _, table = over[:5]
    out = torch.empty(pointer.shape[0] - 1, grad.shape[1], dtype=grad.dtype, device=grad.device)
    sizes, groups, meta = _columns(grad, heavy)
    tensors = index, position, grad.contiguous(), winner.contiguous()
    return sum_in_rows(_won_rows, groups, pointer, table, out, *tensors, **meta, **sizes)


@triton.jit(do_not_specialize=["rows"])
def _won_rows(
    pointer, table, rows, out, partial, index, position, grad, winner,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    sums = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        alive = (place < count)[:, None] & (column < WIDTH)[None, :]
        other = tl.load(index + begin + place, place < count, 0).to(tl.int64)
        edge = stored(begin + place, position, place < count).to(tl.int32)
        at = other[:, None] * WIDTH + column[None, :]
        mine = tl.load(winner + at, alive, -1) == edge[:, None]
        sums += tl.where(mine, tl.load(grad + at, alive, 0).to(ACC), 0.0)
    put(out, partial, number, row, rows, column, tl.sum(sums, 0), column < WIDTH, WIDTH)


def spread_rows(x: Tensor, over: Relation, heavy: int = HEAVY) -> tuple[Tensor, Tensor]:
    """Variance and mean of each feature over the sources of a target (both zero without edges)."""
    pointer, index, _, _, table = over[:5]
    x = x.contiguous()
    variance = torch.empty(pointer.shape[0] - 1, x.shape[1], dtype=accumulator(x.dtype), device=x.device)
    mean = torch.empty_like(variance)
    sizes, groups, meta = _columns(x, heavy)
    means, variances = workspace(table, mean), workspace(table, mean)
    tensors = mean, variance, means, variances, index, x
    launch(_spread_rows, (work(pointer, table), groups), *listed(pointer, table), *tensors, **meta, **sizes)
    if means is not None:
        sizes["EDGES"] = PARTS
        launch(_merge_spreads, (table.shape[0], groups), table, pointer, means, variances, mean, variance, **meta, **sizes)
    return variance, mean


@triton.jit(do_not_specialize=["rows"])
def _spread_rows(
    pointer, table, rows, mean, variance, means, variances, index, x,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    many = tl.maximum(count, 1).to(ACC)
    first = tl.load(index + begin, count > 0, 0).to(tl.int64) * WIDTH
    anchor = tl.load(x + first + column, (count > 0) & (column < WIDTH), 0).to(ACC)  # equal numbers: variance exactly 0
    sums = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        other = tl.load(index + begin + place, place < count, 0).to(tl.int64)
        alive = (place < count)[:, None] & (column < WIDTH)[None, :]
        value = tl.load(x + other[:, None] * WIDTH + column[None, :], alive, 0).to(ACC)
        sums += tl.where(alive, value - anchor[None, :], 0.0)
    middle = anchor + tl.sum(sums, 0) / many
    squares = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        other = tl.load(index + begin + place, place < count, 0).to(tl.int64)
        alive = (place < count)[:, None] & (column < WIDTH)[None, :]
        away = tl.load(x + other[:, None] * WIDTH + column[None, :], alive, 0).to(ACC) - middle[None, :]
        squares += tl.where(alive, away * away, 0.0)
    put(mean, means, number, row, rows, column, middle, column < WIDTH, WIDTH)
    put(variance, variances, number, row, rows, column, tl.sum(squares, 0) / many, column < WIDTH, WIDTH)


@triton.jit
def _merge_spreads(
    table, pointer, means, variances, mean, variance,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    """Within chunks and between them (Chan, Golub & LeVeque 1983), so that nothing cancels."""
    row, first, count = merged_row(table)
    if count == 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    many = (tl.load(pointer + row + 1) - tl.load(pointer + row)).to(ACC)
    anchor = tl.load(means + first * WIDTH + column, column < WIDTH, 0)
    sums = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        part = start + tl.arange(0, EDGES)
        share = _share(table, first + part, part < count, ACC)
        alive = (part < count)[:, None] & (column < WIDTH)[None, :]
        value = tl.load(means + (first + part)[:, None] * WIDTH + column[None, :], alive, 0)
        sums += (value - anchor[None, :]) * share[:, None]
    middle = anchor + tl.sum(sums, 0) / many
    squares = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        part = start + tl.arange(0, EDGES)
        share = _share(table, first + part, part < count, ACC)
        alive = (part < count)[:, None] & (column < WIDTH)[None, :]
        at = (first + part)[:, None] * WIDTH + column[None, :]
        away = tl.load(means + at, alive, 0) - middle[None, :]
        squares += (tl.load(variances + at, alive, 0) + away * away) * share[:, None]
    tl.store(mean + row * WIDTH + column, middle, column < WIDTH)
    tl.store(variance + row * WIDTH + column, tl.sum(squares, 0) / many, column < WIDTH)


@triton.jit
def _share(table, chunk, alive, ACC: tl.constexpr):
    """How many edges each chunk has."""
    return (tl.load(table + 4 * chunk + 2, alive, 0) - tl.load(table + 4 * chunk + 1, alive, 0)).to(ACC)


def unspread_rows(x: Tensor, mean: Tensor, grad: Tensor, over: Relation, heavy: int = HEAVY) -> Tensor:
    """Each source collects grad[target] · (x[source] - mean[target]); `over` is seen from the sources."""
    pointer, index, _, _, table = over[:5]
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    sizes, groups, meta = _columns(x, heavy)
    tensors = index, x.contiguous(), mean.contiguous(), grad.contiguous()
    return sum_in_rows(_unspread_rows, groups, pointer, table, out, *tensors, **meta, **sizes)


@triton.jit(do_not_specialize=["rows"])
def _unspread_rows(
    pointer, table, rows, out, partial, index, x, mean, grad,
    WIDTH: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr, D: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    column = tl.program_id(1) * D + tl.arange(0, D)
    own = tl.load(x + row * WIDTH + column, column < WIDTH, 0).to(ACC)
    sums = tl.zeros([EDGES, D], ACC)
    for start in range(0, count, EDGES):
        place = start + tl.arange(0, EDGES)
        alive = (place < count)[:, None] & (column < WIDTH)[None, :]
        other = tl.load(index + begin + place, place < count, 0).to(tl.int64)
        at = other[:, None] * WIDTH + column[None, :]
        sums += tl.load(grad + at, alive, 0) * (own[None, :] - tl.load(mean + at, alive, 0))
    put(out, partial, number, row, rows, column, tl.sum(sums, 0), column < WIDTH, WIDTH)


@triton.jit
def _corner(DIM: tl.constexpr, H: tl.constexpr, D: tl.constexpr):
    """The heads and the features of each that this program takes; a wide head is cut into several."""
    cuts: tl.constexpr = (DIM + D - 1) // D
    group = tl.program_id(1)
    return group // cuts * H + tl.arange(0, H), group % cuts * D + tl.arange(0, D)


def _columns(x: Tensor, heavy: int) -> tuple[dict[str, int], int, dict[str, Any]]:
    """Tile sizes, programs per row and constants of the kernels that take features one by one."""
    width = x.shape[1]
    sizes = {name: size for name, size in tile(1, width, split=True).items() if name != "H"}
    return sizes, ceil_div(width, sizes["D"]), {"WIDTH": width, "HEAVY": heavy, "ACC": sums_of(x.dtype)}
