"""Dropout on a CPU: a pure function of the seed and the place, so any number of threads drops the same."""

import numpy as np
from numba import njit

from weft.ops.simd import KERNEL, keeps


@njit(**KERNEL)
def drop(first, last, x, seed, limit, gain, out):
    """out = gain · x where it survives; x and out are flat."""
    for at in range(first, last):
        out[at] = x[at] * gain if keeps(seed, np.uint64(at), limit) else np.float32(0)
