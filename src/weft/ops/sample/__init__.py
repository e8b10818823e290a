"""Draw a small piece of a large graph around some of its nodes."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from weft.errors import DeviceError, StructureError, WeftTypeError, WeftValueError
from weft.ops.buffers import empty, flat
from weft.ops.dispatch import record
from weft.ops.sample.marks import borrowed
from weft.ops.sample.reference import MASK, mix
from weft.ops.sample.result import Sample, restrict
from weft.ops.sample.rows import take_rows
from weft.structure import Sparse
from weft.structure.base import as_index, as_size
from weft.structure.compress import Rows, numbers
from weft.types import IndexLike


def sample(over: Sparse, seeds: IndexLike, fanouts: Sequence[int], *, seed: int) -> Sample:
    """The seeds, some of their sources, some of the sources of those, and so on, one hop per entry of `fanouts`.

    In hop h, the nodes that the hop before it met first keep at most `fanouts[h]` of their edges, drawn without
    replacement, every set equally likely; -1 keeps all. Weights stay with their edges, and factors of a normalisation
    are those of the whole graph. What is drawn is a function of the arguments alone. Takes place on a CPU.

    >>> over = Sparse.from_edges([1, 2, 3, 3], [0, 0, 1, 4], num_targets=5)
    >>> piece = sample(over, [0], (-1, -1), seed=0)
    >>> piece.nodes.tolist(), piece.sizes, piece.over
    ([0, 1, 2, 3], (1, 3, 4), Sparse(4 → 4, 3 edges))
    """
    check_graph(over, "sample")
    fanouts = [min(fanout, over.num_edges) for fanout in as_fanouts(fanouts, "sample")]
    seeds = as_seeds(seeds, over, "sample")
    seed = as_size(seed, "sample", "seed") & MASK
    record("sample", "cpu", ("gpu", "sampling takes place on a CPU"))
    with borrowed(over) as marks:
        return _draw(over, seeds, fanouts, seed, marks.marks, marks.begin())


def _draw(over: Sparse, seeds: Tensor, fanouts: Sequence[int], seed: int, marks: object, base: int) -> Sample:
    from weft.ops.sample import cpu

    pointer, index = flat(over.rows.pointer), flat(over.rows.index)
    met = empty(len(seeds) + 1, dtype=torch.int64)
    known = cpu.number_nodes(flat(seeds.clone()), marks, base, 0, flat(met))
    if known < len(seeds):
        raise doubled(seeds, "sample")
    nodes, sizes, drawn = met[:known], [0, known], list[tuple[Tensor, Tensor, Tensor | None]]()
    for hop, fanout in enumerate(fanouts):
        first, last = sizes[-2], sizes[-1]
        starts = empty(last - first + 1, dtype=torch.int64)
        cpu.count_edges(flat(nodes), first, last, pointer, fanout, flat(starts))
        count = int(starts[-1])
        found = empty(count, dtype=over.rows.index.dtype)
        stored = None if over.weight is None else empty(count, dtype=torch.int64)
        few, key = min(max(fanout, 0), count), np.uint64(mix(seed, hop))
        chosen, slots = np.empty(few, np.int64), np.empty(2 << few.bit_length() if few > cpu.FEW else 0, np.int64)
        cpu.draw_edges(flat(nodes), first, last, pointer, index, key, flat(starts), chosen, slots, flat(found), flat(stored))
        met = empty(min(last + count, over.num_sources) + 1, dtype=torch.int64)
        met[:last] = nodes
        known = cpu.number_nodes(flat(found), marks, base, known, flat(met))
        nodes = met[:known]
        sizes.append(known)
        drawn.append((starts, found, stored))
    return restrict(over, nodes, *_joined(drawn, known), tuple(sizes[1:]))


def _joined(drawn: Sequence[tuple[Tensor, Tensor, Tensor | None]], known: int) -> tuple[Rows, Tensor | None]:
    """The rows of all hops one after another; the nodes met last have none."""
    lengths = [len(found) for _, found, _ in drawn]
    pointer, row, total = torch.full((known + 1,), sum(lengths)), 0, 0
    for (starts, _, _), length in zip(drawn, lengths, strict=True):
        torch.add(starts, total, out=pointer[row : row + len(starts)])
        row, total = row + len(starts) - 1, total + length
    stored = [part for _, _, part in drawn if part is not None]
    return Rows(pointer, torch.cat([found for _, found, _ in drawn]), None), torch.cat(stored) if stored else None


def check_graph(over: object, caller: str) -> None:
    """One set of nodes and listed edges, on a CPU."""
    if not isinstance(over, Sparse):
        raise WeftTypeError(f"{caller}: over must be a Sparse, but got {type(over).__name__}.")
    if over.num_targets != over.num_sources:
        raise StructureError(f"{caller}: {over!r} relates different things; several hops need one set of nodes.")
    if over.device.type != "cpu":
        raise DeviceError(
            f"{caller}: the structure is on {over.device}, and sampling takes place on a CPU. Use over.to('cpu')."
        )


def as_fanouts(fanouts: object, caller: str) -> tuple[int, ...]:
    """At least one whole number, each -1 or more."""
    if not isinstance(fanouts, Sequence) or isinstance(fanouts, str):
        raise WeftTypeError(f"{caller}: fanouts must be numbers, one per hop, such as (15, 10), but got {fanouts!r}.")
    if not len(fanouts):
        raise WeftValueError(
            f"{caller}: fanouts is empty; give one number per hop, such as (15, 10), where -1 keeps all edges."
        )
    return tuple(as_size(fanout, caller, f"fanouts[{hop}]", least=-1) for hop, fanout in enumerate(fanouts))


def as_seeds(seeds: object, over: Sparse, caller: str) -> Tensor:
    """Nodes of the graph, as int64 on a CPU."""
    seeds = as_index(seeds, caller, "seeds")
    if seeds.device.type != "cpu":
        raise DeviceError(f"{caller}: seeds are on {seeds.device} and the structure on cpu. Use seeds.to('cpu').")
    wrong = ((seeds < 0) | (seeds >= over.num_sources)).nonzero()
    if len(wrong):
        at = int(wrong[0])
        raise WeftValueError(f"{caller}: seeds[{at}] is {int(seeds[at])}, but the nodes are {numbers(over.num_sources)}.")
    return seeds.long().contiguous()


def doubled(seeds: Tensor, caller: str) -> WeftValueError:
    """What is to be said where a node is named twice."""
    met: dict[int, int] = {}
    second, node = next((at, node) for at, node in enumerate(seeds.tolist()) if met.setdefault(node, at) != at)
    return WeftValueError(
        f"{caller}: seeds[{second}] is {node}, and so is seeds[{met[node]}]; a node may be a seed once. Use seeds.unique()."
    )


__all__ = ["Sample", "as_fanouts", "as_seeds", "check_graph", "doubled", "sample", "take_rows"]
