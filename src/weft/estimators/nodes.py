"""What node estimators share: from a graph to numbers, a trained encoder, and answers for any graph with the same columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from weft.data import Batch, Features, Graph, NodeData, Published, Split, Splitter, Stratified
from weft.data import Random as AtRandom
from weft.encoders import Builder, Encoder, builder_of
from weft.errors import DataError, WeftTypeError, WeftValueError
from weft.estimators.certificate import Certificate, certify
from weft.objectives import Objective
from weft.ops.parallel import repeatable
from weft.structure import Sparse
from weft.training import EpochDone, Event, Finished, Trainer

Listener = Callable[[Event], object]


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that answers are made from, and what is known of how it came about."""

    encoder: Encoder
    objective: Objective
    features: Features | None
    in_dim: int
    split: Split
    certificate: Certificate
    history: tuple[EpochDone, ...]
    end: Finished


def choose_split(graph: Graph, split: Splitter | None, *, classes: bool) -> Split:
    """The split asked for, else the one that came with the graph, else 60 / 20 / 20."""
    if split is not None:
        return split(graph)
    if graph.splits:
        return Published()(graph)
    return Stratified()(graph) if classes else AtRandom()(graph)


def fit_nodes(
    graph: Graph,
    y: Tensor,
    split: Split,
    encoder: str | Builder,
    objective: Objective,
    trainer: Trainer,
    listener: Listener | None,
    batch_size: int | None = None,
    fanouts: tuple[int, ...] = (15, 10),
) -> Fitted:
    """Train an encoder; `y` holds the answers of all nodes, of which only those of the split count."""
    if len(split.train) == 0:
        raise DataError("fit: the training part is empty; no labelled node is marked train.")
    features = None if graph.columns is None else Features.fit(graph.columns, split.train.tolist(), graph.kinds)
    x = inputs(graph, features)
    with repeatable(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(trainer.seed)
        model = builder_of(encoder)(x.shape[1], objective.out_dim)
    watched = _Watched(NodeData(x, graph.over, y, split, batch_size, fanouts))
    history: list[EpochDone] = []
    end: Finished | None = None
    for event in trainer.run(model, objective, watched):
        if isinstance(event, EpochDone):
            history.append(event)
        elif isinstance(event, Finished):
            end = event
        if listener is not None:
            listener(event)
    assert end is not None
    certificate = certify(graph, split, features, watched.supervised(split))
    return Fitted(model, objective, features, x.shape[1], split, certificate, tuple(history), end)


class _Watched:
    """Data that remembers which answers were handed out for learning: what a certificate is made from."""

    def __init__(self, data: NodeData):
        self.data, self.seen = data, torch.zeros(len(data.y), dtype=torch.bool)

    def batches(self, part: str, *, seed: int = 0) -> Iterator[Batch]:
        for batch in self.data.batches(part, seed=seed):
            if part == "train":
                self.seen[batch.whole] = True
            yield batch

    def supervised(self, split: Split) -> Tensor:
        """The positions whose answers were learnt from; after a resumed training that had nothing left to do, its split."""
        return self.seen.nonzero().flatten() if bool(self.seen.any()) else split.train


def inputs(graph: Graph, features: Features | None) -> Tensor:
    """Features as numbers: those that came as numbers, then those of columns; without any, how connected a node is."""
    parts = [] if graph.x is None else [graph.x]
    if features is not None:
        if graph.columns is None:
            raise DataError(f"features: the model knows columns ({', '.join(features.kinds())}), but the graph has none.")
        parts.append(features.apply(graph.columns))
    if not parts or sum(part.shape[1] for part in parts) == 0:
        return connectedness(graph.over)
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def connectedness(over: Sparse) -> Tensor:
    """One, the logarithm of the degree, and the mean of that over the neighbours: features for nodes that have none."""
    from weft.ops import aggregate

    degree = over.rows.degree.float().log1p()[:, None]
    return torch.cat([torch.ones_like(degree), degree, aggregate(degree, over, how="mean")], 1)


def answers(fitted: Fitted, graph: Graph) -> Tensor:
    """The objective's answers for every node of a graph."""
    with torch.no_grad(), repeatable():
        return fitted.objective.predict(fitted.encoder, Batch(checked(fitted, graph), graph.over))


def sees_links(fitted: Fitted, graph: Graph, found: Tensor) -> bool:
    """Whether answers would be others if there were no links."""
    lonely = replace(graph, over=Sparse.from_edges([], [], graph.num_nodes), edge_row=graph.edge_row[:0])
    return not torch.equal(answers(fitted, lonely), found)


def vectors(fitted: Fitted, graph: Graph) -> Tensor:
    """What the encoder makes of every node before it answers."""
    with torch.no_grad(), repeatable():
        return fitted.encoder.embed(checked(fitted, graph), graph.over)


def checked(fitted: Fitted, graph: Graph) -> Tensor:
    """The inputs of a graph, if they are as wide as those that were learnt from."""
    x = inputs(graph, fitted.features)
    if x.shape[1] != fitted.in_dim:
        raise DataError(f"predict: the model was fitted on {fitted.in_dim} features, but this graph has {x.shape[1]}.")
    return x


def as_graph(data: object, caller: str) -> Graph:
    """A graph, or a sentence about how to make one."""
    if not isinstance(data, Graph):
        raise WeftTypeError(f"{caller}: expected a Graph, but got {type(data).__name__}. Use Graph.from_tables(nodes, edges).")
    return data


def graph_or_own(own: Graph | None, data: Graph | None, caller: str) -> Graph:
    """The graph to answer for: the one that is given, else the one that was fitted on."""
    if data is not None:
        return as_graph(data, caller)
    if own is None:
        raise WeftValueError(f"{caller}: a model from a folder holds no graph; give the one to answer for.")
    return own
