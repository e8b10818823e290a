"""Batches of nodes: one for each part that is not empty, with the answers of that part beside it, or samples."""

from dataclasses import replace

import pytest
import torch

from weft import errors
from weft.data import Batch, NodeData, Split
from weft.structure import Sparse

DATA = NodeData(
    x=torch.ones(4, 2),
    over=Sparse.from_edges([0, 1], [1, 0], 4),
    y=torch.tensor([10, 11, 12, 13]),
    split=Split.of([0, 3], [1], [], how="by hand"),
)


def large(**settings: object) -> NodeData:
    generator = torch.Generator().manual_seed(0)
    return NodeData(
        x=torch.arange(100.0).reshape(100, 1),
        over=Sparse.from_edges(*torch.randint(100, (2, 900), generator=generator), 100),
        y=torch.arange(100) + 1000,
        split=Split.of(range(50), range(50, 60), [], how="by hand"),
        **settings,
    )


def answers(data: NodeData, part: str, **settings: int) -> list[list[int]]:
    return [batch.y.tolist() for batch in data.batches(part, **settings) if batch.y is not None]


def edges(data: NodeData, part: str, **settings: int) -> list[list[int]]:
    return [batch.over.to_sparse().rows.index.tolist() for batch in data.batches(part, **settings)]


def test_a_batch_is_the_whole_graph_and_the_answers_of_one_part():
    (batch,) = DATA.batches("train")
    assert batch.x is DATA.x and batch.over is DATA.over and batch.y is not None and batch.y.tolist() == [10, 13]
    assert batch.pick(torch.arange(4)).tolist() == [0, 3]
    assert list(DATA.batches("test")) == []


def test_the_whole_graph_has_no_use_for_a_seed():
    (batch,) = DATA.batches("train", seed=5)
    assert batch.x is DATA.x


def test_without_positions_all_are_meant():
    assert Batch(DATA.x, DATA.over).pick(torch.arange(4)).tolist() == [0, 1, 2, 3]


def test_samples_bring_features_and_answers_of_their_seeds():
    data = large(batch_size=16, fanouts=(3, 2))
    found = list(data.batches("train", seed=1))
    assert [len(batch.x) == batch.over.num_targets for batch in found] == [True] * 4
    assert sorted(y for part in answers(data, "train", seed=1) for y in part) == list(range(1000, 1050))
    for batch in found:
        assert batch.y is not None and torch.equal(batch.pick(batch.x).flatten().long() + 1000, batch.y)


def test_training_samples_follow_the_seed_and_the_others_do_not():
    data = large(batch_size=8, fanouts=(2,))
    assert answers(data, "train") == answers(data, "train", seed=0) != answers(data, "train", seed=1)
    assert edges(data, "train", seed=1) == edges(data, "train", seed=1)
    assert answers(data, "val", seed=1) == [list(range(1050, 1058)), [1058, 1059]]
    assert edges(data, "val", seed=1) == edges(data, "val", seed=2)
    assert list(data.batches("test", seed=1)) == []


def test_the_whole_graph_and_two_hops_are_usual():
    assert DATA.batch_size is None and DATA.fanouts == (15, 10)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"batch_size": 0}, errors.WeftValueError, "NodeData: batch_size must be at least 1, but got 0"),
        ({"batch_size": 2.0}, errors.WeftTypeError, "NodeData: batch_size must be a whole number, but got 2.0"),
        ({"fanouts": ()}, errors.WeftValueError, "NodeData: fanouts is empty"),
        ({"fanouts": (3, -2)}, errors.WeftValueError, r"NodeData: fanouts\[1\] must be at least -1, but got -2"),
    ],
)
def test_bad_settings_are_refused(settings, error, words):
    with pytest.raises(error, match=words):
        replace(DATA, **settings)


def test_to_another_device_takes_everything_along():
    there = replace(DATA, batch_size=3).to("meta")
    assert there.x.is_meta and there.y.is_meta and there.over.device.type == "meta" and there.batch_size == 3
    assert all(part.is_meta for _, part in there.split) and there.split.how == "by hand"


def test_samples_are_drawn_on_a_cpu():
    with pytest.raises(errors.DeviceError, match="the structure is on meta, and sampling takes place on a CPU"):
        next(iter(replace(DATA, batch_size=2).to("meta").batches("train")))
