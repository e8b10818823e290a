"""Run a study: as many trainings as it has seeds, and how far they are from what was published."""

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from platform import machine, python_version, system
from typing import Any

import torch
from torch import Tensor

from weft.data import Graph, PerClass, Published, Split, Splitter, datasets
from weft.data.transforms import scale_rows
from weft.encoders import Builder, builder_of
from weft.estimators import NodeClassifier
from weft.estimators.leaderboard import Leaderboard, Row
from weft.estimators.node_classifier import codes_of
from weft.nn.relational.propagate import label_propagation
from weft.ops.parallel import repeatable
from weft.reproduce.board import run_board
from weft.reproduce.study import Study
from weft.training import Cosine, Trainer
from weft.training.checkpoint import write_atomically

RESULTS = files("weft.reproduce") / "results"
NEAR = 1.0
"""Points within which a number counts as reproduced, or the published spread where that is wider."""


@dataclass(frozen=True)
class Outcome:
    """What came out: the percent of each seed, and what it was run on.

    Of a leaderboard, `rows` are all contenders, and `values` those of the first, which the validation part chose.
    """

    study: str
    values: tuple[float, ...]
    seconds: float
    date: str
    machine: str
    versions: Mapping[str, str]
    rows: tuple[Row, ...] = ()

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float:
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def board(self) -> Leaderboard | None:
        return Leaderboard(self.rows) if self.rows else None

    def verdict(self, study: Study) -> str:
        """Whether the mean is within a point, or within the published spread, of the published number."""
        if self.board is not None:
            return f"{self.rows[0].name} leads; {self.board.verdict}"
        if study.published is None:
            return "nothing was published for this protocol"
        gap = self.mean - study.published
        near = "reproduced" if abs(gap) <= room(study) else "above the published number" if gap > 0 else "not reproduced"
        return f"{near} ({gap:+.2f} points)"


def room(study: Study) -> float:
    """How many points apart still count as the same number."""
    return max(NEAR, study.spread or 0.0)


def reproduce(
    study: Study,
    *,
    seeds: int | None = None,
    heard: Callable[[int, float], object] | None = None,
    begins: Callable[[str], object] | None = None,
) -> Outcome:
    """Train once per seed and score the test part; `begins` is told every training, `heard` every seed's percent."""
    begun, found, rows = time.monotonic(), list[float](), tuple[Row, ...]()
    graph = datasets.get(study.data)
    graph = scale_rows(graph) if study.features == "rows" else graph
    many = study.seeds if seeds is None else seeds
    if study.model == "leaderboard":
        split, trainer = _splitter(study, graph, 0)(graph), _trainer(study, 0)
        rows = run_board(graph, split, study.encoders, trainer=trainer, seeds=many, begins=begins).rows
        found = [100 * share for share in rows[0].test]
    for seed in () if rows else range(many):
        if begins is not None:
            begins(f"seed {seed}")
        found.append(100 * _score(study, graph, seed))
        if heard is not None:
            heard(seed, found[-1])
    return Outcome(
        study.name,
        tuple(found),
        round(time.monotonic() - begun, 1),
        datetime.now(UTC).date().isoformat(),
        f"{system()} {machine()}, {torch.get_num_threads()} threads, Python {python_version()}",
        {name: version(name) for name in ("weft", "torch")},
        rows,
    )


def _score(study: Study, graph: Graph, seed: int) -> float:
    """One training, scored on the test part."""
    split = _splitter(study, graph, seed)
    if study.model == "label-propagation":
        return _propagated(graph, split(graph))
    model = NodeClassifier(_encoder(study), trainer=_trainer(study, seed), split=split, smooth=study.smooth, seed=seed)
    model.fit(graph)
    if study.measure == "accuracy":
        return model.score()
    from sklearn.metrics import roc_auc_score

    assert model.fitted_ is not None
    test = model.fitted_.split.test
    return float(roc_auc_score(model.y_[test], model.predict_proba()[test.numpy(), 1]))


def _splitter(study: Study, graph: Graph, seed: int) -> Splitter:
    return PerClass(study.train, study.val, seed) if study.protocol == "per-class" else Published(seed % len(graph.splits))


def _propagated(graph: Graph, split: Split) -> float:
    classes = sorted(graph.y.unique().drop_null().to_pylist()) if graph.y is not None else []
    y: Tensor = codes_of(graph, classes)
    known = torch.nn.functional.one_hot(y[split.train], len(classes)).float()
    with torch.no_grad(), repeatable():
        found = label_propagation(known, split.train, graph.over)
    return float((found[split.test].argmax(1) == y[split.test]).double().mean())


def _encoder(study: Study) -> str | Builder:
    told = dict(study.encoder or {})
    name = str(told.pop("name", "gcn"))
    return partial(builder_of(name), **told) if told else name


def _trainer(study: Study, seed: int) -> Trainer:
    told: dict[str, Any] = {**(study.trainer or {}), "seed": seed}
    if told.get("schedule") == "cosine":
        told["schedule"] = Cosine()
    return Trainer(**told)


def save(outcome: Outcome, path: Path) -> None:
    """One JSON file per study; only that of a leaderboard has rows."""
    told = {name: value for name, value in asdict(outcome).items() if name != "rows" or value}
    write_atomically(path, (json.dumps(told, indent=1) + "\n").encode())


def kept(name: str) -> Outcome | None:
    """The result that comes with this weft, if there is one."""
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        return None
    told: dict[str, Any] = json.loads(path.read_text())
    told["values"] = tuple(told["values"])
    told["rows"] = tuple(_row(row) for row in told.get("rows", ()))
    return Outcome(**told)


def _row(told: dict[str, Any]) -> Row:
    return Row(told["name"], told["sees"], tuple(told["val"]), tuple(told["test"]), told["seconds"])
