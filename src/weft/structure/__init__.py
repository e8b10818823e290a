"""Who may speak to whom: topology and what follows from it, in tensors only.

A structure has edges (every one), an order (`Ordered`), or a rule that stands for its edges (`Regular`).
It never holds features, labels or parameters.
"""

from weft.structure.acyclic import Acyclic, Tree
from weft.structure.base import Ordered, Regular, Structure
from weft.structure.causal import Causal
from weft.structure.chain import Chain
from weft.structure.dense import Dense
from weft.structure.grid import Grid
from weft.structure.partition import Partition
from weft.structure.patterns import blocks, dilated, global_tokens, random_pattern
from weft.structure.sparse import Sparse
from weft.structure.window import Window

__all__ = [
    "Acyclic",
    "Causal",
    "Chain",
    "Dense",
    "Grid",
    "Ordered",
    "Partition",
    "Regular",
    "Sparse",
    "Structure",
    "Tree",
    "Window",
    "blocks",
    "dilated",
    "global_tokens",
    "random_pattern",
]
