"""What happens while training, as values: printing, plotting, stopping and tests read the same stream."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Started:
    """Training begins, or goes on after `epoch` epochs that a checkpoint remembers."""

    parameters: int
    epochs: int
    epoch: int


@dataclass(frozen=True)
class EpochDone:
    """All batches were seen once. `metrics` are of the validation part, empty where there is none."""

    epoch: int
    loss: float
    rate: float
    metrics: Mapping[str, float]
    best: bool
    seconds: float


@dataclass(frozen=True)
class CheckpointSaved:
    """What was learnt so far is on disk."""

    epoch: int
    path: str


@dataclass(frozen=True)
class Finished:
    """Training is over, and the encoder holds the weights of the best epoch."""

    reason: str
    epoch: int
    best_epoch: int
    metrics: Mapping[str, float]
    seconds: float


Event = Started | EpochDone | CheckpointSaved | Finished
