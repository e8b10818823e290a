"""Attention over listed edges on a GPU: scores, softmax and sum row by row; nothing of edges × dim is stored.

One program takes all heads of a row (or of a chunk of a heavy row), EDGES sources at a time, and keeps a running
softmax per head and place in the tile, so that threads need not agree before the end of the row. A chunk leaves
what a row would, its own result and the logarithm of its mass, and a second kernel weighs the chunks of a row by
those. Where the score is additive, dim is 1 and the vector is one.

Bytes per edge, with s bytes per number: 4 + heads · (dim + wide) · s, that is 1,028 for 4 heads of 32 in float32;
heads · s more with `bias`, as much again as k or v with `edge_k` or `edge_v`. Dropout costs none.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops import random
from weft.ops.buffers import accumulator
from weft.ops.dispatch import Relation
from weft.ops.gpu import (
    PARTS,
    ceil_div,
    features,
    gather,
    kept,
    launch,
    listed,
    merged_row,
    power_of_2,
    put,
    span,
    sums_of,
    tile,
    work,
    workspace,
)
from weft.structure.compress import HEAVY

DOT, ADDITIVE, ACTIVATED = tl.constexpr(0), 1, 2


def attend_rows(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    vector: Tensor | None,
    bias: Tensor | None,
    edge_k: Tensor | None,
    edge_v: Tensor | None,
    seed: Tensor | None,
    over: Relation,
    kind: int,
    scale: float,
    slope: float,
    dropout: float,
    heavy: int = HEAVY,
) -> tuple[Tensor, Tensor]:
    """The attended values (targets, heads, wide), and the logarithm of each softmax's mass (targets, heads)."""
    pointer, index, _, _, table = over[:5]
    _, heads, wide = v.shape
    out = torch.empty(pointer.shape[0] - 1, heads, wide, dtype=accumulator(v.dtype), device=v.device)
    lse = torch.empty(out.shape[0], heads, dtype=out.dtype, device=v.device)
    meta = constants(kind, q, v, heavy, widest=512)
    groups = ceil_div(heads, meta["H"])
    tensors = index, *map(plain, (q, k, v, vector, bias, edge_k, edge_v, seed)), *numbers(scale, slope, dropout)
    parts, masses = workspace(table, out), workspace(table, lse)
    results = out, lse, parts, masses
    launch(_attend_rows, (work(pointer, table), groups), *listed(pointer, table), *results, *tensors, **meta)
    if parts is not None:
        sizes = {name: meta[name] for name in ("HEADS", "WIDE", "ACC", "H", "W", "num_warps")}
        launch(_merge_attended, (table.shape[0], groups), table, parts, masses, out, lse, PARTS=PARTS, **sizes)
    return out, lse


def constants(kind: int, q: Tensor, v: Tensor, heavy: int, widest: int) -> dict[str, Any]:
    """What the kernels of one call are compiled for."""
    _, heads, wide = v.shape
    dim = 1 if kind == ADDITIVE else q.shape[2]
    sizes = tile(heads, dim, wide, widest=widest, held=512 if kind == ADDITIVE else 256)
    shared = {"HEADS": heads, "DIM": dim, "WIDE": wide, "HEAVY": heavy, "ACC": sums_of(v.dtype)}
    return {"KIND": kind, **shared, **sizes, "W": power_of_2(wide), "D": power_of_2(dim)}


def numbers(scale: float, slope: float, dropout: float) -> tuple[float, float, float, int]:
    """What the kernels of one call are told: scale, slope, the gain of what dropout keeps, and its threshold."""
    return scale, slope, 1 / (1 - dropout), random.threshold(dropout)


def plain(x: Tensor | None) -> Tensor | None:
    return None if x is None else x.contiguous()


@triton.jit(do_not_specialize=["rows", "limit"])
def _attend_rows(
    pointer, table, rows, out, lse, parts, masses,
    index, q, k, v, vector, bias, edge_k, edge_v, seed, scale, slope, gain, limit,
    KIND: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr, WIDE: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr,
    H: tl.constexpr, D: tl.constexpr, W: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    head = tl.program_id(1) * H + tl.arange(0, H)
    column, wide = tl.arange(0, D), tl.arange(0, W)
    query = features(q, row, head, column, HEADS, DIM, ACC)[None, :, :]
    direction = None if vector is None else features(vector, 0, head, column, HEADS, DIM, ACC)[None, :, :]
    highest, mass, sums = nothing(EDGES, H, W, ACC)
    place = tl.arange(0, EDGES)
    following = tl.load(index + begin + place, place < count, 0)
    for start in range(0, count, EDGES):
        alive = start + place < count
        edge = begin + start + place
        source = following.to(tl.int64)
        following = tl.load(index + edge + EDGES, start + EDGES + place < count, 0)
        key = gather(k, source, alive, head, column, HEADS, DIM, ACC)
        if edge_k is not None:
            key += gather(edge_k, edge, alive, head, column, HEADS, DIM, ACC)
        energy = score(query, key, direction, bias, edge, alive, head, scale, slope, KIND, HEADS, ACC)
        value = gather(v, source, alive, head, wide, HEADS, WIDE, ACC)
        if edge_v is not None:
            value += gather(edge_v, edge, alive, head, wide, HEADS, WIDE, ACC)
        kept = None if seed is None else keeps(seed, edge, head, gain, limit, HEADS, ACC)
        highest, mass, sums = absorb(highest, mass, sums, energy, kept, value)
    logarithm, mean = settle(highest, mass, sums)
    inside = (head < HEADS)[:, None] & (wide < WIDE)[None, :]
    put(lse, masses, number, row, rows, head, logarithm, head < HEADS, HEADS)
    put(out, parts, number, row, rows, head[:, None] * WIDE + wide[None, :], mean, inside, HEADS * WIDE)


@triton.jit
def _merge_attended(
    table, parts, masses, out, lse,
    HEADS: tl.constexpr, WIDE: tl.constexpr, ACC: tl.constexpr, H: tl.constexpr, W: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    row, first, count = merged_row(table)
    if count == 0:
        return
    head = tl.program_id(1) * H + tl.arange(0, H)
    wide = tl.arange(0, W)
    highest, mass, sums = nothing(PARTS, H, W, ACC)
    for start in range(0, count, PARTS):
        part = start + tl.arange(0, PARTS)
        alive = part < count
        energy = per_edge(masses, first + part, alive, head, float("-inf"), HEADS, ACC)
        value = gather(parts, first + part, alive, head, wide, HEADS, WIDE, ACC)
        highest, mass, sums = absorb(highest, mass, sums, energy, None, value)
    logarithm, mean = settle(highest, mass, sums)
    inside = (head < HEADS)[:, None] & (wide < WIDE)[None, :]
    tl.store(lse + row * HEADS + head, logarithm, head < HEADS)
    tl.store(out + row * (HEADS * WIDE) + head[:, None] * WIDE + wide[None, :], mean, inside)


@triton.jit
def score(
    query, key, direction, bias, edge, alive, head, scale, slope, KIND: tl.constexpr, HEADS: tl.constexpr, ACC: tl.constexpr
):
    """How well queries and keys match (EDGES, H); -inf where not `alive`."""
    if KIND == DOT:
        energy = tl.sum(query * key, 2) * scale
    else:
        both = query + key
        both = tl.where(both > 0, both, both * slope)
        energy = tl.sum(both if direction is None else both * direction, 2)
    if bias is not None:
        energy += per_edge(bias, edge, alive, head, 0.0, HEADS, ACC)
    return tl.where(alive[:, None], energy, float("-inf"))


@triton.jit
def per_edge(x, edge, alive, head, other, HEADS: tl.constexpr, ACC: tl.constexpr):
    """One number per edge and head (EDGES, H)."""
    return tl.load(x + edge[:, None] * HEADS + head[None, :], alive[:, None] & (head < HEADS)[None, :], other).to(ACC)


@triton.jit
def keeps(seed, edge, head, gain, limit, HEADS: tl.constexpr, ACC: tl.constexpr):
    """What dropout multiplies each weight with (EDGES, H); it keeps the same as `weft.ops.random.kept`."""
    number = edge[:, None] * HEADS + head[None, :]
    return tl.where(kept(seed, number, limit), gain, 0.0).to(ACC)


@triton.jit
def nothing(EDGES: tl.constexpr, H: tl.constexpr, W: tl.constexpr, ACC: tl.constexpr):
    """Running softmaxes that have seen nothing: highest energy, mass and sum, one of each per head and place in a tile."""
    return tl.full([EDGES, H], float("-inf"), ACC), tl.zeros([EDGES, H], ACC), tl.zeros([EDGES, H, W], ACC)


@triton.jit
def absorb(highest, mass, sums, energy, kept, value):
    """Each running softmax takes in one more energy (EDGES, H) and value (EDGES, H, W)."""
    peak = tl.maximum(highest, energy)
    base = tl.where(peak == float("-inf"), 0.0, peak)
    shrink = tl.exp(highest - base)
    weight = tl.exp(energy - base)
    mass = mass * shrink + weight
    if kept is not None:
        weight *= kept
    return peak, mass, sums * shrink[:, :, None] + weight[:, :, None] * value


@triton.jit
def settle(highest, mass, sums):
    """Join the running softmaxes of each head: the logarithm of the whole mass, and the mean under the whole softmax.

    Where nothing has weight these are -inf and zeros.
    """
    peak = tl.max(highest, 0)
    share = tl.exp(highest - tl.where(peak == float("-inf"), 0.0, peak)[None, :])
    mass, sums = tl.sum(mass * share, 0), tl.sum(sums * share[:, :, None], 0)
    alive = mass != 0  # NaN counts as alive, and comes through
    whole = tl.where(alive, mass, 1.0)
    return tl.where(alive, peak + tl.log(whole), float("-inf")), sums / whole[:, None]
