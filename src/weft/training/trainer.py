"""The loop."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from weft.data.batch import Batch
from weft.encoders import Encoder
from weft.errors import CheckpointError, WeftValueError
from weft.objectives import Objective
from weft.ops.parallel import repeatable
from weft.ops.random import mixed
from weft.training import checkpoint
from weft.training.events import CheckpointSaved, EpochDone, Event, Finished, Started
from weft.training.schedule import Constant, Schedule

OPTIMIZERS = {
    name.lower(): getattr(torch.optim, name)
    for name in ("SGD", "Adam", "AdamW", "NAdam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "RAdam")
}


class Data(Protocol):
    """What can be learnt from."""

    def batches(self, part: str, *, seed: int = 0) -> Iterator[Batch]:
        """The batches of train, val or test; nothing where the part is empty. What is drawn follows from the seed."""
        ...


@dataclass(frozen=True)
class History:
    """What happened, epoch by epoch, and how it ended."""

    epochs: tuple[EpochDone, ...]
    end: Finished


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """How to learn: rate, number of epochs, when to stop, what to keep.

    The same seed gives the same bytes, for any number of threads, and whether or not training was interrupted and went
    on from a `checkpoint` file, which is written at most every `every` seconds. With a validation part, the weights of
    its best epoch are kept, and training stops when it did not improve for `patience` epochs.

    >>> Trainer(optimizer="adma")
    Traceback (most recent call last):
    weft.errors.WeftValueError: Trainer: there is no optimizer 'adma'. All: adadelta, adagrad, adam, adamax, adamw, ...
    """

    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 5e-4
    optimizer: str = "adam"
    schedule: Schedule = field(default_factory=Constant)
    clip: float | None = None
    patience: int | None = None
    seed: int = 0
    checkpoint: str | PathLike[str] | None = None
    every: float = 30.0

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise WeftValueError(f"Trainer: there is no optimizer {self.optimizer!r}. All: {', '.join(sorted(OPTIMIZERS))}.")
        for name, least in (("epochs", 1), ("lr", 0.0), ("weight_decay", 0.0), ("every", 0.0)):
            if not getattr(self, name) >= least:
                raise WeftValueError(f"Trainer: {name} must be at least {least}, but got {getattr(self, name)!r}.")

    def fit(self, encoder: Encoder, objective: Objective, data: Data) -> History:
        """Run to the end; what happened."""
        events = list(self.run(encoder, objective, data))
        end = events[-1]
        assert isinstance(end, Finished)
        return History(tuple(event for event in events if isinstance(event, EpochDone)), end)

    def run(self, encoder: Encoder, objective: Objective, data: Data) -> Iterator[Event]:
        """Train, yielding what happens; whoever stops asking stops the training."""
        path = None if self.checkpoint is None else Path(self.checkpoint)
        state = _State(self, encoder, objective, "" if path is None else checkpoint.fingerprint(data.batches("train")))
        if path is not None and path.exists():
            state.restore(*checkpoint.read(path), path)
        yield Started(sum(weight.numel() for weight in state.weights.values()), self.epochs, state.epoch)
        begun = saved = time.monotonic()
        while not state.over():
            with repeatable(), _drawing(mixed(self.seed, state.epoch)):
                done = state.learn(data)
            yield done
            if path is not None and (state.over() or time.monotonic() - saved >= self.every):
                checkpoint.write(path, state.tensors(), state.plain())
                saved = time.monotonic()
                yield CheckpointSaved(state.epoch, str(path))
        state.take_best()
        reason = f"no better for {self.patience} epochs" if state.epoch < self.epochs else "all epochs done"
        yield Finished(reason, state.epoch, state.best_epoch, state.best_metrics, time.monotonic() - begun)


class _State:
    """Everything that changes while training; with the seed, all that a checkpoint has to hold."""

    def __init__(self, trainer: Trainer, encoder: Encoder, objective: Objective, data: str):
        self.trainer, self.encoder, self.objective, self.data = trainer, encoder, objective, data
        self.weights = {f"{name}.{key}": value for name, part in self._parts() for key, value in part.named_parameters()}
        learnt = list(self.weights.values())
        self.optimizer = OPTIMIZERS[trainer.optimizer](learnt, lr=trainer.lr, weight_decay=trainer.weight_decay)
        self.epoch, self.step, self.steps_per_epoch = 0, 0, 1
        self.best_epoch, self.best_metrics = 0, dict[str, float]()
        self.best: dict[str, Tensor] = {}

    def _parts(self) -> tuple[tuple[str, nn.Module], ...]:
        return (("encoder", self.encoder), ("objective", self.objective))

    def over(self) -> bool:
        """Whether all epochs are done, or nothing became better for too long."""
        patience = self.trainer.patience
        waited = self.epoch - self.best_epoch
        return self.epoch >= self.trainer.epochs or (patience is not None and bool(self.best) and waited >= patience)

    def learn(self, data: Data) -> EpochDone:
        """One epoch: every batch of the training part, then the validation part."""
        begun, total, count = time.monotonic(), 0.0, 0
        self.encoder.train()
        self.objective.train()
        for batch in data.batches("train", seed=mixed(self.trainer.seed, self.epoch)):
            total, count = total + self._learn_batch(batch), count + 1
        self.steps_per_epoch = max(count, 1)
        self.epoch += 1
        metrics = self._score(data)
        best = self._is_best(metrics)
        if best:
            self.best_epoch, self.best_metrics = self.epoch, dict(metrics)
            self.best = {name: weight.detach().clone() for name, weight in self.weights.items()}
        rate = self.optimizer.param_groups[0]["lr"]
        return EpochDone(self.epoch, total / max(count, 1), rate, metrics, best, time.monotonic() - begun)

    def _learn_batch(self, batch: Batch) -> float:
        steps = self.trainer.epochs * self.steps_per_epoch
        for group in self.optimizer.param_groups:
            group["lr"] = self.trainer.lr * self.trainer.schedule.factor(self.step, steps)
        self.optimizer.zero_grad()
        loss = self.objective.loss(self.encoder, batch).total
        if not bool(loss.isfinite()):
            raise WeftValueError(
                f"Trainer: the loss is {float(loss.detach())} in epoch {self.epoch + 1}. Try a smaller lr "
                f"(it is {self.trainer.lr}), or clip=1.0; features must be finite and of moderate size."
            )
        loss.backward()
        if self.trainer.clip is not None:
            nn.utils.clip_grad_norm_(self.weights.values(), self.trainer.clip)
        self.optimizer.step()
        self.step += 1
        return float(loss.detach())

    def _score(self, data: Data) -> Mapping[str, float]:
        self.encoder.eval()
        self.objective.eval()
        with torch.no_grad():
            parts = [(self.objective.predict(self.encoder, batch), batch.y) for batch in data.batches("val")]
        if not parts:
            return {}
        answers = torch.cat([y for _, y in parts if y is not None])
        return self.objective.metrics(torch.cat([prediction for prediction, _ in parts]), answers)

    def _is_best(self, metrics: Mapping[str, float]) -> bool:
        """Without a validation part the last epoch is the best."""
        return not metrics or not self.best or self.objective.prefers(metrics, self.best_metrics)

    def take_best(self) -> None:
        """Leave the encoder with the weights of the best epoch."""
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(self.best[name])
        self.encoder.eval()
        self.objective.eval()

    def tensors(self) -> dict[str, Tensor]:
        """The tensors a checkpoint holds."""
        now = {f"now.{name}": weight.detach() for name, weight in self.weights.items()}
        best = {f"best.{name}": weight for name, weight in self.best.items()}
        return now | best | checkpoint.flatten_optimizer(self.optimizer)

    def plain(self) -> dict[str, Any]:
        """The plain values a checkpoint holds."""
        counts = {"epoch": self.epoch, "step": self.step, "steps_per_epoch": self.steps_per_epoch}
        return {"made_with": self._made_with(), **counts, "best_epoch": self.best_epoch, "best_metrics": self.best_metrics}

    def _made_with(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to fit."""
        trainer = asdict(self.trainer)
        settings = {name: trainer[name] for name in ("lr", "weight_decay", "optimizer", "clip", "seed")}
        shapes = {name: list(weight.shape) for name, weight in self.weights.items()}
        return settings | {
            "epochs": self.trainer.epochs,
            "schedule": repr(self.trainer.schedule),
            "weights": shapes,
            "data": self.data,
        }

    def restore(self, tensors: Mapping[str, Tensor], plain: Mapping[str, Any], path: Path) -> None:
        """Go on from a checkpoint; one of another training is refused."""
        wanted = self._made_with()
        for name, value in wanted.items():
            if plain.get("made_with", {}).get(name) != value:
                found = plain.get("made_with", {}).get(name)
                raise CheckpointError(
                    f"Trainer: {path} was made by another training: its {name} is {found!r}, this one's is {value!r}. "
                    "Remove the file to start anew, or name another."
                )
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(tensors[f"now.{name}"])
        self.best = {name: tensors[f"best.{name}"].to(weight.device) for name, weight in self.weights.items()}
        checkpoint.restore_optimizer(self.optimizer, tensors)
        self.epoch, self.step, self.steps_per_epoch = plain["epoch"], plain["step"], plain["steps_per_epoch"]
        self.best_epoch, self.best_metrics = plain["best_epoch"], plain["best_metrics"]


@contextmanager
def _drawing(seed: int) -> Generator[None]:
    """Random numbers of one epoch follow from the seed; the user's own sequence goes on afterwards as if nothing was."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
