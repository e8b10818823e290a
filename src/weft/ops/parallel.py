"""Rows in parallel: serial kernels that release the interpreter lock, on threads of our own.

Each row is computed by one thread in one order, and pieces are cut by the structure alone, so that the result
is the same bytes for any number of threads (as many as `torch.get_num_threads()` says). torch's own matrix products
and sums over everything cut their work by the number of threads: `products` cuts products by their shape alone, and
inside `repeatable` torch's operations have one thread, while kernels and products keep theirs.
"""

import itertools
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

SMALL = 1 << 17
"""Below this much work (numbers touched) the calling thread does it alone: waking others costs more."""


class _Workers:
    """The threads beside the calling one, started when first needed."""

    def __init__(self) -> None:
        self.count = 0
        self.executor: ThreadPoolExecutor | None = None

    def get(self, count: int) -> ThreadPoolExecutor:
        if self.executor is None or count > self.count:
            if self.executor is not None:
                self.executor.shutdown(wait=False)
            self.executor, self.count = ThreadPoolExecutor(count, thread_name_prefix="weft"), count
        return self.executor

    def forget(self) -> None:
        """After a fork the child has none of the threads."""
        self.executor, self.count = None, 0


_workers = _Workers()
os.register_at_fork(after_in_child=_workers.forget)
_kept: ContextVar[int | None] = ContextVar("weft_threads", default=None)


def num_threads() -> int:
    """How many threads kernels use."""
    return _kept.get() or torch.get_num_threads()


@contextmanager
def repeatable() -> Generator[None]:
    """The same bytes for any number of threads: torch's own operations get one, kernels and products as many as before."""
    token = _kept.set(num_threads())
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _kept.reset(token)


def for_rows(kernel: Callable[..., object], cuts: Sequence[int], work: int, *args: Any) -> None:
    """Run `kernel(first, last, *args)` over the row ranges between the cuts.

    `work` is about how many numbers the whole call touches.
    """
    helpers = min(num_threads(), len(cuts) - 1) - 1
    if work <= SMALL or helpers < 1:
        kernel(cuts[0], cuts[-1], *args)
        return
    take_turns(lambda piece: kernel(cuts[piece], cuts[piece + 1], *args), len(cuts) - 1, helpers)


def for_pieces(kernel: Callable[..., object], cuts: Sequence[int], work: int, *args: Any) -> None:
    """Run `kernel(first, last, piece, *args)` for each piece: for kernels that keep a partial sum per piece."""
    helpers = 0 if work <= SMALL else min(num_threads(), len(cuts) - 1) - 1
    take_turns(lambda piece: kernel(cuts[piece], cuts[piece + 1], piece, *args), len(cuts) - 1, helpers)


def products(run: Callable[[int], object], pieces: int, work: int) -> None:
    """Run torch's matrix product of each piece on one thread; `work` is about how many multiplications all of them take.

    torch keeps a number of threads for each calling thread; to set it takes less than a microsecond.
    """
    before = torch.get_num_threads()
    helpers = 0 if work <= 8 * SMALL else min(num_threads(), pieces) - 1

    def alone(piece: int) -> None:
        torch.set_num_threads(1)
        run(piece)

    try:
        take_turns(alone, pieces, helpers)
    finally:
        torch.set_num_threads(before)


def take_turns(run: Callable[[int], object], pieces: int, helpers: int) -> None:
    """Let the calling thread and its helpers take piece after piece until none is left."""
    turn = itertools.count()

    def worker() -> None:
        while (piece := next(turn)) < pieces:
            run(piece)

    waiting: list[Future[None]] = []
    if helpers > 0:
        executor = _workers.get(helpers)
        waiting = [executor.submit(worker) for _ in range(helpers)]
    try:
        worker()
    finally:
        for future in waiting:
            future.result()
