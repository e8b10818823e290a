"""What every objective can do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor, nn

from weft.data.batch import Batch
from weft.encoders import Encoder


@dataclass(frozen=True)
class Loss:
    """One scalar to minimise, and named parts of it to report."""

    total: Tensor
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


class Objective(nn.Module, ABC):
    """What is to be learnt. Metrics are better the larger they are, unless their name ends in `_error`."""

    out_dim: int
    """How many numbers per position it needs from an encoder."""
    metric: str
    """The metric by which models are chosen."""
    tie: str
    """The metric that decides between equals."""

    @abstractmethod
    def loss(self, encoder: Encoder, batch: Batch) -> Loss:
        """One scalar to minimise."""

    @abstractmethod
    def predict(self, encoder: Encoder, batch: Batch) -> Tensor:
        """The answer in the user's terms, one row per supervised position."""

    @abstractmethod
    def metrics(self, prediction: Tensor, y: Tensor) -> Mapping[str, float]:
        """How good answers are."""

    def prefers(self, one: Mapping[str, float], other: Mapping[str, float]) -> bool:
        """Whether metrics are better than others: by `metric`, and where that is the same, by `tie`."""
        name = self.metric if one[self.metric] != other[self.metric] else self.tie
        return better(name, one[name], other[name])


def better(name: str, one: float, other: float) -> bool:
    """Whether a value of a metric is better than another."""
    return one < other if name.endswith("_error") else one > other
