"""The way back through attention on a CPU, in two passes without atomics.

Target by target, the weights are recomputed and queries (and all that is per edge) get their gradients; two
numbers per edge and head stay behind: the gradient of the score and the weight. Source by source, keys and
values are summed from those.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from weft.ops.attend.cpu import ACTIVATED, ADDITIVE, AHEAD, BLOCK, DOT, ask, score_block
from weft.ops.simd import (
    INLINE,
    KERNEL,
    add,
    exp,
    fma,
    keeps,
    load,
    load_part,
    mul,
    positive,
    select,
    splat,
    store,
    store_part,
    sub,
    total,
    zeros,
)


def match_block(lanes, whole, row, head, begin, end, index, grad, v, edge_v, heads, wide, reward):
    """⟨grad of the target, value⟩ for up to BLOCK edges of one head, into `reward`; the first two are constants."""
    raise NotImplementedError("for compiled code only")


@overload(match_block, prefer_literal=True, jit_options=INLINE)
def _match_block(lanes, whole, row, head, begin, end, index, grad, v, edge_v, heads, wide, reward):
    LANES, WHOLE = lanes.literal_value, whole.literal_value

    def match(lanes, whole, row, head, begin, end, index, grad, v, edge_v, heads, wide, reward):
        at = (row * heads + head) * wide
        if WHOLE:
            mine = load(grad, at, LANES)
            for edge in range(begin, end):
                value = load(v, (np.int64(index[edge]) * heads + head) * wide, LANES)
                if edge_v is not None:
                    value = add(value, load(edge_v, (edge * heads + head) * wide, LANES))
                reward[edge - begin] = total(mul(mine, value))
        else:
            for edge in range(begin, end):
                products = zeros(grad, LANES)
                for column in range(0, wide, LANES):
                    left = wide - column
                    value = load_part(v, (np.int64(index[edge]) * heads + head) * wide + column, LANES, left)
                    if edge_v is not None:
                        value = add(value, load_part(edge_v, (edge * heads + head) * wide + column, LANES, left))
                    products = fma(load_part(grad, at + column, LANES, left), value, products)
                reward[edge - begin] = total(products)

    return match


@cache
def backward_rows(kind: int, lanes: int, whole: bool, wide_lanes: int, wide_whole: bool) -> Any:
    """Gradients of queries, biases and edge features; `left_over` (edges, heads, 2) for `backward_columns`."""

    @njit(**KERNEL)
    def backward(
        first, last, piece, pointer, index, q, k, v, heads, dim, wide, vector, bias, edge_k, edge_v,
        scale, slope, dropout, limit, seed, out, lse, grad,
        q_grad, vector_grad, bias_grad, edge_k_grad, edge_v_grad, left_over, like,
    ):  # fmt: skip
        energy, reward = np.empty(BLOCK, like.dtype), np.empty(BLOCK, like.dtype)
        sums = np.empty(heads * dim, like.dtype)
        final = index.shape[0] - 1
        for row in range(first, last):
            start, stop = pointer[row], pointer[row + 1]
            sums[:] = 0
            for begin in range(start, stop, BLOCK):
                end = min(begin + BLOCK, stop)
                count = end - begin
                for edge in range(begin, end):
                    later = np.int64(index[min(edge + AHEAD, final)])
                    ask(k, later * heads * dim, heads * dim)
                    ask(v, later * heads * wide, heads * wide)
                for head in range(heads):
                    own = row * heads + head
                    balance = zeros(grad, 16)
                    for column in range(0, wide, 16):
                        left = wide - column
                        mine = load_part(grad, own * wide + column, 16, left)
                        balance = fma(mine, load_part(out, own * wide + column, 16, left), balance)
                    delta = total(balance)
                    score_block(
                        kind, lanes, whole, row, head, begin, end, index, q, k, heads, dim, vector, bias, edge_k, scale, slope,
                        energy,
                    )  # fmt: skip
                    match_block(wide_lanes, wide_whole, row, head, begin, end, index, grad, v, edge_v, heads, wide, reward)
                    base = lse[own]
                    alive = base != -np.inf
                    for place in range(0, count, 16):
                        weight = load(energy, place, 16)
                        store(energy, place, exp(sub(weight, splat(weight, base))))
                    for place in range(count):
                        edge = begin + place
                        weight = energy[place] if alive else like.dtype.type(0)
                        kept = like.dtype.type(1)
                        if dropout > 0:
                            kept = kept / (1 - dropout) if keeps(seed, edge * heads + head, limit) else like.dtype.type(0)
                        slant = weight * (reward[place] * kept - delta)
                        left_over[(edge * heads + head) * 2] = slant
                        left_over[(edge * heads + head) * 2 + 1] = weight * kept
                        if bias_grad is not None:
                            bias_grad[edge * heads + head] = slant
                        reward[place] = slant
                        energy[place] = weight * kept
                    if edge_v_grad is not None:
                        for place in range(count):
                            for column in range(0, wide, 16):
                                left = wide - column
                                mine = load_part(grad, own * wide + column, 16, left)
                                at = ((begin + place) * heads + head) * wide + column
                                store_part(edge_v_grad, at, mul(mine, splat(mine, energy[place])), left)
                    if kind == ADDITIVE:
                        for place in range(count):
                            edge = begin + place
                            sum_ = q[own] + k[np.int64(index[edge]) * heads + head]
                            if edge_k is not None:
                                sum_ += edge_k[edge * heads + head]
                            steep = reward[place] * (like.dtype.type(1) if sum_ > 0 else slope)
                            left_over[(edge * heads + head) * 2] = steep
                            sums[head] += steep
                            if edge_k_grad is not None:
                                edge_k_grad[edge * heads + head] = steep
                    else:
                        for column in range(0, dim, lanes):
                            left = dim - column
                            result = load_part(sums, head * dim + column, lanes, left)
                            mine = load_part(q, own * dim + column, lanes, left)
                            if kind == ACTIVATED:
                                direction = load_part(vector, head * dim + column, lanes, left)
                                at = (piece * heads + head) * dim + column
                                learnt = load_part(vector_grad, at, lanes, left)
                            for place in range(count):
                                edge = begin + place
                                at = (np.int64(index[edge]) * heads + head) * dim + column
                                other = load(k, at, lanes) if whole else load_part(k, at, lanes, left)
                                at = (edge * heads + head) * dim + column
                                if edge_k is not None:
                                    other = add(other, load_part(edge_k, at, lanes, left))
                                if kind == ACTIVATED:
                                    other = add(mine, other)
                                    slant = splat(other, reward[place])
                                    active = select(positive(other), other, mul(other, splat(other, slope)))
                                    learnt = fma(active, slant, learnt)
                                    steep = select(positive(other), slant, mul(slant, splat(slant, slope)))
                                    result = add(result, steep)
                                    if edge_k_grad is not None:
                                        store_part(edge_k_grad, at, mul(steep, direction), left)
                                else:
                                    slant = splat(other, reward[place] * scale)
                                    result = fma(other, slant, result)
                                    if edge_k_grad is not None:
                                        store_part(edge_k_grad, at, mul(mine, slant), left)
                            store_part(sums, head * dim + column, result, left)
                            if kind == ACTIVATED:
                                store_part(vector_grad, (piece * heads + head) * dim + column, learnt, left)
            for head in range(heads):
                for column in range(0, dim, 16):
                    left = dim - column
                    result = load_part(sums, head * dim + column, 16, left)
                    if kind == ACTIVATED:
                        result = mul(result, load_part(vector, head * dim + column, 16, left))
                    store_part(q_grad, (row * heads + head) * dim + column, result, left)

    return backward


@cache
def backward_columns(kind: int, lanes: int, whole: bool, wide_lanes: int, wide_whole: bool) -> Any:
    """Gradients of keys and values, source by source; `index` names targets, `position` the stored edge."""

    @njit(**KERNEL)
    def backward(
        first, last, pointer, index, position, q, k, edge_k, heads, dim, wide, vector,
        scale, slope, grad, left_over, k_grad, v_grad,
    ):  # fmt: skip
        final = index.shape[0] - 1
        for row in range(first, last):
            start, stop = pointer[row], pointer[row + 1]
            for head in range(heads):
                if head == 0:
                    for edge in range(start, min(start + BLOCK, stop)):
                        later = np.int64(index[min(edge + AHEAD, final)])
                        ask(q, later * heads * dim, heads * dim)
                        ask(grad, later * heads * wide, heads * wide)
                for column in range(0, wide, wide_lanes):
                    left = wide - column
                    result = zeros(grad, wide_lanes)
                    for edge in range(start, stop):
                        stored = edge if position is None else np.int64(position[edge])
                        at = (np.int64(index[edge]) * heads + head) * wide + column
                        value = load(grad, at, wide_lanes) if wide_whole else load_part(grad, at, wide_lanes, left)
                        result = fma(value, splat(value, left_over[(stored * heads + head) * 2 + 1]), result)
                    store_part(v_grad, (row * heads + head) * wide + column, result, left)
                if kind == ADDITIVE:
                    steep = left_over.dtype.type(0)
                    for edge in range(start, stop):
                        stored = edge if position is None else np.int64(position[edge])
                        steep += left_over[(stored * heads + head) * 2]
                    k_grad[row * heads + head] = steep
                else:
                    for column in range(0, dim, lanes):
                        left = dim - column
                        result = zeros(q, lanes)
                        own = load_part(k, (row * heads + head) * dim + column, lanes, left)
                        for edge in range(start, stop):
                            stored = edge if position is None else np.int64(position[edge])
                            at = (np.int64(index[edge]) * heads + head) * dim + column
                            other = load(q, at, lanes) if whole else load_part(q, at, lanes, left)
                            slant = splat(other, left_over[(stored * heads + head) * 2] * scale)
                            if kind == DOT:
                                result = fma(other, slant, result)
                            else:
                                other = add(own, other)
                                if edge_k is not None:
                                    at = (stored * heads + head) * dim + column
                                    other = add(other, load_part(edge_k, at, lanes, left))
                                result = add(result, select(positive(other), slant, mul(slant, splat(slant, slope))))
                        if kind == ACTIVATED:
                            result = mul(result, load_part(vector, head * dim + column, lanes, left))
                        store_part(k_grad, (row * heads + head) * dim + column, result, left)

    return backward
