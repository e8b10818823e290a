"""From a list of edges to rows of neighbours, by sorting once."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from weft.errors import EdgeError

MAX_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Rows:
    """Neighbours row by row: those of row r are `index[pointer[r]:pointer[r + 1]]`.

    pointer: (rows + 1) int64 · index: (edges) int32 where it fits · position: (edges) where each edge
    stands in the storage order of its `Sparse`, None where both orders are the same.
    """

    pointer: Tensor
    index: Tensor
    position: Tensor | None

    def to(self, device: torch.device | str) -> "Rows":
        """The same rows on another device."""
        position = None if self.position is None else self.position.to(device)
        return Rows(self.pointer.to(device), self.index.to(device), position)

    @property
    def num_rows(self) -> int:
        return self.pointer.shape[0] - 1

    @property
    def num_edges(self) -> int:
        return self.index.shape[0]

    @cached_property
    def degree(self) -> Tensor:
        """How many edges each row has (int64)."""
        return self.pointer[1:] - self.pointer[:-1]

    @cached_property
    def share(self) -> Tensor:
        """One over the degree (over 1 where there is none), float64: a sum times this is a mean."""
        return 1 / self.degree.clamp(min=1).double()

    @cached_property
    def row(self) -> Tensor:
        """The row of each edge, as wide as `index`."""
        numbers = torch.arange(self.num_rows, device=self.index.device, dtype=self.index.dtype)
        return torch.repeat_interleave(numbers, self.degree, output_size=self.num_edges)

    @cached_property
    def schedule(self) -> Tensor:
        """How kernels on this device share out the rows: `cut_rows` on a CPU, `split_heavy` elsewhere."""
        return cut_rows(self) if self.index.device.type == "cpu" else split_heavy(self)


PIECES = 64
"""Pieces of work per CPU kernel call; fixed, so that sums over pieces never depend on the number of threads."""

HEAVY = 128
"""Rows of more edges than this are split into chunks of as many on a GPU, one program per chunk: no program works long."""


def cut_rows(rows: Rows) -> Tensor:
    """Row numbers that cut the rows into pieces of about equal work: (pieces + 1) int64."""
    pieces = max(1, min(PIECES, rows.num_rows))
    work = rows.pointer + torch.arange(rows.num_rows + 1, device=rows.pointer.device)
    goals = torch.linspace(0, float(work[-1]), pieces + 1, dtype=torch.float64, device=work.device).long()
    cuts = torch.searchsorted(work, goals)
    cuts[0], cuts[-1] = 0, rows.num_rows
    return cuts


def split_heavy(rows: Rows, limit: int = HEAVY) -> Tensor:
    """Chunks of the heavy rows: (chunks, 4) int64 of row, first edge, end, and the chunks of the row.

    The last number stands with the first chunk of a row only and is 0 with the others.
    """
    heavy = (rows.degree > limit).nonzero().flatten()
    count = (rows.degree[heavy] + limit - 1) // limit
    row = torch.repeat_interleave(heavy, count)
    first = torch.repeat_interleave(count.cumsum(0) - count, count)
    nth = torch.arange(len(row), device=row.device) - first
    begin = rows.pointer[row] + nth * limit
    end = torch.minimum(begin + limit, rows.pointer[row + 1])
    return torch.stack([row, begin, end, torch.where(nth == 0, torch.repeat_interleave(count, count), 0)], dim=1)


def index_dtype(*sizes: int) -> torch.dtype:
    """int32 where every number up to the sizes fits, int64 otherwise."""
    return torch.int32 if max(sizes, default=0) <= MAX_INT32 else torch.int64


def check_ends(source: Tensor, target: Tensor, num_sources: int, num_targets: int, caller: str) -> None:
    """Refuse the first edge with an end that does not exist, naming its position and both ends."""
    if source.numel() == 0:
        return
    low, high = (bound.item() for bound in torch.aminmax(source))
    first, last = (bound.item() for bound in torch.aminmax(target))
    if low >= 0 and first >= 0 and high < num_sources and last < num_targets:
        return
    wrong = (source < 0) | (source >= num_sources) | (target < 0) | (target >= num_targets)
    at = int(wrong.nonzero()[0, 0])
    many = int(wrong.sum())
    raise EdgeError(
        f"{caller}: edge {at} goes from source {int(source[at])} to target {int(target[at])}, but sources are "
        f"{numbers(num_sources)} and targets {numbers(num_targets)}"
        + (f"; {many:,} edges are like this." if many > 1 else ".")
        + " Check the ends, or give num_targets and num_sources."
    )


def numbers(size: int) -> str:
    """The numbers below `size`, for a message."""
    return f"0 … {size - 1}" if size else "none"


def group(key: Tensor, num_rows: int) -> tuple[Tensor, Tensor | None]:
    """Row pointers of a list of row numbers, and the stable order that sorts it (None: already sorted)."""
    pointer = torch.zeros(num_rows + 1, dtype=torch.int64, device=key.device)
    if key.numel() == 0:
        return pointer, None
    torch.cumsum(torch.bincount(key, minlength=num_rows), 0, out=pointer[1:])
    if bool((key[1:] >= key[:-1]).all()):
        return pointer, None
    narrow = key if key.dtype == torch.int32 else key.to(index_dtype(num_rows))
    order = torch.sort(narrow, stable=True).indices
    return pointer, order.to(index_dtype(key.numel()))


def inverse(order: Tensor) -> Tensor:
    """The permutation that undoes `order`."""
    undo = torch.empty_like(order)
    undo[order.long()] = torch.arange(len(order), dtype=order.dtype, device=order.device)
    return undo
