"""The names that users give to things, and where each of them stands."""

# pyarrow.compute makes its functions when it is loaded.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

Number = Callable[[int], int | str]
"""From a position to the number by which a row's owner knows it."""

CLOSE = 10_000
"""An unknown id is compared with so many known ones."""


@dataclass(frozen=True, eq=False)
class Ids:
    """Names of things in their order: whole numbers or text, each once.

    >>> import pyarrow as pa
    >>> ids = Ids.of(pa.array(["b", "a"]), "nodes.csv, column 'id'")
    >>> ids.positions(pa.array(["a", "b", "a"]), "edges.csv, column 'source'").tolist()
    [1, 0, 1]
    """

    values: "pa.Array"

    @classmethod
    def of(cls, values: Any, where: str, number: Number = int) -> "Ids":
        """Refuse what is missing or not unique; `where` and `number` say so in the owner's terms."""
        import pyarrow.compute as pc

        values = canonical(values, where, number)
        if values.null_count:
            at = int(np.flatnonzero(values.is_null())[0])
            raise DataError(f"{where}: row {number(at)} has no id; {values.null_count:,} rows are like this.")
        counts = pc.value_counts(values)
        if len(counts) < len(values):
            twice = counts.field(0).filter(pc.greater(counts.field(1), 1))[0]
            first, second = np.flatnonzero(pc.equal(values, twice))[:2]
            raise DataError(
                f"{where}: rows {number(int(first))} and {number(int(second))} are both called {twice.as_py()!r}; "
                f"{len(values) - len(counts):,} ids too many. Each thing needs an id of its own."
            )
        return cls(values)

    @classmethod
    def counted(cls, size: int) -> "Ids":
        """0, 1, 2, … for things without names."""
        import pyarrow as pa

        return cls(pa.array(np.arange(size)))

    def __len__(self) -> int:
        return len(self.values)

    def positions(self, asked: Any, where: str, number: Number = int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Where each of some ids stands; an unknown one is refused by its row."""
        asked = canonical(asked, where, number)
        found = self.find(asked, where, number)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            row, what = number(int(unknown[0])), asked[int(unknown[0])].as_py()
            many = f"{len(unknown):,} rows are like this"
            if what is None:
                raise DataError(f"{where}: row {row} has no id; {many}. Fill the gap, or remove the row.")
            some = [str(each) for each in self.values[:CLOSE].to_pylist()]
            bare = str(what).strip().lstrip("0")  # spreadsheets take zeros away
            near = [each for each in some if each.strip().lstrip("0") == bare] or get_close_matches(str(what), some, 1)
            raise DataError(
                f"{where}: row {row} names {what!r}, which is none of the {len(self):,} ids"
                + (f" (such as {', '.join(some[:3])})" if some else "")
                + (f". Did you mean {near[0]!r}? " if near else "; ")
                + f"{many}. Add what is missing, or remove these."
            )
        return found

    def find(self, asked: Any, where: str, number: Number = int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Where each of some ids stands, -1 for those that are not among them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        asked = canonical(asked, where, number)
        known = self.values
        if asked.type != known.type:  # the same ids, as numbers in one file and as text in another
            asked, known = asked.cast(pa.string()), known.cast(pa.string())
        return pc.fill_null(pc.index_in(asked, value_set=known), -1).to_numpy().astype(np.int64)

    def take(self, positions: Any) -> "pa.Array":
        """The names at some positions."""
        return self.values.take(positions)


def canonical(values: Any, where: str, number: Number = int) -> "pa.Array":
    """Ids as 64-bit whole numbers or text, whatever wider or narrower types they came in."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        try:
            values = pa.array(values.numpy(force=True) if hasattr(values, "numpy") else values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise DataError(f"{where}: ids are whole numbers or text, all of one kind, but got {_kinds(values)}.") from None
    kind = values.type
    if pa.types.is_dictionary(kind):
        return canonical(values.dictionary_decode(), where, number)
    if pa.types.is_floating(kind):
        return _whole(values, where, number)
    if pa.types.is_integer(kind):
        if pa.types.is_uint64(kind) and (pc.max(values).as_py() or 0) >= 1 << 63:
            return values.cast(pa.string())
        return values.cast(pa.int64())
    if pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.string())
    raise DataError(f"{where}: ids are whole numbers or text, but these are of type {kind}.")


def _whole(values: "pa.Array", where: str, number: Number) -> "pa.Array":
    """Whole numbers with gaps, as pandas keeps them."""
    import pyarrow as pa

    floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = np.isnan(floats)
    broken = np.flatnonzero(~missing & ((floats != np.round(floats)) | (np.abs(floats) > 2**53)))
    if len(broken):
        at = int(broken[0])
        raise DataError(f"{where}: row {number(at)} has the id {float(floats[at])!r}; ids are whole numbers or text.")
    return pa.array(np.where(missing, 0, floats).astype(np.int64), mask=missing)


def _kinds(values: Any) -> str:
    kinds = {type(each).__name__ for each in values} if hasattr(values, "__iter__") else {type(values).__name__}
    return " and ".join(sorted(kinds))
