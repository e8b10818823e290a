"""Pickles of Python 2 without pickle's powers: arrays, sparse matrices and lists by number, and nothing else.

A pickle is a program. Here each of the six names that the published files use stands for a record of this module that
only keeps what it is told; the libraries they name are not called, and every other name is refused before it is looked
up. What was told is checked when the pickle has ended.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from weft.data.datasets.compressed import DAMAGED, Array, Compressed
from weft.data.table import first_line
from weft.errors import DataError

DTYPES = ("i4", "i8", "f4", "f8")


def read_array(path: Path) -> Array:
    """The array in a pickle."""
    told = _load(path)
    if not isinstance(told, _Array):
        raise DataError(f"{path.name}: expected an array, but the pickle holds {_kind(told)}. {DAMAGED}")
    return _as_array(told, path.name)


def read_matrix(path: Path) -> Compressed:
    """The sparse matrix in a pickle."""
    told = _load(path)
    if not isinstance(told, _Matrix):
        raise DataError(f"{path.name}: expected a sparse matrix, but the pickle holds {_kind(told)}. {DAMAGED}")
    parts = {name: told.state.get(name) for name in ("data", "indices", "indptr")}
    shape = told.state.get("_shape")
    if not isinstance(shape, tuple) or not all(isinstance(size, int) for size in shape):
        raise DataError(f"{path.name}: the sparse matrix does not say its shape. {DAMAGED}")
    return Compressed.of(**{name: _as_array(part, path.name) for name, part in parts.items()}, shape=shape, where=path.name)


def read_lists(path: Path) -> dict[int, list[int]]:
    """The lists of numbers by number in a pickle."""
    told = _load(path)
    if not isinstance(told, _Lists):
        raise DataError(f"{path.name}: expected a dictionary of lists, but the pickle holds {_kind(told)}. {DAMAGED}")
    for key, members in told.items():
        if type(key) is not int or not isinstance(members, list) or not all(type(each) is int for each in members):
            raise DataError(
                f"{path.name}: expected lists of whole numbers by number; {_short(key)} is not like this. {DAMAGED}"
            )
    return dict(told)


class _Array:
    """What numpy.core.multiarray._reconstruct is told."""

    def __init__(self, kind: Any, shape: Any, code: Any):
        if kind != "numpy.ndarray":
            raise pickle.UnpicklingError("an array is to be made of what is none")
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Dtype:
    """What numpy.dtype is told."""

    def __init__(self, code: Any, align: Any, copy: Any):
        self.code = code
        self.order: Any = None

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]


class _Matrix:
    """What a csr_matrix is told."""

    state: dict[str, Any]

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise pickle.UnpicklingError("a sparse matrix has no attributes")
        self.state = state


class _Lists(dict[Any, Any]):
    """What a defaultdict of lists is told."""

    def __init__(self, factory: Any):
        if factory != "list":
            raise pickle.UnpicklingError("a dictionary has other defaults than lists")
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a dictionary has attributes")


# Each is a class with __setstate__, or text: pickle can write attributes into anything else, a function's defaults too.
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): "numpy.ndarray",
    ("numpy", "dtype"): _Dtype,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): _Lists,
    ("__builtin__", "list"): "list",
}


class _Reader(pickle.Unpickler):
    def __init__(self, stream: Any, place: str):
        super().__init__(stream, fix_imports=False, encoding="latin1")
        self.place = place

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) not in _ADMITTED:
            raise DataError(
                f"{self.place}: the pickle asks for {_short(f'{module_name}.{global_name}')}, which a dataset has no use for: "
                "it could run any program. Nothing of it was run. Do not use this file; fetch the published one."
            )
        return _ADMITTED[module_name, global_name]


def _load(path: Path) -> Any:
    try:
        with path.open("rb") as stream:
            return _Reader(stream, path.name).load()
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({first_line(error)}).") from None
    except Exception as error:  # a damaged pickle can fail in any way at all
        raise DataError(f"{path.name}: cannot be read as a pickle of data ({first_line(error)}). {DAMAGED}") from None


def _as_array(told: Any, place: str) -> Array:
    """Bytes to numbers."""
    try:
        _, shape, dtype, by_columns, text = told.state
        if dtype.code not in DTYPES or dtype.order != "<":
            raise DataError(f"{place}: an array holds elements of type {_short(dtype.code)}; known are {', '.join(DTYPES)}.")
        values = np.frombuffer(text.encode("latin1"), np.dtype(f"<{dtype.code}"))
        return values.reshape(shape, order="F" if by_columns else "C")
    except DataError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{place}: an array is not described as it should be ({first_line(error)}). {DAMAGED}") from None


def _kind(told: Any) -> str:
    known = {_Array: "an array", _Matrix: "a sparse matrix", _Lists: "a dictionary of lists", _Dtype: "an element type"}
    return known.get(type(told), f"a {type(told).__name__}")


def _short(what: object) -> str:
    text = str(what) if isinstance(what, str | int) else type(what).__name__  # anything deeper could be endless
    return repr(text if len(text) <= 80 else text[:80] + "…")
