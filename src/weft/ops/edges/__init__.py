"""The primitives beneath the verbs: positions to edges, edges to targets, and a softmax in between.

What is known per edge stands in the order in which the edges were given.
"""

import torch
from torch import Tensor

from weft.errors import ShapeError, WeftTypeError, WeftValueError
from weft.ops.aggregate import check_how, combine
from weft.ops.dispatch import check_tensor
from weft.structure import Sparse, Structure
from weft.types import How, Side


def gather(x: Tensor, over: Structure, side: Side) -> Tensor:
    """Positions to edges: x of the source, or of the target, of every edge.

    >>> over = Sparse.from_edges([0, 1], [1, 1], num_targets=2)
    >>> gather(torch.tensor([10.0, 20.0]), over, "source").tolist()
    [10.0, 20.0]
    """
    if side not in ("source", "target"):
        raise WeftValueError(f"gather: side must be 'source' or 'target', but got {side!r}.")
    sparse = listed(over, "gather")
    size = sparse.num_sources if side == "source" else sparse.num_targets
    check_tensor(x, "gather", "x", sparse.device)
    if x.ndim < 1 or x.shape[0] != size:
        raise ShapeError(f"gather: `over` has {size} {side}s, but x has shape {tuple(x.shape)}.")
    towards = sparse.incidence if side == "target" else sparse.reversed().incidence
    return combine(x, towards.reversed(), "sum", None, f"gather[{side}]")


def reduce(messages: Tensor, over: Structure, *, how: How = "sum") -> Tensor:
    """Edges to targets: the messages that reach each target, combined; zeros where none does.

    >>> over = Sparse.from_edges([0, 1], [1, 1], num_targets=2)
    >>> reduce(torch.tensor([10.0, 20.0]), over, how="mean").tolist()
    [0.0, 15.0]
    """
    check_how(how, "reduce")
    sparse = listed(over, "reduce")
    check_per_edge(messages, sparse, "reduce", "messages")
    return combine(messages, sparse.incidence, how, None, f"reduce[{how}]")


def softmax(scores: Tensor, over: Structure) -> Tensor:
    """Normalise edge scores per target: positive, and one in sum over the edges of a target.

    >>> over = Sparse.from_edges([0, 1], [1, 1], num_targets=2)
    >>> softmax(torch.tensor([0.0, 0.0]), over).tolist()
    [0.5, 0.5]
    """
    sparse = listed(over, "softmax")
    check_per_edge(scores, sparse, "softmax", "scores")
    highest = gather(reduce(scores.detach(), sparse, how="max"), sparse, "target")
    weight = torch.exp(scores - torch.where(highest.isinf(), 0.0, highest))
    mass = reduce(weight, sparse)
    return weight / gather(torch.where(mass == 0, 1.0, mass), sparse, "target")


def listed(over: Structure, caller: str) -> Sparse:
    """The edges of a structure that lists them; a regular one would first have to write them out."""
    if not isinstance(over, Structure):
        raise WeftTypeError(f"{caller}: over must be a structure, but got {type(over).__name__}.")
    return over.to_sparse()


def check_per_edge(values: Tensor, over: Sparse, caller: str, name: str) -> None:
    """One entry per edge, on the device of the structure."""
    check_tensor(values, caller, name, over.device)
    if values.ndim < 1 or values.shape[0] != over.num_edges:
        raise ShapeError(f"{caller}: `over` has {over.num_edges} edges, but {name} has shape {tuple(values.shape)}.")
