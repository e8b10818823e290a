"""Predict a number for the nodes of a graph."""

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from weft.data import Graph, Splitter
from weft.data.columns import as_floats
from weft.encoders import Builder
from weft.errors import DataError
from weft.estimators.base import Answers, Estimator, require_fitted
from weft.estimators.nodes import Fitted, Listener, answers, as_graph, choose_split, fit_nodes, graph_or_own, vectors
from weft.objectives import Regress
from weft.training import Trainer

if TYPE_CHECKING:
    import pyarrow as pa


class NodeRegressor(Estimator):
    """Predict a number for the nodes of a graph.

        encoder      a name (`weft list encoders`) or a function of (in_dim, out_dim), e.g. partial(gcn, dim=128)
        trainer      how long and how fast to learn
        split        how to part the nodes whose number is known; by default as the graph says, else 60 / 20 / 20 at random
        batch_size   learn from so many nodes at a time, each with a sampled neighbourhood, instead of the whole graph
        fanouts      at most so many neighbours of a node, of those, and so on: one number per layer
        seed         the same seed gives the same bytes

    After `fit`: `metrics_` of each part, and in `fitted_` encoder, features, split, certificate and history. Numbers are
    learnt in standard deviations of the training part, and answered in their own unit.

    >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], y=[1.0, 2.0, 3.0, 4.0, 5.0], x=torch.eye(5))
    >>> NodeRegressor(trainer=Trainer(epochs=5)).fit(graph).predict().shape
    (5,)
    """

    def __init__(
        self,
        encoder: str | Builder = "sage",
        *,
        trainer: Trainer | None = None,
        split: Splitter | None = None,
        batch_size: int | None = None,
        fanouts: tuple[int, ...] = (15, 10),
        seed: int = 0,
    ):
        self.encoder, self.trainer, self.split, self.seed = encoder, trainer, split, seed
        self.batch_size, self.fanouts = batch_size, fanouts
        self.fitted_: Fitted | None = None
        self.graph_: Graph | None = None

    def fit(self, data: Graph, *, listener: Listener | None = None) -> Self:
        """Learn from the training part, stop by the validation part; `listener` hears every event."""
        graph = as_graph(data, "NodeRegressor.fit")
        y = numbers_of(graph, "NodeRegressor.fit")
        split = choose_split(graph, self.split, classes=False)
        known = y[split.train]
        if len(known) == 0:
            raise DataError("NodeRegressor.fit: the training part is empty; no node with a number is marked train.")
        spread = float(known.std()) if len(known) > 1 else 0.0
        objective = Regress(float(known.mean()), spread if spread > 0 else 1.0)
        trainer = Trainer(epochs=200, patience=50, seed=self.seed) if self.trainer is None else self.trainer
        size, fanouts = self.batch_size, tuple(self.fanouts)
        self.fitted_ = fit_nodes(graph, y, split, self.encoder, objective, trainer, listener, size, fanouts)
        self.graph_, self.ids_, self.y_ = graph, graph.ids, y
        found = self._answers(None)
        self.metrics_ = {name: dict(objective.metrics(found[part], y[part])) for name, part in split if len(part)}
        return self

    def predict(self, data: Graph | None = None) -> Answers:
        """The number of every node, in its own unit."""
        return self._answers(data).numpy()

    def score(self, data: Graph | None = None) -> float:
        """R²: on the test part of the graph it was fitted on, or on all nodes of another whose number is known."""
        return self.scores(data)["r2"]

    def scores(self, data: Graph | None = None) -> dict[str, float]:
        """Root mean square and mean absolute error, and R²: of what `score` scores."""
        require_fitted(self, "score")
        assert self.fitted_ is not None
        where, y = self.fitted_.split.test, self.y_
        if data is not None:
            y = numbers_of(as_graph(data, "NodeRegressor.score"), "NodeRegressor.score")
            where = y.isfinite().nonzero().flatten()
        if len(where) == 0:
            raise DataError("NodeRegressor.score: there is no node with a known number to score.")
        return dict(self.fitted_.objective.metrics(self._answers(data)[where], y[where]))

    def embed(self, data: Graph | None = None) -> Answers:
        """One vector per node: what the answer is made from."""
        require_fitted(self, "embed")
        assert self.fitted_ is not None
        return vectors(self.fitted_, self._graph(data, "embed")).numpy()

    def predict_table(self, data: Graph | None = None) -> "pa.Table":
        """Ids, and the number of each node."""
        import pyarrow as pa

        graph, found = self._graph(data, "predict_table"), self._answers(data)
        return pa.table({"id": graph.ids.values, "prediction": pa.array(found.numpy())})

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder: weights as safetensors, the rest as JSON and Arrow; no pickle."""
        from weft.estimators.folder import save

        require_fitted(self, "save")
        save(self, path)

    def told(self) -> dict[str, Any]:
        """What a model file says of this estimator alone: nothing more."""
        return {}

    def _answers(self, data: Graph | None) -> Tensor:
        require_fitted(self, "predict")
        assert self.fitted_ is not None
        return answers(self.fitted_, self._graph(data, "predict")).double()

    def _graph(self, data: Graph | None, call: str) -> Graph:
        return graph_or_own(self.graph_, data, f"NodeRegressor.{call}")


def numbers_of(graph: Graph, caller: str) -> Tensor:
    """Every node's number, NaN where it is not known; what is no number is refused by its node."""
    if graph.y is None:
        raise DataError(f"{caller}: the graph has no numbers to learn. Name their column: Graph.from_tables(..., target=…).")
    names = graph.ids.values
    try:
        y = torch.from_numpy(as_floats(graph.y, f"{caller}: the answer of a node", lambda at: repr(names[at].as_py())).copy())
    except DataError as error:
        raise DataError(f"{error} Use NodeClassifier for classes.") from None
    infinite = y.isinf().nonzero()
    if len(infinite):
        at = int(infinite[0])
        raise DataError(f"{caller}: node {names[at].as_py()!r} has {float(y[at])}; a number must be finite.")
    return y
