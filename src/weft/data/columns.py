"""One column to numbers, by kind; what has to be learnt is learnt from the rows it is fitted on, and nothing else.

Each kind is a frozen record: `fit` learns it from an Arrow array, `apply` turns an array of any length into (rows,
width) numbers, and its fields are plain values, so that a model file can hold it. What is missing becomes a neutral
number, and where rows it was fitted on had gaps, one more number says whether it was missing.
"""

# pyarrow.compute makes its functions when it is loaded.
# pyright: reportAttributeAccessIssue=false

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from weft.data.ids import Number
from weft.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = np.ndarray[Any, np.dtype[np.float32]]

MOST_CATEGORIES, MOST_WORDS = 1000, 2000
DAY = 24 * 3600.0

ROUNDING = 1e-12
"""A spread below this share of the largest number is what rounding leaves of equal numbers."""

FARTHEST = 1e6
"""A number farther from the mean than so many standard deviations counts as so far."""


class Column(Protocol):
    """What every kind can do."""

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int) -> Self:
        """Learn from the values of the training rows; `where` and `number` name column and rows in messages."""
        ...

    def apply(self, values: Any, where: str = "values") -> Numbers:
        """(rows, width) numbers."""
        ...

    def names(self) -> tuple[str, ...]:
        """What each of the numbers means."""
        ...


@dataclass(frozen=True)
class Numeric:
    """A number: its distance from the mean, in standard deviations."""

    mean: float
    spread: float
    gaps: bool

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int) -> Self:
        numbers = _finite(as_floats(values, where, number), where, number)
        known = numbers[~np.isnan(numbers)]
        if len(known) == 0:
            return cls(0.0, 1.0, gaps=True)
        scale = max(float(np.abs(known).max()), 1e-300)  # squares of very large and very small numbers have no place
        mean, spread = float((known / scale).mean()), float((known / scale).std())
        return cls(mean * scale, spread * scale if spread > ROUNDING else scale, len(known) < len(numbers))

    def apply(self, values: Any, where: str = "values") -> Numbers:
        numbers = _finite(as_floats(values, where), where)
        missing = np.isnan(numbers)
        with np.errstate(over="ignore"):
            away = np.clip((numbers - self.mean) / self.spread, -FARTHEST, FARTHEST)
        return _beside(np.where(missing, 0.0, away), missing if self.gaps else None)

    def names(self) -> tuple[str, ...]:
        return ("value", "missing") if self.gaps else ("value",)


@dataclass(frozen=True)
class Boolean:
    """Yes is 1, no is -1, missing is 0."""

    gaps: bool

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int) -> Self:
        import pyarrow as pa

        return cls(_cast(values, pa.bool_(), where, number).null_count > 0)

    def apply(self, values: Any, where: str = "values") -> Numbers:
        import pyarrow as pa

        numbers = _cast(values, pa.bool_(), where).cast(pa.int8()).fill_null(-1).to_numpy(zero_copy_only=False)
        missing = numbers < 0
        return _beside(np.where(missing, 0.0, numbers * 2.0 - 1), missing if self.gaps else None)

    def names(self) -> tuple[str, ...]:
        return ("yes", "missing") if self.gaps else ("yes",)


@dataclass(frozen=True)
class Categorical:
    """One of some words: a number for each of the most frequent, and one for anything else, missing included."""

    words: tuple[str, ...]

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int) -> Self:
        counts = Counter(text for text in as_texts(values, where, number).to_pylist() if text is not None)
        return cls(_most_frequent(counts, MOST_CATEGORIES))

    def apply(self, values: Any, where: str = "values") -> Numbers:
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = as_texts(values, where)
        known = pc.fill_null(pc.index_in(texts, value_set=pa.array(self.words, pa.string())), len(self.words))
        numbers = np.zeros((len(texts), len(self.words) + 1), np.float32)
        numbers[np.arange(len(texts)), known.to_numpy()] = 1
        return numbers

    def names(self) -> tuple[str, ...]:
        return (*self.words, "anything else")


@dataclass(frozen=True)
class Date:
    """A point in time: how late it is, standardised, and where in the year and in the week."""

    when: Numeric

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int) -> Self:
        return cls(Numeric.fit(as_seconds(values, where, number), where, number))

    def apply(self, values: Any, where: str = "values") -> Numbers:
        seconds = as_seconds(values, where)
        days = as_floats(seconds, where) / DAY
        year, week = days / 365.2425 * 2 * np.pi, (days + 3) / 7 * 2 * np.pi  # 1970 began on a Thursday
        waves = np.stack([np.sin(year), np.cos(year), np.sin(week), np.cos(week)], axis=1)
        return np.concatenate([self.when.apply(seconds, where), np.nan_to_num(waves)], axis=1, dtype=np.float32)

    def names(self) -> tuple[str, ...]:
        return (*self.when.names(), "sine of the year", "cosine of the year", "sine of the week", "cosine of the week")


@dataclass(frozen=True)
class Words:
    """Text as the words in it: how often each occurs, times how rare it is, each row scaled to length 1.

    With a `separator` the parts between separators are the words, and only whether they are there counts.
    """

    words: tuple[str, ...]
    rarity: tuple[float, ...]
    separator: str | None = None

    @classmethod
    def fit(cls, values: Any, where: str = "values", number: Number = int, *, separator: str | None = None) -> Self:
        rows = [set(_split(text, separator)) for text in as_lists(values, where, number)]
        counts = Counter(word for row in rows for word in row)
        words = _most_frequent(counts, MOST_WORDS)
        if separator is not None:
            return cls(words, (1.0,) * len(words), separator)
        return cls(words, tuple(log((1 + len(rows)) / (1 + counts[word])) + 1 for word in words))

    def apply(self, values: Any, where: str = "values") -> Numbers:
        place = {word: at for at, word in enumerate(self.words)}
        numbers = np.zeros((len(values), len(self.words)), np.float32)
        for row, text in enumerate(as_lists(values, where)):
            for word in _split(text, self.separator):
                if word in place:
                    numbers[row, place[word]] += 1
        if self.separator is not None:
            return np.minimum(numbers, 1)
        numbers *= np.asarray(self.rarity, np.float32)
        return numbers / np.maximum(np.linalg.norm(numbers, axis=1, keepdims=True), 1e-12)

    def names(self) -> tuple[str, ...]:
        return self.words


def as_floats(values: Any, where: str, number: Number = int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers, NaN where they are missing."""
    import pyarrow as pa

    return _cast(values, pa.float64(), where, number).fill_null(np.nan).to_numpy(zero_copy_only=False)


def as_texts(values: Any, where: str, number: Number = int) -> "pa.Array":
    """Text, null where it is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    return _cast(values, pa.string(), where, number)


def as_seconds(values: Any, where: str, number: Number = int) -> "pa.Array":
    """Points in time as seconds since 1970."""
    import pyarrow as pa

    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        raise DataError(f"{where}: numbers are no dates. Take the column as numeric, or write dates as 2024-12-31.")
    moments = _cast(values, pa.timestamp("us"), where, number)
    return pa.array(
        moments.cast(pa.int64()).cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy() / 1e6, from_pandas=True
    )


def as_lists(values: Any, where: str, number: Number = int) -> list[Any]:
    """Rows of text, or of lists of text; nothing where a row is missing."""
    rows = values.to_pylist() if is_listed(values.type) else as_texts(values, where, number).to_pylist()
    return [row if row is not None else "" for row in rows]


def is_listed(kind: Any) -> bool:
    """Whether a column holds lists."""
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _finite(numbers: np.ndarray[Any, Any], where: str, number: Number = int) -> np.ndarray[Any, Any]:
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        at = int(infinite[0])
        raise DataError(f"{where}: row {number(at)} holds {numbers[at]}; a number must be finite or missing.")
    return numbers


def _split(text: Any, separator: str | None) -> list[str]:
    if isinstance(text, list):
        return [str(part) for part in text if part is not None]
    if separator is not None:
        return [part.strip() for part in text.split(separator) if part.strip()]
    return re.findall(r"\w+", text.lower())


def _cast(values: Any, kind: Any, where: str, number: Number = int) -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    try:
        return values.cast(kind, safe=False)  # what is lost is the last digits of very large numbers
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        meant = {pa.float64(): "numbers", pa.bool_(): "true or false", pa.string(): "text"}.get(
            kind, "dates such as 2024-12-31"
        )
        for row, value in enumerate(values):
            try:
                value.cast(kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                raise DataError(f"{where}: row {number(row)} holds {value.as_py()!r}, where {meant} should be.") from None
        raise DataError(f"{where}: {meant} should be here, but the values are of type {values.type}.") from None


def _most_frequent(counts: Counter[str], most: int) -> tuple[str, ...]:
    """The words seen most often, in the order of the alphabet; of equally frequent ones, the first."""
    return tuple(sorted(sorted(counts, key=lambda word: (-counts[word], word))[:most]))


def _beside(numbers: np.ndarray[Any, Any], missing: np.ndarray[Any, Any] | None) -> Numbers:
    columns = [numbers] if missing is None else [numbers, missing]
    return np.stack(columns, axis=1).astype(np.float32)
