"""The way back through attention on a GPU, in two passes without atomics.

Target by target, the weights are recomputed from `lse` and queries (and all that is per edge) get their
gradients. Source by source, keys and values get theirs. `pair` (targets, heads, 2) holds lse and delta = ⟨grad,
out⟩ of each softmax side by side, so that the second pass finds both in one sector.

The second pass needs query and gradient of each target in any case. So it recomputes the two numbers per edge and
head that the CPU leaves behind: for 4 heads of 32 in float32 that costs 32 bytes per edge of `pair`, in place of 64
written and read again, and no memory that grows with the edges. Only where edges bring features of their own are
the two numbers left behind: recomputing would read up to 1,024 bytes per edge once more.

Bytes per edge, with s bytes per number: 4 + heads · (dim + wide) · s and all that is per edge, read and its gradient
written, in the first pass; 4 + heads · (dim + wide) · s + 8 · heads in the second, and 4 for the position of the edge
where anything is looked up by it. That is 1,028 and 1,060 for 4 heads of 32 in float32. Numbers left behind add
16 · heads + 4, and the second pass reads `edge_k` once more if the score is not linear.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from weft.ops.attend.gpu import DOT, constants, keeps, numbers, plain, score
from weft.ops.buffers import accumulator
from weft.ops.dispatch import Relation
from weft.ops.gpu import ceil_div, features, gather, launch, listed, merge_sums, put, span, stored, work, workspace
from weft.structure.compress import HEAVY

LEARNERS = 4096
"""At most so many programs share out the rows where a score's vector learns, each with one partial gradient of it;
fixed, so that the sum never depends on the device."""


def attend_backward(
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
    out: Tensor,
    lse: Tensor,
    grad: Tensor,
    needs: list[bool],
    heavy: int = HEAVY,
) -> list[Tensor]:
    """Gradients of q, k, v, vector, bias, edge_k, edge_v; an empty tensor for each that is not needed."""
    pointer, index, _, _, table = over[:5]
    targets, heads = lse.shape
    inputs = q, k, v, vector, bias, edge_k, edge_v = [plain(x) for x in (q, k, v, vector, bias, edge_k, edge_v)]
    grads = [torch.empty_like(x) if x is not None and need else None for x, need in zip(inputs, needs, strict=True)]
    sums = {"dtype": accumulator(v.dtype), "device": v.device}
    grad = grad.to(v.dtype).contiguous()  # exact: it comes from a result that was rounded to v's type
    pair = torch.empty(targets, heads, 2, **sums)
    left = None if edge_k is None and edge_v is None else torch.empty(index.shape[0], heads, 2, **sums)
    meta = constants(kind, q, v, heavy, widest=256)
    groups = ceil_div(heads, meta["H"])
    told = seed, *numbers(scale, slope, dropout)

    q_grad, k_grad, v_grad, vector_grad, *edge_grads = grads
    q_grad = torch.empty_like(q) if q_grad is None else q_grad
    many = work(pointer, table)
    programs = many if vector_grad is None else min(many, LEARNERS)
    learnt = None if vector_grad is None else torch.empty(programs, *vector.shape, **sums)
    part = workspace(table, q_grad)
    tensors = index, *inputs, *told, plain(out), plain(lse), grad, pair, left, *edge_grads
    launch(_backward_rows, (programs, groups), *listed(pointer, table), q_grad, part, learnt, many, *tensors, **meta)
    merge_sums(table, (part,), (q_grad,))
    if learnt is not None:
        grads[3] = learnt.sum(0).to(vector.dtype)

    if k_grad is not None or v_grad is not None:
        columns, index, position, _, table = over[5:]
        tensors = index, position, q, k, v, vector, bias, edge_k, *told, grad, pair, left
        parts = [workspace(table, x) for x in (k_grad, v_grad)]
        grid = work(columns, table), groups
        launch(_backward_columns, grid, *listed(columns, table), k_grad, v_grad, *parts, *tensors, **meta)
        merge_sums(table, parts, (k_grad, v_grad))
    return [x if x is not None and need else q.new_empty(0) for x, need in zip(grads, needs, strict=True)]


@triton.jit(do_not_specialize=["rows", "many", "limit"])
def _backward_rows(
    pointer, table, rows, q_grad, part, vector_grad, many, index, q, k, v, vector, bias, edge_k, edge_v,
    seed, scale, slope, gain, limit, out, lse, grad, pair, left, bias_grad, edge_k_grad, edge_v_grad,
    KIND: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr, WIDE: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr,
    H: tl.constexpr, D: tl.constexpr, W: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    """Work n, n + programs, …: one piece for each program, unless a vector learns."""
    head = tl.program_id(1) * H + tl.arange(0, H)
    column, wide = tl.arange(0, D), tl.arange(0, W)
    inside = (head < HEADS)[:, None] & (column < DIM)[None, :]
    within = head[:, None] * DIM + column[None, :]
    direction = None if vector is None else features(vector, 0, head, column, HEADS, DIM, ACC)[None, :, :]
    learnt = tl.zeros([EDGES, H, D], ACC)
    place = tl.arange(0, EDGES)
    for nth in range(tl.program_id(0).to(tl.int64), many, tl.num_programs(0)):
        number = tl.cast(nth, tl.int64)
        row, begin, count = span(number, pointer, table, rows, HEAVY)
        if count >= 0:
            query = features(q, row, head, column, HEADS, DIM, ACC)[None, :, :]
            mine = features(grad, row, head, wide, HEADS, WIDE, ACC)
            delta = tl.sum(mine * features(out, row, head, wide, HEADS, WIDE, ACC), 1)
            base = tl.load(lse + row * HEADS + head, head < HEADS, 0)
            own = pair + (row * HEADS + head) * 2
            tl.store(own, base, head < HEADS)  # chunks of one row all store the same
            tl.store(own + 1, delta, head < HEADS)
            sums = tl.zeros([EDGES, H, D], ACC)
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
                reward = tl.sum(value * mine[None, :, :], 2)
                kept = None if seed is None else keeps(seed, edge, head, gain, limit, HEADS, ACC)
                slant, share = slopes(energy, base[None, :], delta[None, :], reward, kept)
                here = alive[:, None] & (head < HEADS)[None, :]
                at = edge[:, None] * HEADS + head[None, :]
                if left is not None:
                    tl.store(left + at * 2, slant, here)
                    tl.store(left + at * 2 + 1, share, here)
                if bias_grad is not None:
                    tl.store(bias_grad + at, slant, here)
                if edge_v_grad is not None:
                    spot = edge[:, None, None] * (HEADS * WIDE) + (head[:, None] * WIDE + wide[None, :])[None, :, :]
                    tl.store(
                        edge_v_grad + spot,
                        share[:, :, None] * mine[None, :, :],
                        here[:, :, None] & (wide < WIDE)[None, None, :],
                    )
                spot = edge[:, None, None] * (HEADS * DIM) + within[None, :, :]
                if KIND == DOT:
                    sums += slant[:, :, None] * key
                    steep = slant[:, :, None] * query * scale
                else:
                    both = query + key
                    steep = tl.where(both > 0, slant[:, :, None], slant[:, :, None] * slope)
                    sums += steep
                    learnt += both * steep  # leaky(both) · slant
                    if direction is not None:
                        steep *= direction
                if edge_k_grad is not None:
                    tl.store(edge_k_grad + spot, steep, alive[:, None, None] & inside[None, :, :])
            if KIND == DOT:
                sums *= scale
            elif direction is not None:
                sums *= direction
            put(q_grad, part, number, row, rows, within, tl.sum(sums, 0), inside, HEADS * DIM)
    if vector_grad is not None:
        tl.store(vector_grad + tl.program_id(0).to(tl.int64) * (HEADS * DIM) + within, tl.sum(learnt, 0), inside)


@triton.jit(do_not_specialize=["rows", "limit"])
def _backward_columns(
    pointer, table, rows, k_grad, v_grad, part_k, part_v, index, position, q, k, v, vector, bias, edge_k,
    seed, scale, slope, gain, limit, grad, pair, left,
    KIND: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr, WIDE: tl.constexpr, HEAVY: tl.constexpr, ACC: tl.constexpr,
    H: tl.constexpr, D: tl.constexpr, W: tl.constexpr, EDGES: tl.constexpr,
):  # fmt: skip
    """`index` names the targets of a source's edges, `position` where these are stored."""
    number = tl.program_id(0).to(tl.int64)
    row, begin, count = span(number, pointer, table, rows, HEAVY)
    if count < 0:
        return
    head = tl.program_id(1) * H + tl.arange(0, H)
    column, wide = tl.arange(0, D), tl.arange(0, W)
    own = features(k, row, head, column, HEADS, DIM, ACC)[None, :, :]
    mine = features(v, row, head, wide, HEADS, WIDE, ACC)[None, :, :]
    direction = None if vector is None else features(vector, 0, head, column, HEADS, DIM, ACC)[None, :, :]
    sums, values = tl.zeros([EDGES, H, D], ACC), tl.zeros([EDGES, H, W], ACC)
    place = tl.arange(0, EDGES)
    following = tl.load(index + begin + place, place < count, 0)
    for start in range(0, count, EDGES):
        alive = start + place < count
        edge = stored(begin + start + place, position, alive)
        target = following.to(tl.int64)
        following = tl.load(index + begin + start + EDGES + place, start + EDGES + place < count, 0)
        query = gather(q, target, alive, head, column, HEADS, DIM, ACC)
        their = gather(grad, target, alive, head, wide, HEADS, WIDE, ACC)
        at = (target[:, None] * HEADS + head[None, :]) * 2
        here = alive[:, None] & (head < HEADS)[None, :]
        if left is None:
            energy = score(query, own, direction, bias, edge, alive, head, scale, slope, KIND, HEADS, ACC)
            reward = tl.sum(their * mine, 2)
            kept = None if seed is None else keeps(seed, edge, head, gain, limit, HEADS, ACC)
            base, delta = tl.load(pair + at, here, 0), tl.load(pair + at + 1, here, 0)
            slant, share = slopes(energy, base, delta, reward, kept)
        else:
            at = (edge[:, None] * HEADS + head[None, :]) * 2
            slant, share = tl.load(left + at, here, 0), tl.load(left + at + 1, here, 0)
        values += share[:, :, None] * their
        if KIND == DOT:
            sums += slant[:, :, None] * query
        else:
            both = query + own
            if edge_k is not None:
                both += gather(edge_k, edge, alive, head, column, HEADS, DIM, ACC)
            sums += tl.where(both > 0, slant[:, :, None], slant[:, :, None] * slope)
    if KIND == DOT:
        sums *= scale
    elif direction is not None:
        sums *= direction
    if k_grad is not None:
        here = (head < HEADS)[:, None] & (column < DIM)[None, :]
        put(k_grad, part_k, number, row, rows, head[:, None] * DIM + column[None, :], tl.sum(sums, 0), here, HEADS * DIM)
    if v_grad is not None:
        here = (head < HEADS)[:, None] & (wide < WIDE)[None, :]
        put(v_grad, part_v, number, row, rows, head[:, None] * WIDE + wide[None, :], tl.sum(values, 0), here, HEADS * WIDE)


@triton.jit
def slopes(energy, base, delta, reward, kept):
    """Gradient of each energy, and what the value is weighed with (EDGES, H)."""
    weight = tl.exp(energy - tl.where(base == float("-inf"), 0.0, base))  # then all energies are -inf, and this 0
    if kept is None:
        share = weight
        slant = weight * (reward - delta)
    else:
        share = weight * kept
        slant = weight * (reward * kept - delta)
    return slant, share
