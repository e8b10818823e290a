"""The loop: events out, checkpoints aside, the same bytes every time."""

from weft.training.events import CheckpointSaved, EpochDone, Event, Finished, Started
from weft.training.schedule import Constant, Cosine, Schedule, Steps
from weft.training.trainer import History, Trainer

__all__ = [
    "CheckpointSaved",
    "Constant",
    "Cosine",
    "EpochDone",
    "Event",
    "Finished",
    "History",
    "Schedule",
    "Started",
    "Steps",
    "Trainer",
]
