"""Arrays out of an npz file, of the kinds and the numbers of axes that are expected, and never a pickle."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
from numpy.lib.npyio import NpzFile

from weft.data.datasets.compressed import DAMAGED, Array
from weft.data.table import first_line
from weft.errors import DataError

WORDS = {"iu": "whole numbers", "iuf": "numbers", "b": "yes or no"}


def read_npz(path: Path, expected: Mapping[str, tuple[str, int]]) -> dict[str, Array]:
    """The arrays of `expected`, which says for each key the kinds of NumPy's elements and how many axes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "example.npz")
    >>> np.savez(path, labels=np.array([2, 0, 1]))
    >>> read_npz(path, {"labels": ("iu", 1)})["labels"].tolist()
    [2, 0, 1]
    """
    try:
        with path.open("rb") as stream:  # NumPy leaves a file open that it cannot read
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, NpzFile):
                raise DataError(f"{path.name}: a single array, where an npz archive is expected. {DAMAGED}")
            with archive:
                return _arrays(archive, expected, path.name)
    except DataError:
        raise
    except (OSError, EOFError, ValueError, BadZipFile) as error:
        raise DataError(f"{path.name}: cannot be read as an npz archive ({first_line(error)}). {DAMAGED}") from None


def _arrays(archive: NpzFile, expected: Mapping[str, tuple[str, int]], place: str) -> dict[str, Array]:
    lacking = [key for key in expected if key not in archive]
    if lacking:
        known = ", ".join(archive.files) or "none"
        raise DataError(f"{place}: no array called {', '.join(map(repr, lacking))}. There are: {known}. {DAMAGED}")
    return {key: _take(archive, key, *kind, place) for key, kind in expected.items()}


def _take(archive: NpzFile, key: str, kinds: str, axes: int, place: str) -> Array:
    try:
        array = archive[key]
    except (OSError, EOFError, ValueError, BadZipFile, ZlibError, MemoryError, NotImplementedError) as error:
        raise DataError(f"{place}: the array {key!r} cannot be read ({first_line(error)}). {DAMAGED}") from None
    if not isinstance(array, np.ndarray) or array.ndim != axes or array.dtype.kind not in kinds:
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "no array"
        raise DataError(f"{place}: {key!r} must hold {WORDS[kinds]} along {axes} axes, but is {found}. {DAMAGED}")
    return array
