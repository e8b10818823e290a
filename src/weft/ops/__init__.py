"""Three verbs over a structure, the primitives beneath them, and `explain`."""

from weft.ops.aggregate import aggregate
from weft.ops.attend import attend
from weft.ops.attend.score import Activated, Additive, Dot
from weft.ops.dispatch import Choice, Plan, explain
from weft.ops.dropout import dropout
from weft.ops.edges import gather, reduce, softmax
from weft.ops.scan import Gates, GRUStep, LinearStep, LSTMStep, RNNStep, Step, scan

__all__ = [
    "Activated",
    "Additive",
    "Choice",
    "Dot",
    "GRUStep",
    "Gates",
    "LSTMStep",
    "LinearStep",
    "Plan",
    "RNNStep",
    "Step",
    "aggregate",
    "attend",
    "dropout",
    "explain",
    "gather",
    "reduce",
    "scan",
    "softmax",
]
