"""gnn-benchmark's files: two sparse matrices and labels, whatever else is in the archive."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weft.data.datasets import File, benchmark_npz
from weft.data.datasets.benchmark_npz import content_of
from weft.data.datasets.fetch import locate
from weft.errors import DataError

LINKS = csr_matrix((np.ones(5, np.float32), ([0, 1, 1, 2, 3], [1, 0, 2, 2, 0])), (4, 4))  # one pair twice, a loop at 2
FEATURES = csr_matrix(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0], [0, 3, 4]], np.float32))


def parts(name: str, matrix: csr_matrix) -> dict[str, Any]:
    shape = np.array(matrix.shape)
    return {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")} | {f"{name}_shape": shape}


WHOLE = parts("adj", LINKS) | parts("attr", FEATURES) | {"labels": np.array([1, 0, 2, 1])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tiny.npz"


def read(path: Path):
    return benchmark_npz.read({path.name: path}, "tiny")


def test_links_features_and_labels_come_out(path):
    np.savez(path, **WHOLE)
    graph = read(path)
    source, target = graph.over.ends()
    assert sorted(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (3, 0)]
    assert graph.x.tolist() == FEATURES.toarray().tolist() and graph.y.to_pylist() == [1, 0, 2, 1]
    assert graph.splits == () and graph.num_edges == 3
    assert graph.notes == ("tiny.npz: links from a thing to itself are left out: 1.",)


def test_names_that_are_pickled_are_never_opened(path):
    np.savez(path, **WHOLE, node_names=np.array([{"a": 1}], dtype=object))
    assert read(path).num_nodes == 4


def wrong(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (WHOLE | changes).items() if value is not None}


WRONG = {
    "no labels": (wrong(labels=None), "no array called 'labels'. There are: adj_data"),
    "pickled labels": (wrong(labels=np.array([1, "a"], dtype=object)), "the array 'labels' cannot be read (Object arrays"),
    "pickled links": (wrong(adj_data=np.array([LINKS], dtype=object)), "the array 'adj_data' cannot be read (Object arrays"),
    "labels of another length": (wrong(labels=np.zeros(3, int)), "3 labels, but links among (4, 4)"),
    "labels in a square": (wrong(labels=np.zeros((2, 2), int)), "'labels' must hold whole numbers along 1 axes"),
    "broken labels": (wrong(labels=np.zeros(4)), "'labels' must hold whole numbers along 1 axes, but is float64"),
    "text as values": (wrong(attr_data=np.array(["a"] * 4)), "'attr_data' must hold numbers"),
    "a cube": (wrong(adj_shape=np.array([4, 4, 4])), "its shape is [4, 4, 4]"),
    "links below zero": (wrong(adj_indices=-LINKS.indices), "an entry stands in column -1"),
    "a shape below zero": (wrong(adj_shape=np.array([-4, 4])), "its shape is [-4, 4]"),
    "features of fewer nodes": (wrong(**parts("attr", FEATURES[:3])), "features of 3 nodes"),
    "links to elsewhere": (wrong(**parts("adj", csr_matrix((4, 5)))), "links among (4, 5)"),
}


@pytest.mark.parametrize(("arrays", "told"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_together_is_an_error_that_names_the_file(path, arrays, told):
    np.savez(path, **arrays)
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value).startswith("tiny.npz: ") and told in str(error.value)


@pytest.mark.parametrize("keep", [0, 1, 10, 200, -1, -30])
def test_a_truncated_archive_is_an_error_that_names_the_file(path, keep):
    np.savez_compressed(path, **WHOLE)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"^tiny\.npz: "):
        read(path)


def told_of(path: Path) -> str:
    try:
        return content_of(path)
    except DataError as error:
        return str(error)


def test_every_damaged_byte_is_noticed_or_harmless(path):
    np.savez_compressed(path, **WHOLE)
    whole = path.read_bytes()
    expected = content_of(path)
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        found = told_of(path)
        assert found == expected or found.startswith("tiny.npz: ")


@pytest.mark.parametrize("body", [b"cos\nsystem\n(S'exit 1'\ntR.", b"<!DOCTYPE html>", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_archive_is_an_error_that_names_the_file(path, body):
    path.write_bytes(body)
    with pytest.raises(DataError, match=r"^tiny\.npz: "):
        read(path)


def test_a_single_array_is_an_error_that_names_the_file(path):
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(DataError, match=r"tiny\.npz: a single array"):
        read(path)


def test_content_is_the_same_however_it_is_laid_out(path):
    np.savez(path, **WHOLE)
    known = content_of(path)
    turned = csr_matrix((FEATURES.data[[0, 1, 3, 2]], FEATURES.indices[[0, 1, 3, 2]], FEATURES.indptr), FEATURES.shape)
    both = LINKS + LINKS.T
    wide = {"adj_data": both.data.astype(np.float64), "labels": WHOLE["labels"].astype(np.uint8)}
    np.savez_compressed(path, **(WHOLE | parts("attr", turned) | parts("adj", both) | wide), names=np.array(["a"]))
    assert content_of(path) == known


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.array([1, 0, 2, 0])},
        {"attr_data": FEATURES.data + 1},
        {"attr_shape": np.array([4, 9])},
        parts("adj", LINKS.T @ LINKS),
    ],
    ids=["label", "value", "width", "links"],
)
def test_content_tells_other_data_apart(path, changes):
    np.savez(path, **WHOLE)
    known = content_of(path)
    np.savez(path, **(WHOLE | changes))
    assert content_of(path) != known


def test_a_file_is_accepted_by_its_content(path, server, monkeypatch):
    """The publisher's bytes may be laid out otherwise than those the sums were taken of."""
    monkeypatch.setenv("WEFT_CACHE", str(path.parent / "cache"))
    monkeypatch.delenv("WEFT_DATA", raising=False)
    np.savez(path, **WHOLE)
    file = File("tiny.npz", path.stat().st_size, "0" * 64, server.url, content_of(path))
    np.savez_compressed(path, **WHOLE)
    server.body = path.read_bytes()
    assert locate("tiny", file).read_bytes() == server.body
    np.savez(path, **wrong(labels=np.zeros(4, int)))
    server.body = path.read_bytes()
    with pytest.raises(DataError, match="holds other data"):
        locate("other", file)
