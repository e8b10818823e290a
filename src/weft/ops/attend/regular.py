"""Attention over regular structures, by torch's fused attention. q, k, v are (…, positions, heads, dim)."""

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from weft.errors import WeftValueError
from weft.ops.aggregate.regular import check_positions, speaking
from weft.ops.attend.checks import check_agreement, check_pairs
from weft.ops.attend.score import Activated, Additive, Dot, Score
from weft.ops.dispatch import record
from weft.structure import Causal, Dense, Regular, Window

BLOCK = 64
"""A window is attended in blocks of at least so many positions, or of half of what it spans: a power of two."""


def attend_regular(
    q: Tensor, k: Tensor, v: Tensor, over: Regular, score: Score, bias: Tensor | None, dropout: float, seed: Tensor | None
) -> Tensor:
    """`attend` over a regular structure; `bias` is (…, heads, targets, sources)."""
    additive = isinstance(score, Additive)
    for name, x, size in (("q", q, over.num_targets), ("k", k, over.num_sources), ("v", v, over.num_sources)):
        check_positions(x, over, "attend", name, size, axis=-2 if additive and name != "v" else -3)
    check_agreement(q, k, v, score)
    check_pairs(bias, q, v, over)
    if seed is not None:
        raise WeftValueError("attend: over a regular structure dropout follows torch's own generator; leave seed out.")
    if over.num_targets == 0 or over.num_sources == 0:
        return v.sum(-3, keepdim=True).expand(*v.shape[:-3], over.num_targets, *v.shape[-2:])
    if isinstance(score, Dot) and isinstance(over, Dense | Causal | Window):
        return _fused(q, k, v, over, score, bias, dropout)
    return _through_edges(q, k, v, over, score, bias, dropout)


def _fused(q: Tensor, k: Tensor, v: Tensor, over: Regular, score: Dot, bias: Tensor | None, dropout: float) -> Tensor:
    record("attend[Dot]", "torch.scaled_dot_product_attention")
    q, k, v = (x.transpose(-3, -2) for x in (q, k, v))  # (…, heads, positions, dim)
    speaks = speaking(over, q.device)
    if speaks is not None:  # whatever stands beyond a length, NaN included
        beyond = ~speaks[:, None, :, None]
        q = q.masked_fill(beyond, 0) if over.num_targets == over.num_sources else q
        k, v = k.masked_fill(beyond, 0), v.masked_fill(beyond, 0)
    if isinstance(over, Window) and bias is None and sum(_stretch(over)[1:]) < over.length:
        return _banded(q, k, v, over, score, dropout, speaks).transpose(-3, -2)
    square_causal = isinstance(over, Causal) and over.num_targets == over.num_sources
    if speaks is None and bias is None and (isinstance(over, Dense) or square_causal):
        out = scaled_dot_product_attention(q, k, v, is_causal=square_causal, dropout_p=dropout, scale=score.scale)
        return out.transpose(-3, -2)
    allowed = over.allowed(q.device)
    if speaks is not None:
        allowed = allowed & speaks[:, None, None, :]
        if over.num_targets == over.num_sources:
            allowed = allowed & speaks[:, None, :, None]
    return _masked(q, k, v, allowed, bias, score, dropout).transpose(-3, -2)


def _masked(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, bias: Tensor | None, score: Dot, dropout: float) -> Tensor:
    """Fused attention where `allowed`; a target that may hear nobody gets zeros, and no NaN on the way back."""
    hears = allowed.any(-1, keepdim=True)
    mask: Tensor = allowed | ~hears
    if bias is not None:
        mask = bias.to(q.dtype).masked_fill(~mask, -torch.inf)
    out = scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=score.scale)
    return torch.where(hears, out, 0)


def _stretch(over: Window) -> tuple[int, int, int, int]:
    """The length of a block, and of what it sees: whole blocks behind, itself, whole blocks ahead."""
    block = BLOCK
    while 2 * block < over.left + over.right:
        block *= 2
    return block, -(-over.left // block) * block, block, -(-over.right // block) * block


def _banded(q: Tensor, k: Tensor, v: Tensor, over: Window, score: Dot, dropout: float, speaks: Tensor | None) -> Tensor:
    """Blocks of positions, each beside the blocks it sees: time and memory follow length · window."""
    block, behind, _, ahead = _stretch(over)
    count, length = -(-over.length // block), over.length
    short, width = count * block - length, behind + block + ahead
    items = 1 if speaks is None else speaks.shape[0]  # items of one mask are further heads

    def fold(x: Tensor) -> Tensor:  # (…, heads, count, positions, dim) → (items · count, … · heads, positions, dim)
        x = x.reshape(items, -1, *x.shape[-3:]).transpose(1, 2)
        return x.flatten(0, 1)

    def seen(x: Tensor) -> Tensor:  # (…, length, rest) → (…, count, width, rest)
        x = pad(x, (0, 0, behind, short + ahead)).unflatten(-2, (-1, block))
        return torch.cat([x[..., first : first + count, :, :] for first in range(width // block)], dim=-2)

    away = torch.arange(width, device=q.device)[None, :] - torch.arange(block, device=q.device)[:, None] - behind
    near = (away >= -over.left) & (away <= over.right)  # (block, width)
    there = q.new_ones(1, length) if speaks is None else speaks.to(q.dtype)
    allowed = near & (seen(there[..., None]) > 0).transpose(-1, -2)  # (items, count, block, width)
    if speaks is not None:
        allowed = allowed & pad(speaks, (0, short)).reshape(items, count, block, 1)
    blocks = pad(q, (0, 0, 0, short)).unflatten(-2, (count, block))
    out = _masked(fold(blocks), fold(seen(k)), fold(seen(v)), allowed.flatten(0, 1)[:, None], None, score, dropout)
    out = out.unflatten(0, (items, count)).transpose(1, 2)  # (items, … · heads, count, block, dim)
    return out.reshape(*q.shape[:-2], count * block, v.shape[-1])[..., :length, :]


def _through_edges(q: Tensor, k: Tensor, v: Tensor, over: Regular, score: Score, bias: Tensor | None, dropout: float) -> Tensor:
    """The same over the written-out edges: items of a batch are further heads, or blocks where lengths differ."""
    from weft.ops.attend import attend_edges

    record(f"attend[{type(score).__name__}]", "edges", ("fused", f"{type(score).__name__} over {type(over).__name__}"))
    sparse = over.to_sparse().to(q.device)
    source, target = sparse.ends()
    heads, features = v.shape[-2], (1 if isinstance(score, Additive) else 2)
    batch = v.shape[:-3]
    if over.lengths is not None:
        flat_q, flat_k, flat_v = (x.flatten(0, 1) for x in (q, k, v))
        if bias is not None:
            item, to = target // over.num_targets, target % over.num_targets
            whole = bias.expand(*batch, heads, over.num_targets, over.num_sources)
            bias = whole[item, :, to, source % over.num_sources]
        out = attend_edges(flat_q, flat_k, flat_v, sparse, score, bias, None, None, dropout, None)
        return out.unflatten(0, (batch[0], over.num_targets))

    def fold(x: Tensor, features: int) -> Tensor:  # (…, positions, heads, …) → (positions, … · heads, …)
        first = x.movedim(-1 - features, 0)
        return first.reshape(first.shape[0], -1, *first.shape[len(batch) + 2 :])

    if bias is not None:
        whole = bias.expand(*batch, heads, over.num_targets, over.num_sources)
        bias = whole[..., target, source].movedim(-1, 0).flatten(1)
    if isinstance(score, Activated):
        items = torch.Size(batch).numel()
        score = Activated(score.vector.repeat(items, 1), score.slope)
    out = attend_edges(fold(q, features), fold(k, features), fold(v, 2), sparse, score, bias, None, None, dropout, None)
    return out.reshape(over.num_targets, *batch, heads, v.shape[-1]).movedim(0, -3)
