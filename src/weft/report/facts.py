"""Everything that the sections speak of, taken from a fitted model once."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from weft.data import Graph
from weft.errors import NotFittedError, WeftTypeError, WeftValueError
from weft.estimators import NodeClassifier
from weft.estimators.nodes import Fitted
from weft.report.figures import Numbers, confusion, degrees
from weft.report.markup import without_addresses

PARTS = {"train": "training", "val": "validation", "test": "test"}
"""The parts of a split in the words of the page."""


@dataclass(frozen=True, eq=False)
class Facts:
    """A model, its graph, and its answers for every node.

    y: class of each node by number, -1 where it has none that was learnt · found: probabilities (nodes, classes) ·
    part: the part that answers are judged on, test or else validation · where: the nodes in it.
    """

    estimator: NodeClassifier
    fitted: Fitted
    graph: Graph
    names: list[str]
    y: Numbers
    found: Numbers
    part: str | None
    where: Numbers

    @classmethod
    def of(cls, estimator: NodeClassifier) -> Self:
        """Refuse what nothing can be said of."""
        if not isinstance(estimator, NodeClassifier):
            raise WeftTypeError(f"write_report: expected a NodeClassifier, but got {type(estimator).__name__}.")
        if estimator.fitted_ is None:
            raise NotFittedError("write_report: nothing was learnt yet. Call fit first.")
        if estimator.graph_ is None:
            raise WeftValueError(
                "write_report: a model from a folder holds no graph, and a report speaks of one. "
                "Write the report of the estimator that was fitted."
            )
        held = [(name, part) for name, part in estimator.fitted_.split if name != "train" and len(part)]
        part, where = held[-1] if held else (None, estimator.fitted_.split.test)
        return cls(
            estimator,
            estimator.fitted_,
            estimator.graph_,
            [str(name) for name in estimator.classes_],
            estimator.y_.numpy(),
            estimator.predict_proba(),
            part,
            where.numpy(),
        )

    @cached_property
    def said(self) -> Numbers:
        """The class that each node is answered with, by number."""
        return self.found.argmax(1)

    @cached_property
    def ids(self) -> list[str]:
        return [str(each) for each in self.graph.ids.values.to_pylist()]

    @cached_property
    def degree(self) -> Numbers:
        return degrees(self.graph.over, self.graph.directed)

    @cached_property
    def matrix(self) -> Numbers:
        """The confusion of the part that answers are judged on."""
        return confusion(self.y[self.where], self.said[self.where], len(self.names))

    @cached_property
    def trained(self) -> Numbers:
        """Whether each node's answer was learnt from."""
        return self.member("train")

    def member(self, part: str) -> Numbers:
        """Whether each node is in a part."""
        found = np.zeros(self.graph.num_nodes, dtype=bool)
        found[getattr(self.fitted.split, part).numpy()] = True
        return found

    def has(self, part: str) -> bool:
        """Whether a part holds any node."""
        return len(getattr(self.fitted.split, part)) > 0

    @property
    def judged(self) -> str:
        """The part that answers are judged on, in words."""
        return "no" if self.part is None else PARTS[self.part]

    @property
    def accuracy(self) -> float:
        return float(self.estimator.metrics_[self.part]["accuracy"]) if self.part is not None else float("nan")

    @property
    def encoder(self) -> str:
        """The encoder by name, with the arguments that were given."""
        encoder: Any = self.estimator.encoder
        told: dict[str, Any] = {}
        while isinstance(encoder, partial):
            told, encoder = {**encoder.keywords, **told}, encoder.func
        name = encoder if isinstance(encoder, str) else getattr(encoder, "__name__", type(encoder).__name__)
        given = f"({', '.join(f'{key}={value!r}' for key, value in told.items())})" if told else ""
        return without_addresses(name + given) + (" + correct & smooth" if self.estimator.smooth else "")

    @property
    def weights(self) -> int:
        """How many numbers were learnt."""
        return sum(weight.numel() for weight in self.fitted.encoder.parameters())
