"""The definition of `scan`: one step after the other, in plain Python."""

import torch
from torch import Tensor

from weft.ops.scan.step import Step
from weft.structure import Chain, Sparse
from weft.types import State


def scan_chain(step: Step, x: Tensor, over: Chain, state: State) -> tuple[Tensor, State]:
    """x (items, length, in_dim), state parts (items, dim): outputs (items, length, dim), the last states."""
    items, length, _ = x.shape
    alone = torch.arange(items, device=x.device)
    follows = Sparse.from_edges(alone, alone, items)  # each item after itself
    lengths = alone.new_full((items,), length) if over.lengths is None else over.lengths
    outputs: list[Tensor] = [x.new_zeros(items, step.widths[0])] * length
    for group in over.order():
        at = int(group)
        real = (at < lengths)[:, None]
        after = step(x[:, at], state, follows)
        state = tuple(torch.where(real, new, old) for new, old in zip(after, state, strict=True))
        outputs[at] = torch.where(real, after[0], 0)
    return torch.stack(outputs, 1) if length else x.new_zeros(items, 0, step.widths[0]), state
