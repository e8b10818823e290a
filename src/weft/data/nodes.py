"""Nodes to learn about, as numbers, and the batches they are seen in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from weft.data.batch import Batch
from weft.data.split import Split
from weft.structure import Sparse


@dataclass(frozen=True, eq=False)
class NodeData:
    """Features (nodes, dim), who speaks to whom, answers (nodes), and the split. Answers outside the split mean nothing."""

    x: Tensor
    over: Sparse
    y: Tensor
    split: Split

    def batches(self, part: str) -> Iterator[Batch]:
        """The whole graph at once, answers of one part beside it."""
        where = getattr(self.split, part)
        if len(where):
            yield Batch(self.x, self.over, self.y[where], where)

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        parts = Split(*(part.to(device) for _, part in self.split), how=self.split.how)
        return replace(self, x=self.x.to(device), over=self.over.to(device), y=self.y.to(device), split=parts)
