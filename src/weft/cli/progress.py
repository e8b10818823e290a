"""Training as a moving line: epochs, loss, the validation metric, time left."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from weft.training import EpochDone, Event, Started


class Bars:
    """Listens to a training; on standard error, and only where somebody looks."""

    def __init__(self, quiet: bool):
        console = Console(stderr=True)
        columns = (
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
        self.task = self.progress.add_task("training", told="", total=None)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.progress.update(self.task, total=event.epochs, completed=event.epoch)
        elif isinstance(event, EpochDone):
            metrics = "  ".join(f"{name} {value:.4f}" for name, value in event.metrics.items())
            self.progress.update(self.task, completed=event.epoch, told=f"loss {event.loss:.4f}  {metrics}")
