"""Memory for results, and the way from torch tensors to the flat arrays that CPU kernels take."""

import ctypes
import os
import sys
import weakref
from collections.abc import Callable
from functools import cache
from math import prod
from threading import RLock
from typing import Any

import numpy as np
import torch
from torch import Tensor

HUGE_PAGE = 1 << 21
_MADV_HUGEPAGE = 14


def empty(*shape: int, dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor; the memory of a large one was that of an earlier result, where one is free.

    Fresh memory has to be cleared by the system first: 87 MB cost 25 ms in pages of 4 KB and 10 ms in huge ones, as
    much as a kernel that fills them.
    """
    size = prod(shape) * dtype.itemsize
    if size < 2 * HUGE_PAGE:
        return torch.empty(shape, dtype=dtype)
    memory = torch.from_numpy(waiting.take(size)).untyped_storage()
    return torch.empty(0, dtype=dtype).set_(memory, 0, shape)  # pyright: ignore[reportCallIssue]


class Lease(np.ndarray[Any, Any]):
    """Memory on loan: when nothing refers to it any more it is free again. (Plain arrays know no finalizers.)"""


class Free:
    """Memory of results that are gone, for results to come of the same size; beyond `limit` bytes all of it is given up.

    A finalizer may come at any moment, so the lock lets its own thread in again, and what it does then is harmless.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self.blocks: dict[int, list[np.ndarray[Any, Any]]] = {}
        self.lock = RLock()

    def take(self, size: int) -> np.ndarray[Any, Any]:
        """At least `size` bytes, a whole number of huge pages."""
        size = -(-size // HUGE_PAGE) * HUGE_PAGE
        with self.lock:
            same = self.blocks.get(size)
            kept = same.pop() if same else None
            self.held -= 0 if kept is None else size
        block = _pages(size) if kept is None else kept
        lease = block.view(Lease)
        weakref.finalize(lease, self.give_back, block).atexit = False
        return lease

    def give_back(self, block: np.ndarray[Any, Any]) -> None:
        size = len(block)
        if size > self.limit:
            return
        with self.lock:
            if self.held + size > self.limit:
                self.blocks, self.held = {}, 0
            self.blocks.setdefault(size, []).append(block)
            self.held += size

    def forget(self) -> None:
        """Give the memory that waits back to the system."""
        with self.lock:
            self.blocks, self.held = {}, 0


def _pages(size: int) -> np.ndarray[Any, Any]:
    """Fresh bytes that begin with a page of 2 MB; Linux is asked to make all of them such pages."""
    block = np.empty(size + HUGE_PAGE, np.uint8)
    block = block[-block.ctypes.data % HUGE_PAGE :][:size]
    advise = _madvise()
    if advise is not None:
        advise(block.ctypes.data, size, _MADV_HUGEPAGE)  # a hint: refused, it changes nothing
    return block


@cache
def _madvise() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return advise


def _memory() -> int:
    """Bytes of this machine's memory, or 8 GB where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30


waiting = Free(limit=_memory() // 32)
"""What results of this process leave behind: at most one part in 32 of the memory."""


def flat(x: Tensor | None) -> Any:
    """The numbers of a tensor in one row, without a copy where it is contiguous; bfloat16 as uint16."""
    if x is None:
        return None
    if x.requires_grad:
        x = x.detach()
    if x.ndim != 1 or not x.is_contiguous():
        x = x.reshape(-1)
    return (x.view(torch.uint16) if x.dtype == torch.bfloat16 else x).numpy()


def computable(x: Tensor) -> Tensor:
    """As the CPU kernels take it: float16 is computed in float32."""
    return x.float() if x.dtype == torch.float16 else x


def exact(x: Tensor) -> Tensor:
    """Numbers that are read one by one: half precision is widened before use."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """The element type in which sums of `dtype` are kept."""
    return torch.float64 if dtype == torch.float64 else torch.float32
