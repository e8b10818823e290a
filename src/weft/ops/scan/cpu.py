"""The linear recurrence on a CPU: h = decay · h + x along each item, features side by side in registers."""

from numba import njit

from weft.ops.simd import KERNEL, fma, load_part, store_part


@njit(**KERNEL)
def decay_rows(first, last, x, decay, start, length, dim, out):
    """Items first … last - 1 of x, decay (items, length, dim), from start (items, dim)."""
    for item in range(first, last):
        for column in range(0, dim, 32):
            left = dim - column
            state = load_part(start, item * dim + column, 32, left)
            for at in range((item * length) * dim + column, (item + 1) * length * dim, dim):
                state = fma(load_part(decay, at, 32, left), state, load_part(x, at, 32, left))
                store_part(out, at, state, left)
