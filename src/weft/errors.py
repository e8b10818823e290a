"""Every error weft raises on purpose, in one tree.

    WeftError
    ├── WeftValueError (ValueError)      a value that cannot be right
    │   ├── EdgeError                    an end of an edge does not exist
    │   ├── ShapeError                   tensors and structure do not fit together
    │   ├── SizeError                    too large to be written out edge by edge
    │   ├── DeviceError                  tensors and structure live on different devices
    │   ├── OrderError                   a cycle where an order is needed
    │   └── DataError                    a table, a column, a row or an id that cannot be used
    │       ├── MissingFileError (FileNotFoundError)    a file that is not there
    │       └── CheckpointError          a checkpoint or model that is damaged or of another kind
    ├── NotFittedError                   an answer is asked for before anything was learnt
    └── WeftTypeError (TypeError)        a thing of the wrong kind
        ├── DtypeError                   a tensor of the wrong element type
        └── StructureError               a structure that lacks what the verb asks for

Each message says what was called, what was expected, what came, and what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class WeftError(Exception):
    """Anything weft refuses on purpose."""


class WeftValueError(WeftError, ValueError):
    """A value that cannot be right."""


class EdgeError(WeftValueError):
    """An end of an edge does not exist."""


class ShapeError(WeftValueError):
    """Tensors and structure do not fit together."""


class SizeError(WeftValueError):
    """Too large to be written out edge by edge."""


class DeviceError(WeftValueError):
    """Tensors and structure live on different devices."""


class OrderError(WeftValueError):
    """A cycle where an order is needed."""


class DataError(WeftValueError):
    """A table, a column, a row or an id that cannot be used."""


class MissingFileError(DataError, FileNotFoundError):
    """A file that is not there."""


class CheckpointError(DataError):
    """A checkpoint or model that is damaged or of another kind."""


class NotFittedError(WeftError, ValueError, AttributeError):
    """An answer is asked for before anything was learnt."""


class WeftTypeError(WeftError, TypeError):
    """A thing of the wrong kind."""


class DtypeError(WeftTypeError):
    """A tensor of the wrong element type."""


class StructureError(WeftTypeError):
    """A structure that lacks what the verb asks for."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest of the known words, as a sentence with a space before it; nothing where none is near.

    >>> did_you_mean("gnc", ["gin", "gcn"]), did_you_mean("xyz", ["gcn"])
    (" Did you mean 'gcn'?", '')
    """
    known = list(known)
    swapped = [each for each in known if sorted(each) == sorted(word)]  # two letters in the wrong order
    near = swapped or get_close_matches(word, known, 1)
    return f" Did you mean {near[0]!r}?" if near else ""
