"""Models as functions: each arranges layers into an `Encoder`. Names are resolved here and nowhere below."""

from weft.encoders.encoder import Encoder
from weft.encoders.graph import gat, gatv2, gcn, gin, graph_transformer, mlp, sage
from weft.encoders.registry import Builder, builder_of, names, register

for _build in (mlp, gcn, sage, gat, gatv2, graph_transformer, gin):
    register(_build.__name__.replace("_", "-"), _build)

__all__ = [
    "Builder",
    "Encoder",
    "builder_of",
    "gat",
    "gatv2",
    "gcn",
    "gin",
    "graph_transformer",
    "mlp",
    "names",
    "register",
    "sage",
]
