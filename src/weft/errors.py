"""Every error weft raises on purpose, in one tree.

    WeftError
    ├── WeftValueError (ValueError)      a value that cannot be right
    │   ├── EdgeError                    an end of an edge does not exist
    │   ├── ShapeError                   tensors and structure do not fit together
    │   ├── SizeError                    too large to be written out edge by edge
    │   ├── DeviceError                  tensors and structure live on different devices
    │   └── OrderError                   a cycle where an order is needed
    └── WeftTypeError (TypeError)        a thing of the wrong kind
        ├── DtypeError                   a tensor of the wrong element type
        └── StructureError               a structure that lacks what the verb asks for

Each message says what was called, what was expected, what came, and what to do.
"""


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


class WeftTypeError(WeftError, TypeError):
    """A thing of the wrong kind."""


class DtypeError(WeftTypeError):
    """A tensor of the wrong element type."""


class StructureError(WeftTypeError):
    """A structure that lacks what the verb asks for."""
