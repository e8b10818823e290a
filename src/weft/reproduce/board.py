"""A study of many contenders: what is free and every encoder on the same split, each with and without Correct & Smooth."""

from collections.abc import Callable, Sequence
from itertools import count

from weft.data import Graph, Split
from weft.encoders import Builder, Encoder, builder_of
from weft.estimators.leaderboard import Leaderboard, compare
from weft.estimators.node_classifier import encode_classes
from weft.training import Trainer


def run_board(
    graph: Graph,
    split: Split,
    encoders: Sequence[str],
    *,
    trainer: Trainer,
    seeds: int,
    begins: Callable[[str], object] | None = None,
) -> Leaderboard:
    """Fit what is free once and each encoder once per seed; `begins` is told the encoder and the seed of each training."""
    classes, y = encode_classes(graph, split.train)
    contenders = [(name, _told(name, begins)) for name in encoders]
    return compare(graph, y, len(classes), split, (), encoders=contenders, trainer=trainer, seeds=range(seeds))


def _told(name: str, begins: Callable[[str], object] | None) -> Builder:
    """A builder that says so when it is called: once for each seed, just before the training."""
    build, seeds = builder_of(name), count()

    def telling(in_dim: int, out_dim: int, /) -> Encoder:
        if begins is not None:
            begins(f"{name}, seed {next(seeds)}")
        return build(in_dim, out_dim)

    return telling
