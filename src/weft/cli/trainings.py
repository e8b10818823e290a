"""A study as a moving line: which training runs, what the last one scored, time left."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Trainings:
    """Listens to a study: a bar on standard error where somebody looks, otherwise a line per training."""

    def __init__(self, total: int, *, quiet: bool, lines_at_begin: bool):
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
        )
        watched = console.is_terminal and not quiet
        self.lines, self.lines_at_begin = not quiet and not watched, lines_at_begin
        self.progress = Progress(*columns, console=console, transient=True, disable=not watched)
        self.task, self.begun = self.progress.add_task("reading", told="", total=total), 0

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.progress.stop()

    def begins(self, what: str) -> None:
        """A training begins: all before it are done."""
        self.progress.update(self.task, description=what, completed=self.begun)
        self.begun += 1
        if self.lines and self.lines_at_begin:
            print(f"  {what}", flush=True)

    def heard(self, seed: int, percent: float) -> None:
        """A training is done and scored."""
        self.progress.update(self.task, completed=self.begun, told=f"last {percent:.2f}")
        if self.lines:
            print(f"  seed {seed}: {percent:.2f}", flush=True)
