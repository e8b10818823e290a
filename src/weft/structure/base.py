"""What every structure is, and the few tools they share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from weft.errors import DtypeError, SizeError, WeftTypeError, WeftValueError
from weft.types import Index

if TYPE_CHECKING:
    from weft.structure.sparse import Sparse

EDGE_LIMIT = 1 << 26
"""The most edges a regular structure writes out; beyond it, it stays implicit."""


class Structure(ABC):
    """A relation: which sources may speak to which targets."""

    num_targets: int
    num_sources: int

    @abstractmethod
    def to_sparse(self) -> "Sparse":
        """The same relation, edge by edge (the oracle; refuses when huge)."""

    @abstractmethod
    def to(self, device: torch.device | str) -> Self:
        """The same relation on another device."""


class Regular(Structure):
    """A relation known by rule, never stored: positions may carry batch axes in front.

    With `lengths`, one per item of the batch, positions at or beyond an item's length neither
    speak nor listen.
    """

    lengths: Tensor | None

    @abstractmethod
    def allowed(self, device: torch.device | str) -> Tensor:
        """Who may speak to whom by the rule alone: (num_targets, num_sources) of bool."""

    def to_sparse(self) -> "Sparse":
        """The same relation, edge by edge (cached); a batch becomes one block per item."""
        return self._listed

    @cached_property
    def _listed(self) -> "Sparse":
        return write_out(self)


class Ordered(Structure):
    """A relation whose positions come one after another; what `scan` asks for."""

    @abstractmethod
    def order(self) -> Iterator[Index]:
        """Groups of positions that can be computed together, predecessors first."""


def freeze(instance: object, **fields: object) -> None:
    """Fill the fields of a frozen dataclass, once, in its constructor."""
    for name, value in fields.items():
        object.__setattr__(instance, name, value)


def remember(instance: object, name: str, value: object) -> None:
    """Fill a cached property of a frozen dataclass with what is already known."""
    vars(instance)[name] = value


def as_size(value: object, caller: str, name: str, least: int = 0) -> int:
    """`value` as a whole number of at least `least`, or a sentence about why it is not."""
    if not isinstance(value, int) and hasattr(value, "__index__"):  # of numpy or torch
        with suppress(TypeError):
            value = index(value)  # pyright: ignore[reportArgumentType]
    if isinstance(value, bool) or not isinstance(value, int):
        raise WeftTypeError(f"{caller}: {name} must be a whole number, but got {value!r} ({type(value).__name__}).")
    if value < least:
        raise WeftValueError(f"{caller}: {name} must be at least {least}, but got {value}.")
    return value


def as_index(value: object, caller: str, name: str) -> Tensor:
    """`value` as a vector of whole numbers, or a sentence about why it is not."""
    if not isinstance(value, Tensor):
        try:
            value = torch.as_tensor(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise WeftTypeError(
                f"{caller}: {name} must be a vector of whole numbers, but got {type(value).__name__}: {error}."
            ) from None
    if value.ndim != 1:
        raise WeftValueError(f"{caller}: {name} must have one axis, but has shape {tuple(value.shape)}.")
    if value.numel() == 0:
        return value.to(torch.int64)
    if value.dtype == torch.bool or value.is_floating_point() or value.is_complex():
        kind = str(value.dtype).removeprefix("torch.")
        raise DtypeError(
            f"{caller}: {name} must hold whole numbers, but holds {kind}; "
            f"the first is {value[0].item()!r}. Convert it with {name}.long() if they are positions."
        )
    return value if value.dtype == torch.int32 else value.long()


def as_lengths(value: object, caller: str, longest: int) -> Tensor | None:
    """`value` as one length per item, each within 0 … `longest`."""
    if value is None:
        return None
    lengths = as_index(value, caller, "lengths").to(torch.int64)
    wrong = ((lengths < 0) | (lengths > longest)).nonzero()
    if len(wrong):
        item = int(wrong[0])
        raise WeftValueError(f"{caller}: lengths[{item}] is {int(lengths[item])}, outside 0 … {longest}.")
    return lengths


def write_out(structure: Regular) -> "Sparse":
    """Every edge of a regular structure, sorted by target."""
    from weft.structure.sparse import Sparse

    rows, columns, lengths = structure.num_targets, structure.num_sources, structure.lengths
    items = 1 if lengths is None else len(lengths)
    if rows * columns > EDGE_LIMIT or items * rows * columns > EDGE_LIMIT:
        raise SizeError(
            f"to_sparse: {structure!r} would be examined pair by pair, {items * rows * columns:,} of them; "
            f"the limit is {EDGE_LIMIT:,}. Use the structure itself: the verbs take it as it is."
        )
    device = torch.device("cpu") if lengths is None else lengths.device
    allowed = structure.allowed(device).expand(items, rows, columns)
    if lengths is not None:
        speaks = torch.arange(columns, device=device) < lengths[:, None]
        allowed = allowed & speaks[:, None, :]
        if rows == columns:
            allowed = allowed & speaks[:, :, None]
    item, target, source = allowed.nonzero(as_tuple=True)
    return Sparse.from_edges(item * columns + source, item * rows + target, items * rows, items * columns)
