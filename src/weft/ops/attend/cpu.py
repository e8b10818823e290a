"""Attention over listed edges on a CPU: scores, softmax and sum row by row; nothing of edges × dim is stored.

Forward keeps the logarithm of each softmax's mass. Backward recomputes the weights row by row (queries, biases),
leaves two numbers per edge and head behind, and sums keys and values source by source from those.

Arrays are flat. q and k hold `heads · dim` numbers per position, v holds `heads · wide`; where the score is
additive, dim is 1. `kind` is one of DOT, ADDITIVE, ACTIVATED. Edges are worked off in blocks of at most BLOCK.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from weft.ops.simd import (
    INLINE,
    KERNEL,
    add,
    exp,
    fma,
    keeps,
    largest,
    load,
    load_part,
    maximum,
    mul,
    positive,
    prefetch,
    select,
    splat,
    store,
    store_part,
    sub,
    total,
    zeros,
)

DOT, ADDITIVE, ACTIVATED = 0, 1, 2
BLOCK = 64
AHEAD = 12


@njit(**INLINE)
def ask(x, at, width):
    """Ask for one row of features."""
    for line in range(0, width, 16):
        prefetch(x, at + line)


def score_block(
    kind, lanes, whole, row, head, begin, end, index, q, k, heads, dim, vector, bias, edge_k, scale, slope, energy
):  # fmt: skip
    """Scores of up to BLOCK edges of one target and head, into `energy`.

    `whole`: dim is exactly `lanes`, so that the query stays in registers and nothing is masked. The first three
    must be constants of the kernel; each choice of them is a function of its own.
    """
    raise NotImplementedError("for compiled code only")


@overload(score_block, prefer_literal=True, jit_options=INLINE)
def _score_block(
    kind, lanes, whole, row, head, begin, end, index, q, k, heads, dim, vector, bias, edge_k, scale, slope, energy
):  # fmt: skip
    KIND, LANES, WHOLE = kind.literal_value, lanes.literal_value, whole.literal_value

    def scores(
        kind, lanes, whole, row, head, begin, end, index, q, k, heads, dim, vector, bias, edge_k, scale, slope, energy
    ):  # fmt: skip
        at_q = (row * heads + head) * dim
        if KIND == ADDITIVE:
            own = q[at_q]
            for edge in range(begin, end):
                sum_ = own + k[np.int64(index[edge]) * heads + head]
                if edge_k is not None:
                    sum_ += edge_k[edge * heads + head]
                energy[edge - begin] = sum_ if sum_ > 0 else sum_ * slope
        elif WHOLE:
            mine = load(q, at_q, LANES)
            for edge in range(begin, end):
                other = load(k, (np.int64(index[edge]) * heads + head) * dim, LANES)
                if edge_k is not None:
                    other = add(other, load(edge_k, (edge * heads + head) * dim, LANES))
                if KIND == ACTIVATED:
                    other = add(mine, other)
                    other = select(positive(other), other, mul(other, splat(other, slope)))
                    energy[edge - begin] = total(mul(other, load(vector, head * dim, LANES)))
                else:
                    energy[edge - begin] = total(mul(mine, other)) * scale
        else:
            for edge in range(begin, end):
                products = zeros(q, LANES)
                for column in range(0, dim, LANES):
                    left = dim - column
                    mine = load_part(q, at_q + column, LANES, left)
                    other = load_part(k, (np.int64(index[edge]) * heads + head) * dim + column, LANES, left)
                    if edge_k is not None:
                        other = add(other, load_part(edge_k, (edge * heads + head) * dim + column, LANES, left))
                    if KIND == ACTIVATED:
                        other = add(mine, other)
                        other = select(positive(other), other, mul(other, splat(other, slope)))
                        mine = load_part(vector, head * dim + column, LANES, left)
                    products = fma(mine, other, products)
                energy[edge - begin] = total(products) * scale
        if bias is not None:
            for edge in range(begin, end):
                energy[edge - begin] += bias[edge * heads + head]

    return scores


@cache
def attend_rows(kind: int, lanes: int, whole: bool, wide_lanes: int, wide_whole: bool) -> Any:
    """The forward kernel for widths of `lanes` (keys) and `wide_lanes` (values) at a time."""

    @njit(**KERNEL)
    def forward(
        first, last, pointer, index, q, k, v, heads, dim, wide, vector, bias, edge_k, edge_v,
        scale, slope, dropout, limit, seed, out, lse, like,
    ):  # fmt: skip
        energy, sums = np.empty(BLOCK, like.dtype), np.empty(heads * wide, like.dtype)
        highest, mass = np.empty(heads, like.dtype), np.empty(heads, like.dtype)
        final = index.shape[0] - 1
        for row in range(first, last):
            start, stop = pointer[row], pointer[row + 1]
            highest[:] = -np.inf
            mass[:] = 0
            sums[:] = 0
            for begin in range(start, stop, BLOCK):
                end = min(begin + BLOCK, stop)
                count = end - begin
                for edge in range(begin, end):
                    later = np.int64(index[min(edge + AHEAD, final)])
                    ask(k, later * heads * dim, heads * dim)
                    ask(v, later * heads * wide, heads * wide)
                for head in range(heads):
                    score_block(
                        kind, lanes, whole, row, head, begin, end, index, q, k, heads, dim, vector, bias, edge_k, scale, slope,
                        energy,
                    )  # fmt: skip
                    energy[count : (count + 15) // 16 * 16] = -np.inf
                    peaks = load(energy, 0, 16)
                    for place in range(16, count, 16):
                        peaks = maximum(load(energy, place, 16), peaks)
                    peak = max(largest(peaks), highest[head])
                    base = peak if peak > -np.inf else like.dtype.type(0)
                    shrink = np.exp(highest[head] - base)
                    weights = zeros(energy, 16)
                    for place in range(0, count, 16):
                        weight = load(energy, place, 16)
                        weight = exp(sub(weight, splat(weight, base)))
                        store(energy, place, weight)
                        weights = add(weights, weight)
                    highest[head] = peak
                    mass[head] = mass[head] * shrink + total(weights)
                    if dropout > 0:
                        for place in range(count):
                            if keeps(seed, (begin + place) * heads + head, limit):
                                energy[place] /= 1 - dropout
                            else:
                                energy[place] = 0
                    for column in range(0, wide, wide_lanes):
                        left = wide - column
                        at = head * wide + column
                        result = load_part(sums, at, wide_lanes, left)
                        result = mul(result, splat(result, shrink))
                        for edge in range(begin, end):
                            at_v = np.int64(index[edge]) * heads * wide + at
                            value = load(v, at_v, wide_lanes) if wide_whole else load_part(v, at_v, wide_lanes, left)
                            if edge_v is not None:
                                value = add(value, load_part(edge_v, edge * heads * wide + at, wide_lanes, left))
                            result = fma(value, splat(result, energy[edge - begin]), result)
                        store_part(sums, at, result, left)
            for head in range(heads):
                alive = mass[head] != 0  # also where it is NaN
                lse[row * heads + head] = highest[head] + np.log(mass[head]) if alive else -np.inf
                share = 1 / mass[head] if alive else like.dtype.type(0)
                for column in range(0, wide, wide_lanes):
                    left = wide - column
                    result = load_part(sums, head * wide + column, wide_lanes, left)
                    result = mul(result, splat(result, share))
                    store_part(out, (row * heads + head) * wide + column, result, left)

    return forward
