"""Objects: graphs as their owners have them, features, splits, and the batches a training step sees."""

from weft.data.batch import Batch
from weft.data.features import Features
from weft.data.graph import Graph
from weft.data.ids import Ids
from weft.data.nodes import NodeData
from weft.data.split import Split
from weft.data.splits import ByGroup, ByTime, PerClass, Published, Random, Splitter, Stratified, folds

__all__ = [
    "Batch",
    "ByGroup",
    "ByTime",
    "Features",
    "Graph",
    "Ids",
    "NodeData",
    "PerClass",
    "Published",
    "Random",
    "Split",
    "Splitter",
    "Stratified",
    "folds",
]
