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

from weft.data import Graph, PerClass, Published, Split, datasets
from weft.data.transforms import scale_rows
from weft.encoders import Builder, builder_of
from weft.estimators import NodeClassifier
from weft.estimators.node_classifier import codes_of
from weft.nn.relational.propagate import label_propagation
from weft.ops.parallel import repeatable
from weft.reproduce.study import Study
from weft.training import Cosine, Trainer
from weft.training.checkpoint import write_atomically

RESULTS = files("weft.reproduce") / "results"
NEAR = 1.0
"""Points within which a number counts as reproduced, or the published spread where that is wider."""


@dataclass(frozen=True)
class Outcome:
    """What came out: the percent of each seed, and what it was run on."""

    study: str
    values: tuple[float, ...]
    seconds: float
    date: str
    machine: str
    versions: Mapping[str, str]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float:
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0

    def verdict(self, study: Study) -> str:
        """Whether the mean is within a point, or within the published spread, of the published number."""
        if study.published is None:
            return "nothing was published for this protocol"
        gap = self.mean - study.published
        room = max(NEAR, study.spread or 0.0)
        near = "reproduced" if abs(gap) <= room else "above the published number" if gap > 0 else "not reproduced"
        return f"{near} ({gap:+.2f} points)"


def reproduce(study: Study, *, seeds: int | None = None, heard: Callable[[int, float], object] | None = None) -> Outcome:
    """Train once per seed and score the test part; `heard` is told every seed's percent."""
    begun, found = time.monotonic(), list[float]()
    graph = datasets.get(study.data)
    graph = scale_rows(graph) if study.features == "rows" else graph
    for seed in range(study.seeds if seeds is None else seeds):
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
    )


def _score(study: Study, graph: Graph, seed: int) -> float:
    """One training, scored on the test part."""
    split = PerClass(study.train, study.val, seed) if study.protocol == "per-class" else Published(seed % len(graph.splits))
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
    """One JSON file per study."""
    write_atomically(path, (json.dumps(asdict(outcome), indent=1) + "\n").encode())


def kept(name: str) -> Outcome | None:
    """The result that comes with this weft, if there is one."""
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        return None
    told: dict[str, Any] = json.loads(path.read_text())
    told["values"] = tuple(told["values"])
    return Outcome(**told)
