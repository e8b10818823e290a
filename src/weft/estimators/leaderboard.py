"""Every model beside what is free: rows of a table, and a plain word on whether the graph helps."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from weft.data import Graph, Split
from weft.encoders import Builder
from weft.estimators.baselines import BASELINES, affordable
from weft.estimators.nodes import Fitted, answers, fit_nodes, inputs, sees_links
from weft.nn.relational.propagate import correct_and_smooth
from weft.objectives import Classify
from weft.ops.parallel import repeatable
from weft.training import Trainer


@dataclass(frozen=True)
class Row:
    """One contender: what it sees, its accuracy on both held-out parts over the seeds, and the seconds of one run."""

    name: str
    sees: str
    val: tuple[float, ...]
    test: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class Leaderboard:
    """Rows, the best on the validation part first; test answers chose nothing."""

    rows: tuple[Row, ...]

    @property
    def verdict(self) -> str:
        """Whether links help, judged by the validation part."""
        without = [row for row in self.rows if row.sees in ("nothing", "features")]
        with_links = [row for row in self.rows if row.sees not in ("nothing", "features")]
        if not without or not with_links:
            return "nothing to compare with"
        alone, linked = (max(rows, key=_val) for rows in (without, with_links))
        gain = 100 * (_val(linked) - _val(alone))
        if gain > 1:
            return f"the graph helps: {linked.name} is {gain:.1f} points above {alone.name}, which sees no links"
        if gain < -1:
            return f"the graph does not help: {alone.name}, which sees no links, is {-gain:.1f} points above {linked.name}"
        return f"the graph makes no difference: {linked.name} and {alone.name}, which sees no links, are within a point"

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.rows)
        lines = [f"{'':{width}}  {'sees':10} {'validation':>16} {'test':>16} {'seconds':>8}"]
        lines += [
            f"{row.name:{width}}  {row.sees:10} {_told(row.val)} {_told(row.test)} {row.seconds:8.2f}" for row in self.rows
        ]
        return "\n".join([*lines, self.verdict])

    def to_json(self) -> dict[str, Any]:
        """Plain values that a model file can hold."""
        return {"rows": [asdict(row) for row in self.rows], "verdict": self.verdict}


def compare(
    graph: Graph,
    y: Tensor,
    classes: int,
    split: Split,
    fitted: Sequence[tuple[str, Fitted, float]],
    *,
    encoders: Sequence[tuple[str, str | Builder]] = (),
    trainer: Trainer | None = None,
    seeds: Sequence[int] = (0,),
) -> Leaderboard:
    """Baselines, models that were fitted before, and more encoders, each with and without Correct & Smooth."""
    rows: list[Row] = []
    x = inputs(graph, fitted[0][1].features if fitted else None)
    for name, (sees, guess) in BASELINES.items():
        if affordable(name, x, classes):
            begun = time.monotonic()
            found = guess(x, graph.over, y, split, classes, 0)
            rows.append(_row(name, sees, [found], y, split, time.monotonic() - begun))
    for name, model, seconds in fitted:
        rows += _model_rows(name, [(model, graph)], y, classes, split, seconds)
    for name, encoder in encoders:
        assert trainer is not None
        begun, models = time.monotonic(), list[tuple[Fitted, Graph]]()
        for seed in seeds:
            again = replace(trainer, seed=seed, checkpoint=None)
            models.append((fit_nodes(graph, y, split, encoder, Classify(classes), again, None), graph))
        rows += _model_rows(name, models, y, classes, split, (time.monotonic() - begun) / max(len(models), 1))
    return Leaderboard(tuple(sorted(rows, key=lambda row: (-_val(row), row.name))))


def _model_rows(
    name: str, models: Sequence[tuple[Fitted, Graph]], y: Tensor, classes: int, split: Split, seconds: float
) -> list[Row]:
    known = torch.nn.functional.one_hot(y[split.train], classes).float()
    plain, smooth = list[Tensor](), list[Tensor]()
    for model, graph in models:
        found = answers(model, graph)
        plain.append(found)
        with torch.no_grad(), repeatable():
            smooth.append(correct_and_smooth(found, known, split.train, graph.over))
    rows = [_row(name, "both" if sees_links(*models[0], plain[0]) else "features", plain, y, split, seconds)]
    return [*rows, _row(f"{name} + correct & smooth", "both", smooth, y, split, seconds)]


def _row(name: str, sees: str, found: Sequence[Tensor], y: Tensor, split: Split, seconds: float) -> Row:
    parts = [tuple(_accuracy(each[part], y[part]) for each in found) for part in (split.val, split.test)]
    return Row(name, sees, parts[0], parts[1], seconds)


def _accuracy(found: Tensor, y: Tensor) -> float:
    return float((found.argmax(1) == y).double().mean()) if len(y) else float("nan")


def _val(row: Row) -> float:
    """By what rows are ranked: the validation part, or the test part where there is none."""
    values = row.val if row.val and row.val[0] == row.val[0] else row.test
    return statistics.fmean(values)


def _told(values: Sequence[float]) -> str:
    spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
    return f"{f'{statistics.fmean(values):.4f}{spread}':>16}"
