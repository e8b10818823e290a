"""A table of columns to a matrix of numbers: kinds found or given, everything learnt from training rows only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
import torch
from torch import Tensor

from weft.data.columns import Boolean, Categorical, Column, Date, Numeric, Words, as_floats, is_listed
from weft.data.ids import Number
from weft.errors import DataError, WeftValueError
from weft.types import Kind

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATORS = ("|", ";")
FEW = 50
"""Text of at most so many different values is categorical, however few rows there are."""


@dataclass(frozen=True)
class Features:
    """How the columns of a table become features: what each is, what was learnt of it, and what is left out and why."""

    columns: tuple[tuple[str, Column], ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @classmethod
    def fit(cls, table: "pa.Table", train: Iterable[int], kinds: Mapping[str, Kind] | None = None) -> Self:
        """Learn from the rows `train`; `kinds` overrides what a column is taken for."""
        kinds = dict(kinds or {})
        for name, kind in kinds.items():
            _check_kind(table, name, kind)
        rows = np.fromiter(train, np.int64)
        if len(rows) == 0 or rows.min() < 0 or rows.max() >= table.num_rows:
            told = f"{rows.min()} … {rows.max()}" if len(rows) else "none"
            raise WeftValueError(f"features: training rows must be some of 0 … {table.num_rows - 1}, but are {told}.")
        columns: list[tuple[str, Column]] = []
        left_out: list[tuple[str, str]] = []
        for name in table.column_names:
            seen = table[name].combine_chunks().take(rows)
            kind = kinds.get(name) or guess_kind(seen)
            reason = ("left out as asked" if kind == "skip" else None) if name in kinds else _no_use(seen, kind)
            if reason is None:
                columns.append((name, _fit(kind, seen, f"column {name!r}", lambda at: int(rows[at]))))
            else:
                left_out.append((name, reason))
        return cls(tuple(columns), tuple(left_out))

    def apply(self, table: "pa.Table") -> Tensor:
        """(rows, width) numbers for any table that has the columns."""
        lacking = [name for name, _ in self.columns if name not in table.column_names]
        if lacking:
            raise DataError(
                f"features: the model knows the columns {', '.join(map(repr, lacking))}, which are not in the table. "
                f"It has: {', '.join(table.column_names)}."
            )
        matrix = np.empty((table.num_rows, self.width), np.float32)
        begin = 0
        for name, column in self.columns:
            numbers = column.apply(table[name].combine_chunks(), f"column {name!r}")
            matrix[:, begin : begin + numbers.shape[1]] = numbers
            begin += numbers.shape[1]
        return torch.from_numpy(matrix)

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def names(self) -> list[str]:
        """What each feature is: the column, and which of its numbers."""
        return [f"{name}: {part}" for name, column in self.columns for part in column.names()]

    def kinds(self) -> dict[str, str]:
        """What every column was taken for."""
        return {name: _kind(column) for name, column in self.columns} | {name: "skip" for name, _ in self.left_out}

    def to_json(self) -> dict[str, Any]:
        """Plain values that a model file can hold."""
        columns = [{"column": name, "kind": type(column).__name__, **_fields(column)} for name, column in self.columns]
        return {"columns": columns, "left_out": [list(pair) for pair in self.left_out]}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`; refuses anything else."""
        try:
            columns = tuple((str(each["column"]), _read(each)) for each in told["columns"])
            return cls(columns, tuple((str(name), str(reason)) for name, reason in told["left_out"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"features: the columns of a model are not described as they should be ({why}).") from None


_CLASSES: dict[str, type[Any]] = {each.__name__: each for each in (Boolean, Categorical, Date, Numeric, Words)}
_KIND: dict[type[Any], str] = {Boolean: "boolean", Categorical: "categorical", Date: "date", Numeric: "numeric", Words: "text"}


def _kind(column: Column) -> str:
    return "multi" if isinstance(column, Words) and column.separator is not None else _KIND[type(column)]


def _fields(column: Any) -> dict[str, Any]:
    """The fields of a record and of the records in it, tuples as lists."""
    told = {each.name: getattr(column, each.name) for each in fields(column)}
    return {
        name: _fields(value) if is_dataclass(value) else list(value) if isinstance(value, tuple) else value
        for name, value in told.items()
    }


def guess_kind(values: "pa.Array") -> Kind:
    """What a column looks like, judged by its training rows."""
    import pyarrow as pa

    kind = values.type.value_type if is_listed(values.type) else values.type
    if is_listed(values.type):
        return "skip" if pa.types.is_floating(kind) or pa.types.is_nested(kind) else "multi"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numeric"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_dictionary(kind):
        return "categorical"
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return "skip"
    texts = [text for text in values.cast(pa.string()).to_pylist() if text is not None]
    if texts and _separator(texts) is not None:
        return "multi"
    if len(set(texts)) <= max(min(FEW, len(texts) // 2), len(texts) // 20):
        return "categorical"
    return "text" if sum(len(text.split()) for text in texts) >= 3 * len(texts) > 0 else "skip"


def _separator(texts: list[str]) -> str | None:
    """What parts several values in one text, if most rows look like that and the parts come again."""
    for separator in SEPARATORS:
        rows = [text.split(separator) for text in texts]
        parts = [part for row in rows for part in row]
        if len(parts) > 1.5 * len(rows) and len(set(parts)) <= len(parts) // 2:
            return separator
    return None


def _no_use(values: "pa.Array", kind: Kind) -> str | None:
    """Why a column is left out, if it is."""
    values = values.drop_null()
    if kind == "numeric":
        values = values.filter(np.isfinite(as_floats(values, "values")))
    if len(values) == 0:
        return "no training row has a value"
    if kind == "skip":
        return "neither numbers, categories, dates nor text: nearly every row has a value of its own"
    if kind not in ("text", "multi") and len(values.unique()) == 1:
        return "every training row has the same value"
    return None


def _fit(kind: Kind, values: "pa.Array", where: str, number: Number) -> Column:
    if kind == "multi":
        texts = [text for text in values.to_pylist() if isinstance(text, str)]
        return Words.fit(values, where, number, separator=_separator(texts) or _most_common(texts))
    simple: dict[str, Any] = {"boolean": Boolean, "categorical": Categorical, "date": Date, "numeric": Numeric, "text": Words}
    return simple[kind].fit(values, where, number)


def _most_common(texts: list[str]) -> str:
    """The separator that occurs in most rows; of equals, the first."""
    return max(SEPARATORS, key=lambda separator: sum(separator in text for text in texts))


def _check_kind(table: "pa.Table", name: str, kind: object) -> None:
    if name not in table.column_names:
        near = get_close_matches(name, table.column_names, 1)
        raise DataError(
            f"features: a kind is given for column {name!r}, which is not there."
            + (f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(table.column_names)}.")
        )
    if kind not in get_args(Kind):
        raise WeftValueError(f"features: column {name!r} cannot be {kind!r}; kinds are {', '.join(get_args(Kind))}.")


def _read(told: Mapping[str, Any]) -> Column:
    parts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    del parts["column"]
    kind = _CLASSES[parts.pop("kind")]
    if kind is Date:
        parts["when"] = Numeric(**parts["when"])
        _check_fields(parts["when"])
    column = kind(**parts)
    _check_fields(column)
    return column


def _check_fields(column: Any) -> None:
    """Raise a ValueError where a field is not what the record says it is."""
    for each in fields(column):
        value = getattr(column, each.name)
        parts = value if isinstance(value, tuple) else ()
        fits = {
            "mean": isinstance(value, float) and isfinite(value),
            "spread": isinstance(value, float) and isfinite(value) and value > 0,
            "gaps": isinstance(value, bool),
            "when": isinstance(value, Numeric),
            "words": isinstance(value, tuple) and all(isinstance(part, str) for part in parts),
            "rarity": isinstance(value, tuple) and all(isinstance(part, float) and isfinite(part) for part in parts),
            "separator": value is None or (isinstance(value, str) and value != ""),
        }
        if not fits[each.name]:
            raise ValueError(f"{type(column).__name__}.{each.name} is {value!r}")
    if isinstance(column, Words) and len(column.words) != len(column.rarity):
        raise ValueError(f"{len(column.words)} words, but {len(column.rarity)} rarities")
