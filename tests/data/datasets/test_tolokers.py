"""Tolokers' file: features, labels, links and masks of ten splits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.data.datasets import tolokers
from weft.errors import DataError

TRAIN = np.array([[1, 0, 0, 0], [0, 0, 0, 1]], bool)
VAL = np.array([[0, 1, 0, 0], [0, 0, 1, 0]], bool)
WHOLE: dict[str, Any] = {
    "node_features": np.arange(8, dtype=np.float32).reshape(4, 2),
    "node_labels": np.array([1, 0, 0, 1]),
    "edges": np.array([[0, 1], [2, 0], [1, 0], [3, 3]]),
    "train_masks": TRAIN,
    "val_masks": VAL,
    "test_masks": ~(TRAIN | VAL),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tiny.npz"


def read(path: Path, **changes: Any):
    np.savez(path, **(WHOLE | changes))
    return tolokers.read({path.name: path}, "tiny")


def test_links_features_labels_and_splits_come_out(path):
    graph = read(path)
    assert graph.x.tolist() == WHOLE["node_features"].tolist() and graph.y.to_pylist() == [1, 0, 0, 1]
    source, target = graph.over.ends()
    assert sorted(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (2, 0)]
    assert [[part.tolist() for _, part in split] for split in graph.splits] == [[[0], [1], [2, 3]], [[3], [2], [0, 1]]]
    assert [split.how for split in graph.splits] == ["published split 1 of 2", "published split 2 of 2"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"edges": np.zeros((3, 4), int)}, "edges of shape (3, 4)"),
        ({"edges": np.array([[0, 4]])}, "node 4 is linked, but there are 4 nodes"),
        ({"edges": np.array([[0, -1]])}, "node -1 is linked"),
        ({"edges": np.array([[0.0, 1.0]])}, "'edges' must hold whole numbers"),
        ({"node_labels": np.zeros(3, int)}, "4 rows of features, 3 labels"),
        ({"node_features": np.zeros(4)}, "'node_features' must hold numbers along 2 axes"),
        ({"train_masks": TRAIN.astype(int)}, "'train_masks' must hold yes or no"),
        ({"train_masks": TRAIN[:1]}, "must be equally many"),
        ({name: WHOLE[name][:, :3] for name in ("train_masks", "val_masks", "test_masks")}, "masks of 4 nodes"),
        ({"val_masks": TRAIN}, "split 1 puts node 0 into more than one part"),
    ],
)
def test_what_does_not_fit_together_is_an_error_that_names_the_file(path, changes, told):
    with pytest.raises(DataError) as error:
        read(path, **changes)
    assert str(error.value).startswith("tiny.npz: ") and told in str(error.value)


def test_an_archive_of_something_else_says_what_is_in_it(path):
    np.savez(path, x=np.zeros(3))
    with pytest.raises(DataError, match=r"tiny\.npz: no array called 'node_features', .*There are: x\."):
        tolokers.read({path.name: path}, "tiny")
