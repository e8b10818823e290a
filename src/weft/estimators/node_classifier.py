"""Label the nodes of a graph."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from weft.data import Graph, Splitter
from weft.encoders import Builder
from weft.errors import DataError, WeftValueError
from weft.estimators.base import Answers, Estimator, require_fitted
from weft.estimators.certificate import Certificate, smoothing
from weft.estimators.leaderboard import Leaderboard, compare
from weft.estimators.nodes import Fitted, Listener, answers, as_graph, checked, choose_split, fit_nodes, graph_or_own, vectors
from weft.estimators.scores import class_scores, part_scores
from weft.nn.relational.propagate import correct_and_smooth
from weft.objectives import Classify
from weft.ops.parallel import repeatable
from weft.training import Trainer

if TYPE_CHECKING:
    import pyarrow as pa

ClassWeight = Literal["balanced"] | None


class NodeClassifier(Estimator):
    """Label the nodes of a graph.

        encoder        a name (`weft list encoders`) or a function of (in_dim, out_dim), e.g. partial(gcn, dim=128)
        trainer        how long and how fast to learn
        split          how to part the labelled nodes; by default as the graph says, else 60 / 20 / 20 of each class
        class_weight   "balanced" makes rare classes count as much as common ones
        smooth         correct and smooth the answers along the edges by what is known (Huang et al. 2021)
        batch_size     learn from so many nodes at a time, each with a sampled neighbourhood, instead of the whole graph
        fanouts        at most so many neighbours of a node, of those, and so on: one number per layer
        seed           the same seed gives the same bytes

    After `fit`: `classes_`, `metrics_` of each part, and in `fitted_` encoder, features, split, certificate and history.

    >>> graph = Graph.from_edges([(0, 1), (1, 2), (3, 4), (4, 5)], y=["a", "a", "a", "b", "b", "b"], x=np.eye(6))
    >>> NodeClassifier(trainer=Trainer(epochs=5)).fit(graph).predict().shape
    (6,)
    """

    def __init__(
        self,
        encoder: str | Builder = "gcn",
        *,
        trainer: Trainer | None = None,
        split: Splitter | None = None,
        class_weight: ClassWeight = None,
        smooth: bool = False,
        batch_size: int | None = None,
        fanouts: tuple[int, ...] = (15, 10),
        seed: int = 0,
    ):
        self.encoder, self.trainer, self.split = encoder, trainer, split
        self.batch_size, self.fanouts = batch_size, fanouts
        self.class_weight: ClassWeight = class_weight
        self.smooth, self.seed = smooth, seed
        self.fitted_: Fitted | None = None
        self.graph_: Graph | None = None
        self.leaderboard_: Leaderboard | None = None

    def fit(self, data: Graph, *, listener: Listener | None = None) -> Self:
        """Learn from the training part, stop by the validation part; `listener` hears every event."""
        graph = as_graph(data, "NodeClassifier.fit")
        split = choose_split(graph, self.split, classes=True)
        self.classes_, y = encode_classes(graph, split.train)
        objective = Classify(len(self.classes_), class_weight=self._weights(y[split.train]))
        trainer = Trainer(epochs=200, patience=50, seed=self.seed) if self.trainer is None else self.trainer
        held_out = torch.cat([split.val, split.test])
        unknown = held_out[y[held_out] < 0]
        if len(unknown):
            assert graph.y is not None
            raise DataError(
                f"NodeClassifier.fit: node {graph.ids.values[int(unknown[0])].as_py()!r} is to be scored, but its class "
                f"{graph.y[int(unknown[0])].as_py()!r} has no training node; classes to learn: "
                f"{', '.join(map(repr, self.classes_))}."
            )
        size, fanouts = self.batch_size, tuple(self.fanouts)
        self.fitted_ = fit_nodes(graph, y, split, self.encoder, objective, trainer, listener, size, fanouts)
        self.graph_, self.ids_, self.y_ = graph, graph.ids, y
        if len(split.val):
            with torch.no_grad(), repeatable():
                logits = self.fitted_.encoder(checked(self.fitted_, graph), graph.over)
                objective.calibrate(logits[split.val], y[split.val])
        if self.smooth:
            certificate = self.fitted_.certificate
            told = Certificate((*certificate.statements, smoothing(self._known(graph)[1], split)))
            self.fitted_ = replace(self.fitted_, certificate=told)
        self.metrics_ = part_scores(self._probabilities(None), y, split)
        return self

    def compare(self, *encoders: str, seeds: Sequence[int] = (0, 1, 2)) -> Leaderboard:
        """This model beside what is free, and beside other encoders trained as it was, on the graph it was fitted on."""
        graph = self._graph(None, "compare")
        assert self.fitted_ is not None
        trainer = Trainer(epochs=200, patience=50) if self.trainer is None else self.trainer
        mine = (self.encoder if isinstance(self.encoder, str) else "this model", self.fitted_, self.fitted_.end.seconds)
        more = [(name, name) for name in encoders]
        self.leaderboard_ = compare(
            graph, self.y_, len(self.classes_), self.fitted_.split, [mine], encoders=more, trainer=trainer, seeds=seeds
        )
        return self.leaderboard_

    def predict_proba(self, data: Graph | None = None) -> Answers:
        """Probabilities (nodes, classes), calibrated on the validation part."""
        return self._probabilities(data).numpy()

    def predict(self, data: Graph | None = None) -> Answers:
        """The most probable class of every node."""
        best = self._probabilities(data).argmax(1).numpy()
        return np.asarray(self.classes_, dtype=object)[best]

    def score(self, data: Graph | None = None) -> float:
        """Accuracy: on the test part of the graph it was fitted on, or on all labelled nodes of another."""
        return self.scores(data)["accuracy"]

    def scores(self, data: Graph | None = None) -> dict[str, float]:
        """Accuracy, F1, AUC, average precision, log loss, calibration: of what `score` scores."""
        require_fitted(self, "score")
        assert self.fitted_ is not None
        where, y = self.fitted_.split.test, self.y_
        if data is not None:
            y = codes_of(as_graph(data, "NodeClassifier.score"), self.classes_)
            where = (y >= 0).nonzero().flatten()
        if len(where) == 0:
            raise DataError("NodeClassifier.score: there is no labelled node to score.")
        return class_scores(self._probabilities(data)[where], y[where])

    def embed(self, data: Graph | None = None) -> Answers:
        """One vector per node: what the answer is made from."""
        require_fitted(self, "embed")
        assert self.fitted_ is not None
        return vectors(self.fitted_, self._graph(data, "embed")).numpy()

    def predict_table(self, data: Graph | None = None) -> "pa.Table":
        """Ids, the class of each node, and the probability of each class."""
        import pyarrow as pa

        graph, found = self._graph(data, "predict_table"), self._probabilities(data)
        best = np.asarray(self.classes_, dtype=object)[found.argmax(1).numpy()]
        columns = {f"p_{name}": pa.array(found[:, code].numpy()) for code, name in enumerate(self.classes_)}
        return pa.table({"id": graph.ids.values, "prediction": pa.array(best.tolist()), **columns})

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder: weights as safetensors, the rest as JSON and Arrow; no pickle."""
        from weft.estimators.folder import save

        require_fitted(self, "save")
        save(self, path)

    def told(self) -> dict[str, Any]:
        """What a model file says of this estimator alone."""
        board = None if self.leaderboard_ is None else self.leaderboard_.to_json()
        return {"classes": self.classes_, "smooth": self.smooth, "leaderboard": board}

    def _probabilities(self, data: Graph | None) -> Tensor:
        require_fitted(self, "predict")
        assert self.fitted_ is not None
        graph = self._graph(data, "predict")
        found = answers(self.fitted_, graph)
        if not self.smooth:
            return found
        known, where = self._known(graph)
        with torch.no_grad(), repeatable():
            return correct_and_smooth(found, known, where, graph.over) if len(where) else found

    def _graph(self, data: Graph | None, call: str) -> Graph:
        return graph_or_own(self.graph_, data, f"NodeClassifier.{call}")

    def _known(self, graph: Graph) -> tuple[Tensor, Tensor]:
        """The training answers of a graph, one-hot: those of the nodes it shares with the graph that was fitted on."""
        assert self.fitted_ is not None
        train = self.fitted_.split.train
        at = torch.from_numpy(graph.ids.find(self.ids_.take(train.numpy()), "training ids"))
        there = at >= 0
        known = torch.nn.functional.one_hot(self.y_[train[there]], len(self.classes_)).float()
        return known, at[there]

    def _weights(self, y: Tensor) -> Tensor | None:
        if self.class_weight is None:
            return None
        if self.class_weight != "balanced":
            raise WeftValueError(f"NodeClassifier: class_weight must be None or 'balanced', but got {self.class_weight!r}.")
        counts = torch.bincount(y, minlength=len(self.classes_)).float()
        return counts.sum() / (len(counts) * counts)


def encode_classes(graph: Graph, train: Tensor) -> tuple[list[Any], Tensor]:
    """The classes of the training nodes in order, and every node's class by number (-1: none, or one not learnt)."""
    if graph.y is None:
        raise DataError("NodeClassifier.fit: the graph has no labels. Name their column: Graph.from_tables(..., target=…).")
    names = [name for name in graph.y.take(train.numpy()).unique().to_pylist() if name is not None]
    broken = next((name for name in names if isinstance(name, float) and name != round(name)), None)
    if broken is not None:
        raise DataError(f"NodeClassifier.fit: {broken} is no class but a number. Use NodeRegressor, or give classes as text.")
    classes = sorted(names)
    if len(classes) < 2:
        raise DataError(f"NodeClassifier.fit: training nodes must be of two classes or more, but there is only {classes}.")
    return classes, codes_of(graph, classes)


def codes_of(graph: Graph, classes: list[Any]) -> Tensor:
    """Every node's class by number, -1 where it has none or one that is not among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if graph.y is None:
        raise DataError("NodeClassifier: the graph has no labels to compare with.")
    y = graph.y.dictionary_decode() if pa.types.is_dictionary(graph.y.type) else graph.y
    found = pc.index_in(y, value_set=pa.array(classes).cast(y.type))  # pyright: ignore[reportAttributeAccessIssue]
    return torch.from_numpy(pc.fill_null(found, -1).to_numpy().astype(np.int64))
