"""What is free: answers without a graph, without features, or without learning, beside which every model must stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from weft.data import Split
from weft.encoders import mlp
from weft.estimators.nodes import connectedness
from weft.nn.relational.propagate import label_propagation
from weft.objectives import Classify
from weft.ops import aggregate
from weft.ops.parallel import repeatable
from weft.structure import Sparse
from weft.training import Trainer

Guess = Callable[[Tensor, Sparse, Tensor, Split, int, int], Tensor]
"""From inputs, relation, classes by number, split, how many classes, and a seed: probabilities (nodes, classes)."""

MOST_CELLS = 50_000_000
"""Beyond this many numbers, boosted trees would take longer than the models they are beside."""


def majority(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """The shares of the training classes, for everybody."""
    counts = torch.bincount(y[split.train], minlength=classes).float()
    return (counts / counts.sum()).expand(over.num_targets, -1)


def logistic(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """Logistic regression on the features of each node by itself."""
    return _scikit(_logistic(), x, y, split, classes)


def boosted(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """Histogram gradient boosting on the features of each node by itself."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _scikit(HistGradientBoostingClassifier(random_state=seed), x, y, split, classes)


def perceptron(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """A multi-layer perceptron on the features of each node by itself."""
    from weft.data import Batch, NodeData

    with repeatable(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder, objective = mlp(x.shape[1], classes), Classify(classes)
    Trainer(epochs=200, patience=50, seed=seed).fit(encoder, objective, NodeData(x, over, y, split))
    with torch.no_grad(), repeatable():
        return objective.predict(encoder, Batch(x, over))


def degrees(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """Logistic regression on how connected a node and its neighbours are, features unseen."""
    return _scikit(_logistic(), connectedness(over), y, split, classes)


def propagated(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """Label propagation: training answers spread along the edges, features unseen."""
    known = torch.nn.functional.one_hot(y[split.train], classes).float()
    with torch.no_grad(), repeatable():
        return label_propagation(known, split.train, over)


def surroundings(x: Tensor, over: Sparse, y: Tensor, split: Split, classes: int, seed: int) -> Tensor:
    """Logistic regression on a node's features beside the mean of its neighbours' and theirs."""
    with torch.no_grad(), repeatable():
        near = aggregate(x, over, how="mean")
        wide = torch.cat([x, near, aggregate(near, over, how="mean"), connectedness(over)], 1)
    return _scikit(_logistic(), wide, y, split, classes)


BASELINES: dict[str, tuple[str, Guess]] = {
    "majority class": ("nothing", majority),
    "logistic regression": ("features", logistic),
    "boosted trees": ("features", boosted),
    "perceptron": ("features", perceptron),
    "degrees": ("links", degrees),
    "label propagation": ("links", propagated),
    "logistic regression with neighbours": ("both", surroundings),
}
"""By name: what they may look at, and how they answer."""


def affordable(name: str, x: Tensor, classes: int) -> bool:
    """Whether a baseline is done in reasonable time: boosted trees grow with rows, columns and classes."""
    return name != "boosted trees" or x.numel() * classes <= MOST_CELLS


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


def _scikit(model: Any, x: Tensor, y: Tensor, split: Split, classes: int) -> Tensor:
    from threadpoolctl import threadpool_limits

    train = split.train.numpy()
    with threadpool_limits(1):  # the same for any number of threads
        model.fit(x.numpy()[train], y.numpy()[train])
        found = model.predict_proba(x.numpy())
    whole = np.zeros((len(found), classes), np.float32)
    whole[:, model.classes_] = found  # a class may have no training node in a fold
    return torch.from_numpy(whole)
