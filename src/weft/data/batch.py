"""All that a training step sees."""

from dataclasses import dataclass

from torch import Tensor

from weft.structure import Structure


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs, the structure between them, answers, and the positions that are supervised.

    x (positions, dim) · over positions → positions · y one answer per supervised position, or None · where: which
    positions those are, None for all · whole: where the supervised stand in the data that the batch is a part of
    """

    x: Tensor
    over: Structure
    y: Tensor | None = None
    where: Tensor | None = None
    whole: Tensor | None = None

    def pick(self, out: Tensor) -> Tensor:
        """What was said of the supervised positions."""
        return out if self.where is None else out[self.where]
