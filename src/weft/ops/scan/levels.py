"""`scan` over trees and acyclic graphs: all nodes of a level at once, predecessors first."""

from torch import Tensor

from weft.ops.scan.step import Step
from weft.structure import Acyclic, Tree
from weft.types import State


def scan_levels(step: Step, x: Tensor, over: Acyclic | Tree) -> tuple[Tensor, State]:
    """x (nodes, in_dim): the output and the state of every node."""
    states: State = tuple(x.new_zeros(over.num_targets, width) for width in step.widths)
    for level, before in over.steps:
        after = step(x[level], states, before)
        states = tuple(part.index_copy(0, level, new) for part, new in zip(states, after, strict=True))
    return states[0], states
