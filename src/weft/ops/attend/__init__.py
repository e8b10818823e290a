"""Combine the sources of each target by the softmax of their match."""

import torch
from torch import Tensor

from weft.errors import ShapeError, StructureError, WeftTypeError, WeftValueError
from weft.ops.aggregate import in_order
from weft.ops.attend import reference
from weft.ops.attend.operator import ACTIVATED, ADDITIVE, DOT, attend_rows
from weft.ops.attend.regular import attend_regular
from weft.ops.attend.score import Activated, Additive, Dot, Score
from weft.ops.dispatch import check_tensor, choose, relation
from weft.ops.random import new_seed
from weft.structure import Regular, Sparse, Structure


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    over: Structure,
    *,
    score: Score = Dot(),  # noqa: B008 (a frozen value)
    bias: Tensor | None = None,
    edge_k: Tensor | None = None,
    edge_v: Tensor | None = None,
    dropout: float = 0.0,
    seed: Tensor | None = None,
) -> Tensor:
    """Combine the sources of each target by the softmax of their match; without sources, zeros.

        q (targets, heads, dim), k (sources, heads, dim), v (sources, heads, wide)   gives  (targets, heads, wide)

    Over a regular structure batch axes may stand in front. What is per edge stands in the given order of the
    edges: `bias` (edges, heads) is added to the scores, `edge_k` and `edge_v` to the keys and values that come
    along the edge. Only who may speak counts, not how much an edge of `over` weighs. Dropout draws its `seed`
    from torch's generator unless one is given, and stores no mask.

    >>> over = Sparse.from_edges([0, 1], [0, 0], num_targets=1, num_sources=2)
    >>> q, k, v = torch.zeros(1, 1, 4), torch.zeros(2, 1, 4), torch.tensor([[[2.0]], [[4.0]]])
    >>> attend(q, k, v, over)
    tensor([[[3.]]])
    """
    if not isinstance(over, Structure):
        raise WeftTypeError(f"attend: over must be a structure, but got {type(over).__name__}.")
    if not isinstance(score, Dot | Additive | Activated):
        raise WeftTypeError(f"attend: score must be Dot(…), Additive(…) or Activated(…), but got {score!r}.")
    if not 0 <= dropout < 1:
        raise WeftValueError(f"attend: dropout must be at least 0 and below 1, but got {dropout!r}.")
    if isinstance(over, Regular):
        if edge_k is not None or edge_v is not None:
            raise StructureError(f"attend: {over!r} lists no edges to carry edge_k or edge_v. Use over.to_sparse().")
        return attend_regular(q, k, v, over, score, bias, dropout, seed)
    over = over.to_sparse()
    check_fit(q, k, v, over, score)
    check_edges(over, q, k, v, bias, edge_k, edge_v)
    return attend_edges(q, k, v, over, score, bias, edge_k, edge_v, dropout, seed)


def attend_edges(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    over: Sparse,
    score: Score,
    bias: Tensor | None,
    edge_k: Tensor | None,
    edge_v: Tensor | None,
    dropout: float,
    seed: Tensor | None,
) -> Tensor:
    """`attend` over listed edges, once its arguments are known to fit."""
    if dropout > 0 and seed is None:
        seed = new_seed(q.device)
    if choose(f"attend[{type(score).__name__}]", q, over) == "reference":
        return reference.attend(q, k, v, over, score, bias=bias, edge_k=edge_k, edge_v=edge_v, dropout=dropout, seed=seed)
    if over.edge is not None:
        bias, edge_k, edge_v = (x if x is None else in_order(x, over) for x in (bias, edge_k, edge_v))
    kind = DOT if isinstance(score, Dot) else ACTIVATED if isinstance(score, Activated) else ADDITIVE
    vector = score.vector if isinstance(score, Activated) else None
    tensors = [x if x is None else x.contiguous() for x in (q, k, v, vector, bias, edge_k, edge_v)]
    learns = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)
    scale = reference.scale_of(score, q) if isinstance(score, Dot) else 1.0
    slope = 0.0 if isinstance(score, Dot) else score.slope
    out, _ = attend_rows(*tensors, seed if dropout > 0 else None, relation(over, learns), kind, scale, slope, float(dropout))
    return out.to(v.dtype)


def check_fit(q: Tensor, k: Tensor, v: Tensor, over: Sparse, score: Score) -> None:
    """Queries, keys and values that fit the structure, the score, and each other."""
    axes = 2 if isinstance(score, Additive) else 3
    shape = "(positions, heads)" if axes == 2 else "(positions, heads, dim)"
    for name, x, need in (("q", q, axes), ("k", k, axes), ("v", v, 3)):
        check_tensor(x, "attend", name, over.device)
        if x.ndim != need:
            wanted = shape if name != "v" else "(positions, heads, dim)"
            raise ShapeError(f"attend: {name} must be {wanted} for {type(score).__name__}, but has shape {tuple(x.shape)}.")
        if x.dtype != q.dtype:
            raise WeftTypeError(f"attend: q is {q.dtype} and {name} is {x.dtype}; give all in one element type.")
    if q.shape[0] != over.num_targets or k.shape[0] != over.num_sources or v.shape[0] != over.num_sources:
        raise ShapeError(
            f"attend: `over` relates {over.num_targets} targets to {over.num_sources} sources, but q has {q.shape[0]} "
            f"positions, k has {k.shape[0]} and v has {v.shape[0]}."
        )
    if q.shape[1:] != k.shape[1:] or q.shape[1] != v.shape[1]:
        raise ShapeError(
            f"attend: q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must agree in heads, and q and k in dim."
        )
    if isinstance(score, Activated) and score.vector.shape != q.shape[1:]:
        raise ShapeError(f"attend: the score's vector must be {tuple(q.shape[1:])}, but has shape {tuple(score.vector.shape)}.")


def check_edges(
    over: Sparse, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, edge_k: Tensor | None, edge_v: Tensor | None
) -> None:
    """What is per edge has one entry for each, shaped like what it is added to."""
    for name, x, rest in (("bias", bias, q.shape[1:2]), ("edge_k", edge_k, k.shape[1:]), ("edge_v", edge_v, v.shape[1:])):
        if x is None:
            continue
        check_tensor(x, "attend", name, over.device)
        if x.shape != (over.num_edges, *rest):
            raise ShapeError(
                f"attend: {name} must be {(over.num_edges, *rest)}, one entry per edge, but has shape {tuple(x.shape)}."
            )
