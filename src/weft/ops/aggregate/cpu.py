"""Aggregation on a CPU: one row of the result at a time, in registers over all its edges.

Arrays are flat; `width = heads · dim` numbers belong to one position. Rows are those of the relation in the
direction of the call, `index` names the other end of each edge, `position` (or None) where its weight is stored.
"""

from typing import Any

import numpy as np
from numba import njit

from weft.ops.simd import (
    KERNEL,
    add,
    exceeds,
    fma,
    load,
    load_part,
    mul,
    prefetch,
    same_int,
    select,
    splat,
    splat_int,
    store,
    store_part,
    sub,
    total,
    zeros,
)

AHEAD = 16
"""How many edges ahead the rows to come are asked for."""


def _sum_tile(lanes: int, whole: bool) -> Any:
    """The sum over one row of `lanes` neighbouring features (the first `left` of them, unless `whole`)."""

    @njit(**KERNEL)
    def tile(row, head, column, left, pointer, index, position, x, heads, width, weight, scale_row, scale_index, out):
        result = zeros(x, lanes)
        final = index.shape[0] - 1
        for edge in range(pointer[row], pointer[row + 1]):
            later = np.int64(index[min(edge + AHEAD, final)]) * width + column
            for line in range(0, lanes, 16):
                prefetch(x, later + line)
            at = np.int64(index[edge]) * width + column
            value = load(x, at, lanes) if whole else load_part(x, at, lanes, left)
            if weight is not None:
                stored = edge if position is None else np.int64(position[edge])
                factor = weight[stored * heads + head]
                if scale_index is not None:
                    factor *= scale_index[index[edge]]
                result = fma(value, splat(value, factor), result)
            elif scale_index is not None:
                result = fma(value, splat(value, scale_index[index[edge]]), result)
            else:
                result = add(result, value)
        if scale_row is not None:
            result = mul(result, splat(result, scale_row[row]))
        if whole:
            store(out, row * width + column, result)
        else:
            store_part(out, row * width + column, result, left)

    return tile


_sum_128, _sum_32, _sum_rest = _sum_tile(128, True), _sum_tile(32, True), _sum_tile(32, False)


@njit(**KERNEL)
def sum_rows(first, last, pointer, index, position, x, heads, dim, weight, scale_row, scale_index, out):
    """out[row] = scale_row[row] · Σ over its edges of weight · scale_index · x[index]."""
    width = heads * dim
    for row in range(first, last):
        for head in range(heads):
            column, end = head * dim, (head + 1) * dim
            while column < end:
                left = end - column
                if left >= 128:
                    _sum_128(
                        row, head, column, left, pointer, index, position, x, heads, width, weight, scale_row, scale_index, out
                    )
                    column += 128
                elif left >= 32:
                    _sum_32(
                        row, head, column, left, pointer, index, position, x, heads, width, weight, scale_row, scale_index, out
                    )
                    column += 32
                else:
                    _sum_rest(
                        row, head, column, left, pointer, index, position, x, heads, width, weight, scale_row, scale_index, out
                    )
                    column = end


@njit(**KERNEL)
def dot_edges(first, last, pointer, index, position, a, b, heads, dim, scale_row, scale_index, out):
    """out[edge, head] = scale_row · scale_index · ⟨a[row, head], b[index, head]⟩."""
    width = heads * dim
    for row in range(first, last):
        for edge in range(pointer[row], pointer[row + 1]):
            other = np.int64(index[edge])
            stored = edge if position is None else np.int64(position[edge])
            factor = 1.0
            if scale_row is not None:
                factor *= scale_row[row]
            if scale_index is not None:
                factor *= scale_index[other]
            for head in range(heads):
                products = zeros(a, 32)
                for column in range(head * dim, (head + 1) * dim, 32):
                    left = (head + 1) * dim - column
                    mine = load_part(a, row * width + column, 32, left)
                    products = fma(mine, load_part(b, other * width + column, 32, left), products)
                out[stored * heads + head] = total(products) * factor


def _extreme(sign: float) -> Any:
    """The largest (sign 1) or smallest (sign -1) of each feature over a row, and the edge it came along."""

    @njit(**KERNEL)
    def extreme_rows(first, last, pointer, index, x, width, out, winner):
        final = index.shape[0] - 1
        for row in range(first, last):
            begin, end = pointer[row], pointer[row + 1]
            for column in range(0, width, 32):
                left = width - column
                best = zeros(x, 32)
                won = splat_int(best, np.int32(-1))
                if begin < end:
                    best = load_part(x, np.int64(index[begin]) * width + column, 32, left)
                    best = mul(best, splat(best, sign))
                    won = splat_int(best, np.int32(begin))
                for edge in range(begin + 1, end):
                    later = np.int64(index[min(edge + AHEAD, final)]) * width + column
                    prefetch(x, later)
                    prefetch(x, later + 16)
                    value = load_part(x, np.int64(index[edge]) * width + column, 32, left)
                    value = mul(value, splat(value, sign))
                    better = exceeds(value, best)
                    best = select(better, value, best)
                    won = select(better, splat_int(best, np.int32(edge)), won)
                store_part(out, row * width + column, mul(best, splat(best, sign)), left)
                store_part(winner, row * width + column, won, left)

    return extreme_rows


max_rows, min_rows = _extreme(1.0), _extreme(-1.0)


@njit(**KERNEL)
def won_rows(first, last, pointer, index, position, grad, winner, width, out):
    """Each source collects the gradient of the features it won: out[source] = Σ grad[target] where it won."""
    final = index.shape[0] - 1
    for row in range(first, last):
        for column in range(0, width, 32):
            left = width - column
            result = zeros(grad, 32)
            nothing = zeros(grad, 32)
            for edge in range(pointer[row], pointer[row + 1]):
                later = np.int64(index[min(edge + AHEAD, final)]) * width + column
                prefetch(grad, later)
                prefetch(winner, later)
                at = np.int64(index[edge]) * width + column
                stored = edge if position is None else np.int64(position[edge])
                mine = same_int(load_part(winner, at, 32, left), splat_int(result, np.int32(stored)))
                result = add(result, select(mine, load_part(grad, at, 32, left), nothing))
            store_part(out, row * width + column, result, left)


@njit(**KERNEL)
def spread_rows(first, last, pointer, index, x, width, mean, variance):
    """Mean and variance of each feature over a row, in two passes, so that nothing cancels.

    Counted from the first edge, so that equal numbers have a variance of exactly zero.
    """
    for row in range(first, last):
        begin, end = pointer[row], pointer[row + 1]
        share = 1.0 / max(end - begin, 1)
        for column in range(0, width, 32):
            left = width - column
            start = zeros(x, 32)
            if begin < end:
                start = load_part(x, np.int64(index[begin]) * width + column, 32, left)
            middle = zeros(x, 32)
            for edge in range(begin + 1, end):
                middle = add(middle, sub(load_part(x, np.int64(index[edge]) * width + column, 32, left), start))
            middle = fma(middle, splat(middle, share), start)
            squares = zeros(x, 32)
            for edge in range(begin, end):
                away = sub(load_part(x, np.int64(index[edge]) * width + column, 32, left), middle)
                squares = fma(away, away, squares)
            store_part(mean, row * width + column, middle, left)
            store_part(variance, row * width + column, mul(squares, splat(squares, share)), left)


@njit(**KERNEL)
def unspread_rows(first, last, pointer, index, x, mean, grad, width, out):
    """Each source collects grad[target] · (x[source] - mean[target])."""
    for row in range(first, last):
        for column in range(0, width, 32):
            left = width - column
            own = load_part(x, row * width + column, 32, left)
            result = zeros(x, 32)
            for edge in range(pointer[row], pointer[row + 1]):
                at = np.int64(index[edge]) * width + column
                away = sub(own, load_part(mean, at, 32, left))
                result = fma(load_part(grad, at, 32, left), away, result)
            store_part(out, row * width + column, result, left)
