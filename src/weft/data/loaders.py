"""Pieces of a large graph one after another, prepared ahead on threads, and the same for any number of threads."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from weft.errors import DeviceError, ShapeError, WeftTypeError
from weft.ops.sample import Sample, as_fanouts, as_seeds, check_graph, doubled, sample, take_rows
from weft.structure import Sparse
from weft.structure.base import as_size, freeze
from weft.types import Index, IndexLike

T = TypeVar("T")

AHEAD = 2
"""How many jobs per thread are given out before their results are asked for."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Neighbourhoods of nodes, `batch_size` nodes at a time, each with the features of its nodes.

    `threads` prepare the next batches while the present one is learnt from: they draw the edges and copy the features.
    What comes, and in which order, does not depend on their number.

    >>> over = Sparse.from_edges([1, 2, 3], [0, 1, 2], num_targets=4)
    >>> pieces = Neighbours(over, batch_size=2, fanouts=(-1,))
    >>> [(piece.nodes.tolist(), x.tolist()) for piece, x in pieces.in_order([0, 2, 3], torch.tensor([0.0, 0.1, 0.2, 0.3]))]
    [([0, 2, 1, 3], [0.0, 0.20000000298023224, 0.10000000149011612, 0.30000001192092896]), ([3], [0.30000001192092896])]
    """

    over: Sparse
    _: KW_ONLY
    batch_size: int
    fanouts: tuple[int, ...]
    threads: int = 2

    def __post_init__(self) -> None:
        check_graph(self.over, "Neighbours")
        freeze(
            self,
            batch_size=as_size(self.batch_size, "Neighbours", "batch_size", least=1),
            fanouts=as_fanouts(self.fanouts, "Neighbours"),
            threads=as_size(self.threads, "Neighbours", "threads", least=1),
        )

    def shuffled(self, seeds: IndexLike, x: Tensor, *, seed: int, epoch: int = 0) -> Iterator[tuple[Sample, Tensor]]:
        """Every seed once, in an order of this epoch alone."""
        seeds = _check_seeds(seeds, self.over)
        dice = np.random.default_rng([as_size(seed, "Neighbours", "seed"), as_size(epoch, "Neighbours", "epoch")])
        return self._pieces(seeds[torch.from_numpy(dice.permutation(len(seeds)))], x, dice)

    def in_order(self, seeds: IndexLike, x: Tensor, *, seed: int = 0) -> Iterator[tuple[Sample, Tensor]]:
        """Every seed once, as they stand."""
        dice = np.random.default_rng(as_size(seed, "Neighbours", "seed"))
        return self._pieces(_check_seeds(seeds, self.over), x, dice)

    def _pieces(self, seeds: Index, x: Tensor, dice: np.random.Generator) -> Iterator[tuple[Sample, Tensor]]:
        x = _check_features(x, self.over)
        parts = seeds.split(self.batch_size) if len(seeds) else ()
        draws = dice.integers(2**63, size=len(parts)).tolist()
        jobs = [self._job(part, x, draw) for part, draw in zip(parts, draws, strict=True)]
        return ahead(jobs, self.threads)

    def _job(self, seeds: Index, x: Tensor, seed: int) -> Callable[[], tuple[Sample, Tensor]]:
        def job() -> tuple[Sample, Tensor]:
            piece = sample(self.over, seeds, self.fanouts, seed=seed)
            return piece, take_rows(x, piece.nodes)

        return job


def ahead(jobs: Iterable[Callable[[], T]], threads: int) -> Generator[T]:
    """The results of the jobs in their order, a few of them computed before they are asked for.

    Whoever stops asking stops the threads; an error in one of them is raised where its result was due.
    """
    executor = ThreadPoolExecutor(threads, thread_name_prefix="weft-ahead")
    waiting = deque[Future[T]]()
    try:
        for job in jobs:
            waiting.append(executor.submit(job))
            if len(waiting) == AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)


def _check_seeds(seeds: object, over: Sparse) -> Tensor:
    """Nodes of the graph, none of them twice."""
    checked = as_seeds(seeds, over, "Neighbours")
    if len(checked.unique()) < len(checked):
        raise doubled(checked, "Neighbours")
    return checked


def _check_features(x: object, over: Sparse) -> Tensor:
    """One row per node, on a CPU, without a gradient."""
    if not isinstance(x, Tensor):
        raise WeftTypeError(f"Neighbours: x must be a tensor with one row per node, but got {type(x).__name__}.")
    if x.ndim < 1 or len(x) != over.num_sources:
        raise ShapeError(f"Neighbours: `over` has {over.num_sources} nodes, but x has shape {tuple(x.shape)}.")
    if x.device.type != "cpu":
        raise DeviceError(f"Neighbours: x is on {x.device}; features are picked on a CPU. Use x.cpu().")
    return x.detach().contiguous()
