"""Combine the sources of each target by the softmax of their match."""

import torch
from torch import Tensor

from weft.errors import StructureError, WeftTypeError
from weft.ops.aggregate import in_order
from weft.ops.attend import reference
from weft.ops.attend.checks import check_edges, check_fit, check_settings
from weft.ops.attend.operator import ACTIVATED, ADDITIVE, DOT, attend_rows
from weft.ops.attend.regular import attend_regular
from weft.ops.attend.score import Activated, Dot, Score
from weft.ops.dispatch import choose, relation
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
    check_settings(score, dropout, seed)
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
