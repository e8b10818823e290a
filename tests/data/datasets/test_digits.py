"""The graph of digits: the images are scikit-learn's, the neighbours exact, and two CSV files say the same."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from weft.data import Graph, datasets
from weft.data.datasets.digits import NEIGHBOURS, nearest, write_digits
from weft.errors import MissingFileError

PIXELS, DIGITS = load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return datasets.get("digits")


def test_columns_are_the_pixels(graph):
    assert graph.columns.column_names == [f"p{row}{column}" for row in range(8) for column in range(8)]
    assert all(pa.types.is_integer(kind) for kind in graph.columns.schema.types)
    assert np.array_equal(np.stack([column.to_numpy() for column in graph.columns.columns], 1), PIXELS)
    assert graph.x is None


def test_the_digit_is_what_is_to_be_predicted(graph):
    assert graph.y.to_pylist() == DIGITS.tolist()


def test_ids_are_shuffled_names_and_the_same_every_time(graph):
    names = graph.ids.values.to_pylist()
    assert sorted(names) == [f"img-{number:04d}" for number in range(1, 1798)] and names != sorted(names)
    assert names[:3] == ["img-1082", "img-1708", "img-0928"]


def test_neighbours_are_as_near_as_those_that_scikit_learn_finds():
    exact, _ = NearestNeighbors(n_neighbors=NEIGHBOURS + 1, algorithm="kd_tree").fit(PIXELS).kneighbors(PIXELS)
    found = nearest(PIXELS, NEIGHBOURS)
    mine = np.linalg.norm(PIXELS[:, None] - PIXELS[found], axis=2)
    np.testing.assert_allclose(mine, exact[:, 1:], rtol=0, atol=1e-9)
    assert not (found == np.arange(len(found))[:, None]).any()


def test_every_image_is_linked_to_its_neighbours_and_to_those_whose_neighbour_it_is(graph):
    source, target = graph.over.ends()
    expected = {(at, int(each)) for at, row in enumerate(nearest(PIXELS, NEIGHBOURS)) for each in row}
    expected |= {(b, a) for a, b in expected}
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == expected and len(source) == len(expected)


def test_ten_of_each_class_train_ten_decide_all_others_test(graph):
    (split,) = graph.splits
    assert [np.bincount(DIGITS[part]).tolist() for _, part in split][:2] == [[10] * 10, [10] * 10]
    assert sum(len(part) for _, part in split) == 1797
    assert split.how == "10 train and 10 val of each class, all others test"


def test_two_files_say_the_same(graph, tmp_path):
    nodes, edges = write_digits(tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["edges.csv", "nodes.csv"]
    assert edges.read_text().splitlines()[0].replace('"', "") == "source,target"
    again = Graph.from_tables(nodes, edges, target="digit", split="split")
    assert again.columns.equals(graph.columns) and again.y.cast(pa.int64()).equals(graph.y)
    assert again.ids.values.equals(graph.ids.values)
    assert again.over.ends()[0].equal(graph.over.ends()[0]) and again.over.ends()[1].equal(graph.over.ends()[1])
    for (_, ours), (_, theirs) in zip(graph.splits[0], again.splits[0], strict=True):
        assert ours.equal(theirs)


def test_the_files_are_the_same_every_time(tmp_path):
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in write_digits(tmp_path)]
    assert sums == [hashlib.sha256(path.read_bytes()).hexdigest() for path in write_digits(str(tmp_path))]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"write_digits: there is no folder .*nowhere"):
        write_digits(tmp_path / "nowhere")
