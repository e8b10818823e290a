"""Batches of nodes: one for each part that is not empty, with the answers of that part beside it."""

import torch

from weft.data import Batch, NodeData, Split
from weft.structure import Sparse

DATA = NodeData(
    x=torch.ones(4, 2),
    over=Sparse.from_edges([0, 1], [1, 0], 4),
    y=torch.tensor([10, 11, 12, 13]),
    split=Split.of([0, 3], [1], [], how="by hand"),
)


def test_a_batch_is_the_whole_graph_and_the_answers_of_one_part():
    (batch,) = DATA.batches("train")
    assert batch.x is DATA.x and batch.over is DATA.over and batch.y is not None and batch.y.tolist() == [10, 13]
    assert batch.pick(torch.arange(4)).tolist() == [0, 3]
    assert list(DATA.batches("test")) == []


def test_without_positions_all_are_meant():
    assert Batch(DATA.x, DATA.over).pick(torch.arange(4)).tolist() == [0, 1, 2, 3]


def test_to_another_device_takes_everything_along():
    there = DATA.to("meta")
    assert there.x.is_meta and there.y.is_meta and there.over.device.type == "meta"
    assert all(part.is_meta for _, part in there.split) and there.split.how == "by hand"
