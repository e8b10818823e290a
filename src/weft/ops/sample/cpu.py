"""Sampling on a CPU: one hop at a time, each kernel on one thread, so that several samples are drawn side by side.

Memory is far away compared with the little that is computed, so each loop asks ahead for what it will need.
"""

import numpy as np
from numba import njit

from weft.ops.random import GOLDEN, MIX_1, MIX_2
from weft.ops.simd import INLINE, KERNEL, prefetch

AHEAD = 16
"""How many nodes, or edges, ahead memory is asked for."""

FEW = 32
"""Up to so many numbers it is fastest to look through those chosen already; beyond, they are found by hashing."""

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_1, _30, _27, _31, _32, _LOW = np.uint64(1), np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(2**32 - 1)


@njit(**INLINE)
def _mix(key, number):
    """The same as `weft.ops.sample.reference.mix`."""
    mixed = np.uint64(key) + np.uint64(number + 1) * _GOLDEN
    mixed = (mixed ^ (mixed >> _30)) * _MIX_1
    mixed = (mixed ^ (mixed >> _27)) * _MIX_2
    return mixed ^ (mixed >> _31)


@njit(**INLINE)
def _below(bound, bits):
    """bits · bound / 2^64, rounded down, for bounds below 2^32."""
    bound = np.uint64(bound)
    return np.int64(((bits >> _32) * bound + (((bits & _LOW) * bound) >> _32)) >> _32)


@njit(**KERNEL)
def _choose_few(key, degree, chosen):
    """As many of the numbers below `degree` as fit in `chosen`, each looked for among those before it.

    One bit for each remainder by 64 says of most that they are new, without a look.
    """
    count, bits = chosen.shape[0], np.uint64(0)
    for draw in range(count):
        last = degree - count + draw
        at = _below(last + 1, _mix(key, draw))
        if (bits >> np.uint64(at & 63)) & _1:
            for before in range(draw):
                if chosen[before] == at:
                    at = last
                    break
        bits |= _1 << np.uint64(at & 63)
        chosen[draw] = at


@njit(**KERNEL)
def _choose_many(key, degree, chosen, slots):
    """The same by hashing: `slots`, a power of two and at least twice as many, hold what was chosen."""
    count, mask = chosen.shape[0], slots.shape[0] - 1
    slots[:] = -1
    for draw in range(count):
        last = degree - count + draw
        at = _below(last + 1, _mix(key, draw))
        slot = at & mask
        while slots[slot] >= 0 and slots[slot] != at:
            slot = (slot + 1) & mask
        if slots[slot] == at:  # `last` is larger than all before it
            at = last
            slot = at & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
        slots[slot] = at
        chosen[draw] = at


@njit(**KERNEL)
def count_edges(nodes, first, last, pointer, fanout, starts):
    """How many edges are drawn of nodes first … last - 1, as the starts of their rows."""
    starts[0] = 0
    for at in range(first, last):
        prefetch(pointer, nodes[min(at + AHEAD, last - 1)])
        degree = pointer[nodes[at] + 1] - pointer[nodes[at]]
        starts[at - first + 1] = starts[at - first] + (degree if fanout < 0 else min(degree, fanout))


@njit(**KERNEL)
def draw_edges(nodes, first, last, pointer, index, key, starts, chosen, slots, found, stored):
    """The sources of the edges drawn, in the numbers of the graph, and (unless None) where the edges are stored."""
    for at in range(first, last):
        prefetch(pointer, nodes[min(at + 2 * AHEAD, last - 1)])
        begins = pointer[nodes[min(at + AHEAD, last - 1)]]
        prefetch(index, begins)
        prefetch(index, begins + 16)
        begin, row = pointer[nodes[at]], starts[at - first]
        degree, count = pointer[nodes[at] + 1] - begin, starts[at - first + 1] - row
        if count == degree:
            for edge in range(count):
                found[row + edge] = index[begin + edge]
                if stored is not None:
                    stored[row + edge] = begin + edge
            continue
        if count <= FEW:
            _choose_few(_mix(key, nodes[at]), degree, chosen[:count])
        else:
            _choose_many(_mix(key, nodes[at]), degree, chosen[:count], slots)
        for edge in range(count):
            found[row + edge] = index[begin + chosen[edge]]
            if stored is not None:
                stored[row + edge] = begin + chosen[edge]


@njit(**KERNEL)
def number_nodes(found, marks, base, known, nodes):
    """Nodes of the graph to numbers of the sample, in place: those not yet met are appended to `nodes`, after `known`.

    There is room for one node more than there can be: it is written before it is known whether it is new.
    """
    count = found.shape[0]
    for edge in range(count):
        prefetch(marks, np.int64(found[min(edge + AHEAD, count - 1)]))
        node = np.int64(found[edge])
        mark = marks[node]
        new = mark < base
        number = known if new else mark - base
        marks[node] = base + number
        nodes[known] = node
        found[edge] = number
        known += new
    return known


@njit(**KERNEL)
def copy_rows(x, where, width, out):
    """out[row] = x[where[row]], of `width` numbers."""
    count, line = where.shape[0], 64 // x.itemsize
    for row in range(count):
        later = np.int64(where[min(row + AHEAD // 2, count - 1)]) * width
        for column in range(0, width, line):
            prefetch(x, later + column)
        begin = np.int64(where[row]) * width
        for column in range(width):
            out[row * width + column] = x[begin + column]
