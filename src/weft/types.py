"""The words of the annotations, said once."""

from collections.abc import Sequence
from typing import Literal

from jaxtyping import Integer
from torch import Tensor

Index = Integer[Tensor, " n"]
"""A vector of whole numbers: positions, ends of edges, boundaries, parents."""

IndexLike = Index | Sequence[int]
"""What is accepted where an `Index` is meant."""

How = Literal["sum", "mean", "max", "min", "std"]
"""How the messages that reach a target are combined."""

Side = Literal["source", "target"]
"""Which end of an edge."""

Norm = Literal["symmetric", "row"]
"""How a relation is normalised by degree."""

State = tuple[Tensor, ...]
"""What a recurrence carries: hidden values first, whatever else it needs after."""

Kind = Literal["numeric", "categorical", "boolean", "date", "text", "multi", "skip"]
"""What the column of a table is."""
