"""What `attend` asks of its arguments, and the sentences for those that do not fit."""

import torch
from torch import Tensor

from weft.errors import DeviceError, ShapeError, WeftTypeError, WeftValueError
from weft.ops.attend.score import Activated, Additive, Dot, Score
from weft.ops.dispatch import check_tensor
from weft.structure import Regular, Sparse


def check_settings(score: Score, dropout: float, seed: Tensor | None) -> None:
    """A score that kernels know, a share to drop, and one whole number as a seed."""
    if not isinstance(score, Dot | Additive | Activated):
        raise WeftTypeError(f"attend: score must be Dot(…), Additive(…) or Activated(…), but got {score!r}.")
    if not isinstance(dropout, int | float):
        raise WeftTypeError(f"attend: dropout must be a number, but got {dropout!r}.")
    if not 0 <= dropout < 1:
        raise WeftValueError(f"attend: dropout must be at least 0 and below 1, but got {dropout!r}.")
    if seed is not None and (not isinstance(seed, Tensor) or seed.dtype != torch.int64 or seed.numel() != 1):
        raise WeftTypeError(f"attend: seed must be a tensor with one whole number, as torch.tensor(7), but got {seed!r}.")


def check_fit(q: Tensor, k: Tensor, v: Tensor, over: Sparse, score: Score) -> None:
    """Queries, keys and values that fit the structure, the score, and each other."""
    axes = 2 if isinstance(score, Additive) else 3
    for name, x, need in (("q", q, axes), ("k", k, axes), ("v", v, 3)):
        check_tensor(x, "attend", name, over.device)
        if x.ndim != need:
            wanted = "(positions, heads)" if need == 2 else "(positions, heads, dim)"
            raise ShapeError(f"attend: {name} must be {wanted} for {type(score).__name__}, but has shape {tuple(x.shape)}.")
    if q.shape[0] != over.num_targets or k.shape[0] != over.num_sources or v.shape[0] != over.num_sources:
        raise ShapeError(
            f"attend: `over` relates {over.num_targets} targets to {over.num_sources} sources, but q has {q.shape[0]} "
            f"positions, k has {k.shape[0]} and v has {v.shape[0]}."
        )
    check_agreement(q, k, v, score)


def check_agreement(q: Tensor, k: Tensor, v: Tensor, score: Score) -> None:
    """Queries, keys, values and the vector of the score agree in element type, batch, heads and dim."""
    for name, x in (("k", k), ("v", v)):
        if x.dtype != q.dtype:
            raise WeftTypeError(f"attend: q is {q.dtype} and {name} is {x.dtype}; give all in one element type.")
    rest = 1 if isinstance(score, Additive) else 2  # the axes after the positions
    batch = q.shape[: -1 - rest]
    if k.shape[: -1 - rest] != batch or v.shape[:-3] != batch:
        raise ShapeError(f"attend: q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must agree in batch axes.")
    if q.shape[-rest:] != k.shape[-rest:] or q.shape[-rest] != v.shape[-2]:
        raise ShapeError(
            f"attend: q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must agree in heads, and q and k in dim."
        )
    if not isinstance(score, Activated):
        return
    check_tensor(score.vector, "attend", "the score's vector", None)
    if score.vector.shape != q.shape[-2:]:
        raise ShapeError(
            f"attend: the score's vector must be {tuple(q.shape[-2:])}, but has shape {tuple(score.vector.shape)}."
        )
    if score.vector.device != q.device:
        raise DeviceError(f"attend: q is on {q.device} and the score's vector on {score.vector.device}; move one.")
    check_dtype(score.vector, q, "the score's vector")


def check_edges(
    over: Sparse, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, edge_k: Tensor | None, edge_v: Tensor | None
) -> None:
    """What is per edge has one entry for each, shaped and typed like what it is added to."""
    for name, x, rest in (("bias", bias, q.shape[1:2]), ("edge_k", edge_k, k.shape[1:]), ("edge_v", edge_v, v.shape[1:])):
        if x is None:
            continue
        check_tensor(x, "attend", name, over.device)
        if x.shape != (over.num_edges, *rest):
            raise ShapeError(
                f"attend: {name} must be {(over.num_edges, *rest)}, one entry per edge, but has shape {tuple(x.shape)}."
            )
        if name != "bias":
            check_dtype(x, q, name)


def check_dtype(x: Tensor, q: Tensor, name: str) -> None:
    """x has the element type of the queries, or float32 where those are of half precision."""
    if x.dtype != q.dtype and not (x.dtype == torch.float32 and q.dtype in (torch.bfloat16, torch.float16)):
        raise WeftTypeError(f"attend: q is {q.dtype} and {name} is {x.dtype}; give all in one element type.")


def check_pairs(bias: Tensor | None, q: Tensor, v: Tensor, over: Regular) -> None:
    """A bias over a regular structure has one entry per pair of positions, or spreads to that."""
    if bias is None:
        return
    check_tensor(bias, "attend", "bias", None)
    if bias.device != q.device:
        raise DeviceError(f"attend: q is on {q.device} and bias on {bias.device}; move one.")
    need = (*v.shape[:-3], v.shape[-2], over.num_targets, over.num_sources)
    given = (*[1] * (len(need) - bias.ndim), *bias.shape)
    if len(given) != len(need) or any(size not in (1, whole) for size, whole in zip(given, need, strict=True)):
        raise ShapeError(
            f"attend: bias must spread to (…, heads, targets, sources) = {need}, but has shape {tuple(bias.shape)}."
        )
