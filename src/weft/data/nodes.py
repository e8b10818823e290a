"""Nodes to learn about, as numbers, and the batches they are seen in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from weft.data.batch import Batch
from weft.data.loaders import Neighbours
from weft.data.split import Split
from weft.ops.sample import as_fanouts
from weft.structure import Sparse
from weft.structure.base import as_size


@dataclass(frozen=True, eq=False)
class NodeData:
    """Features (nodes, dim), who speaks to whom, answers (nodes), and the split. Answers outside the split mean nothing.

    With a `batch_size`, nodes are seen so many at a time, each with a sampled neighbourhood: at most `fanouts[0]`
    neighbours, of each of those at most `fanouts[1]`, and so on; one entry per layer of the encoder.
    """

    x: Tensor
    over: Sparse
    y: Tensor
    split: Split
    batch_size: int | None = None
    fanouts: tuple[int, ...] = (15, 10)

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            as_size(self.batch_size, "NodeData", "batch_size", least=1)
        as_fanouts(self.fanouts, "NodeData")

    def batches(self, part: str, *, seed: int = 0) -> Iterator[Batch]:
        """The whole graph at once, answers of one part beside it; or samples of it.

        Samples for training are shuffled and drawn by the seed; those of the other parts are always the same.
        """
        where = getattr(self.split, part)
        if self.batch_size is not None:
            yield from self._sampled(where, seed if part == "train" else None, self.batch_size)
        elif len(where):
            yield Batch(self.x, self.over, self.y[where], where, where)

    def _sampled(self, where: Tensor, seed: int | None, batch_size: int) -> Iterator[Batch]:
        """Samples around some of the nodes, in their order where there is no seed."""
        pieces = Neighbours(self.over, batch_size=batch_size, fanouts=self.fanouts)
        drawn = pieces.in_order(where, self.x) if seed is None else pieces.shuffled(where, self.x, seed=seed)
        for piece, x in drawn:
            seeds = piece.nodes[: piece.sizes[0]]
            yield Batch(x, piece.over, self.y[seeds], torch.arange(len(seeds)), seeds)

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        parts = Split(*(part.to(device) for _, part in self.split), how=self.split.how)
        return replace(self, x=self.x.to(device), over=self.over.to(device), y=self.y.to(device), split=parts)
