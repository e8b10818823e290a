"""Three verbs over a structure, the primitives beneath them, and `explain`."""

from weft.ops.aggregate import aggregate
from weft.ops.attend import attend
from weft.ops.attend.score import Activated, Additive, Dot
from weft.ops.dispatch import Choice, Plan, explain
from weft.ops.edges import gather, reduce, softmax

__all__ = ["Activated", "Additive", "Choice", "Dot", "Plan", "aggregate", "attend", "explain", "gather", "reduce", "softmax"]
