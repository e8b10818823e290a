"""Memory for results, and the way from torch tensors to the flat arrays that CPU kernels take."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

HUGE_PAGE = 1 << 21
_MADV_HUGEPAGE = 14


def empty(*shape: int, dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor; a large one asks Linux for huge pages.

    A fresh result of 87 MB in 4 KB pages costs 25 ms of page faults, as long as the kernel that fills it.
    """
    out = torch.empty(shape, dtype=dtype)
    size = out.numel() * out.element_size()
    advise = _madvise()
    if advise is not None and size >= 2 * HUGE_PAGE:
        begin = -(-out.data_ptr() // HUGE_PAGE) * HUGE_PAGE
        end = (out.data_ptr() + size) // HUGE_PAGE * HUGE_PAGE
        advise(begin, end - begin, _MADV_HUGEPAGE)  # a hint: refused, it changes nothing
    return out


@cache
def _madvise() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return advise


def flat(x: Tensor | None) -> Any:
    """The numbers of a tensor in one row, without a copy where it is contiguous; bfloat16 as uint16."""
    if x is None:
        return None
    x = x.detach().contiguous().view(-1)
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
