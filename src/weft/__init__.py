"""Deep learning over any structure: three verbs, one law.

Names are loaded when first asked for, so that `import weft` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft import errors as errors
    from weft import nn as nn
    from weft import ops as ops
    from weft import structure as structure
    from weft import types as types
    from weft.ops import Activated as Activated
    from weft.ops import Additive as Additive
    from weft.ops import Dot as Dot
    from weft.ops import aggregate as aggregate
    from weft.ops import attend as attend
    from weft.ops import explain as explain
    from weft.ops import gather as gather
    from weft.ops import reduce as reduce
    from weft.ops import scan as scan
    from weft.ops import softmax as softmax
    from weft.structure import Causal as Causal
    from weft.structure import Chain as Chain
    from weft.structure import Dense as Dense
    from weft.structure import Grid as Grid
    from weft.structure import Partition as Partition
    from weft.structure import Sparse as Sparse
    from weft.structure import Structure as Structure
    from weft.structure import Tree as Tree
    from weft.structure import Window as Window

_HOMES = {
    "weft.ops": ("Activated", "Additive", "Dot", "aggregate", "attend", "explain", "gather", "reduce", "scan", "softmax"),
    "weft.structure": ("Causal", "Chain", "Dense", "Grid", "Partition", "Sparse", "Structure", "Tree", "Window"),
}
_PARTS = ("errors", "nn", "ops", "structure", "types")
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.1.0"
__all__ = sorted([*_HOME, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"weft.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
