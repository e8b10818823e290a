"""The definition of `sample`, edge by edge, in plain Python."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from weft.ops.random import GOLDEN, scrambled
from weft.ops.sample.result import Sample, restrict
from weft.structure import Sparse
from weft.structure.compress import Rows

MASK = 2**64 - 1


def sample(over: Sparse, seeds: Tensor, fanouts: Sequence[int], *, seed: int) -> Sample:
    """Nodes numbered as they are met; the in-edges of each drawn once, in the hop after the one that met it."""
    pointer, index = over.rows.pointer.tolist(), over.rows.index.tolist()
    local = {node: number for number, node in enumerate(seeds.tolist())}
    sizes = [len(local)]
    drawn: list[list[int]] = []
    for hop, fanout in enumerate(fanouts):
        for node in list(local)[len(drawn) :]:
            first, end = pointer[node], pointer[node + 1]
            drawn.append([first + at for at in choose(end - first, fanout, mix(mix(seed, hop), node))])
            for edge in drawn[-1]:
                local.setdefault(index[edge], len(local))
        sizes.append(len(local))
    drawn += [[]] * (len(local) - len(drawn))
    stored = torch.tensor([edge for edges in drawn for edge in edges], dtype=torch.int64)
    ends = torch.tensor([local[index[edge]] for edge in stored.tolist()], dtype=over.rows.index.dtype)
    lengths = torch.tensor([0, *map(len, drawn)])
    return restrict(
        over, torch.tensor(list(local), dtype=torch.int64), Rows(lengths.cumsum(0), ends, None), stored, tuple(sizes)
    )


def choose(degree: int, fanout: int, key: int) -> Iterable[int]:
    """`fanout` of the numbers below `degree`, every set of them equally likely (Floyd's method, Bentley & Floyd 1987)."""
    if fanout == -1 or degree <= fanout:
        return range(degree)
    chosen: list[int] = []
    for draw in range(fanout):
        last = degree - fanout + draw
        at = mix(key, draw) * (last + 1) >> 64  # 0 … last
        chosen.append(last if at in chosen else at)
    return chosen


def mix(key: int, number: int) -> int:
    """SplitMix64: 64 random bits for each number of a key, counted from 1, since zero would stay zero."""
    return scrambled((key + (number + 1) * GOLDEN) & MASK)
