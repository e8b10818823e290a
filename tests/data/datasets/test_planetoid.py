"""Planetoid's files: a small dataset put together by hand, and the published ones where they are at hand."""

from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weft.data.datasets import planetoid
from weft.errors import DataError


def edges(graph) -> set[tuple[int, int]]:
    source, target = graph.over.ends()
    return set(zip(source.tolist(), target.tolist(), strict=True))


@pytest.fixture
def read(write_planetoid):
    return lambda **changes: planetoid.read(write_planetoid(**changes), "tiny", val=2)


def test_rows_stand_where_the_test_index_puts_them(read):
    graph = read()
    assert graph.num_nodes == 9
    assert graph.x[:5].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert graph.x[5:, 0].tolist() == [5, 0, 7, 8] and not graph.x[5:, 1:].any()


def test_labels_follow_their_rows_and_a_number_left_out_has_none(read):
    assert read().y.to_pylist() == [0, 1, 0, 1, 0, 0, None, 1, 1]


def test_links_speak_both_ways_and_each_once(read):
    graph = read()
    once = {(0, 1), (1, 2), (2, 4), (2, 7), (5, 8)}
    assert edges(graph) == once | {(b, a) for a, b in once}
    assert graph.num_edges == 5 and not graph.directed


def test_a_loop_is_left_out_and_noted(read):
    assert read().notes == ("ind.tiny.graph: links from a thing to itself are left out: 1.",)


def test_a_node_that_is_left_out_is_alone(read):
    graph = read()
    assert graph.x[6].tolist() == [0, 0, 0] and not any(6 in pair for pair in edges(graph))


def test_the_first_rows_train_the_next_decide_the_index_tests(read):
    (split,) = read().splits
    assert [part.tolist() for _, part in split] == [[0, 1], [2, 3], [5, 7, 8]]
    assert "Planetoid" in split.how


def test_a_link_listed_in_one_direction_only_is_one(read):
    assert edges(read(graph=defaultdict(list, {4: [0]}))) == {(0, 4), (4, 0)}


def test_no_links_at_all(read):
    assert read(graph=defaultdict(list)).num_edges == 0


def test_features_stay_as_they_are(read):
    raw = csr_matrix(np.array([[0.25, 0, 3]] * 5, np.float32))
    assert read(allx=raw).x[0].tolist() == [0.25, 0, 3]


WRONG = {
    "a list of arrays": ({"allx": np.zeros((5, 3))}, "ind.tiny.allx: expected a sparse matrix"),
    "labels in a matrix": ({"ally": csr_matrix(np.eye(5))}, "ind.tiny.ally: expected an array"),
    "too few labels": ({"ally": np.eye(2)[[0, 1, 0]]}, "ind.tiny.allx: 5 rows, but 3 labels"),
    "too many test labels": ({"ty": np.eye(2)[[0, 1, 0, 0]]}, "ind.tiny.tx: 3 rows, but 4 labels"),
    "other columns": ({"tx": csr_matrix(np.eye(3, 4))}, "ind.tiny.tx: 4 columns, but ind.tiny.allx has 3"),
    "two marks": ({"ty": np.ones((3, 2))}, "ind.tiny.ty: expected one column for each class and at most a single 1"),
    "marks above 1": ({"ty": np.full((3, 2), 7)}, "ind.tiny.ty: expected one column for each class"),
    "flat labels": ({"ty": np.zeros(3)}, "ind.tiny.ty: expected one column for each class"),
    "other first labels": ({"y": np.eye(2)[[1, 1]]}, "ind.tiny.y: not the labels that ind.tiny.ally begins with"),
    "nothing left to decide": ({"y": np.eye(2)[[0, 1, 0, 1]]}, "too few for 4 train and 2 val"),
    "words in the index": ({"test_index": b"7\nfive\n8\n"}, "ind.tiny.test.index: expected a whole number on each line"),
    "an index that is no text": ({"test_index": b"\xff\xfe"}, "ind.tiny.test.index: expected a whole number"),
    "a number twice": ({"test_index": b"7\n5\n5\n"}, "2 different numbers on 3 lines, but there are 3 test nodes"),
    "a number too few": ({"test_index": b"7\n5\n"}, "2 different numbers on 2 lines"),
    "a gap before": ({"test_index": b"7\n6\n8\n"}, "the test nodes begin at 6, but 5 rows come before"),
    "an overlap": ({"test_index": b"4\n5\n6\n"}, "the test nodes begin at 4"),
    "far away": ({"test_index": b"5\n6\n9999999\n"}, "number 9999999 is out of reach of 3 test nodes"),
    "beyond all": ({"test_index": b"5\n6\n99999999999999999999\n"}, "ind.tiny.test.index: expected a whole number"),
    "a link too far": ({"graph": defaultdict(list, {0: [9]})}, "ind.tiny.graph: node 9 is linked, but there are 9 nodes"),
    "a node too many": ({"graph": defaultdict(list, {9: []})}, "ind.tiny.graph: node 9 is linked"),
    "below zero": ({"graph": defaultdict(list, {0: [-1]})}, "ind.tiny.graph: node -1 is linked"),
    "beyond 64 bits": ({"graph": defaultdict(list, {0: [2**30 * 2**40]})}, "ind.tiny.graph: a link leads to a number"),
    "cut": ({"allx": b"\x80\x02cscipy.sparse.csr\n"}, "ind.tiny.allx: cannot be read as a pickle"),
    "a call": ({"graph": b"cos\nsystem\n(S'exit 1'\ntR."}, "ind.tiny.graph: the pickle asks for 'os.system'"),
}


@pytest.mark.parametrize(("changes", "told"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_together_is_an_error_that_names_the_file(read, changes, told):
    with pytest.raises(DataError) as error:
        read(**changes)
    assert told in str(error.value)


BROKEN = {
    "indptr too short": ({"indptr": np.array([0, 1])}, "indptr does not share out 3 entries among 3 rows"),
    "indptr backwards": ({"indptr": np.array([0, 5, 1, 3])}, "indptr does not share out"),
    "indptr beyond": ({"indptr": np.array([0, 1, 2, 9])}, "indptr does not share out"),
    "a column too far": ({"indices": np.array([0, 1, 3], np.int32)}, "an entry stands in column 3, but there are 3 columns"),
    "a column below zero": ({"indices": np.array([0, 1, -1], np.int32)}, "an entry stands in column -1"),
    "broken columns": ({"indices": np.array([0.0, 1.0, 2.0])}, "must be lists of whole numbers"),
    "too few values": ({"data": np.ones(2)}, "2 values for 3 entries"),
    "values in a square": ({"data": np.ones((3, 3))}, "must be lists of whole numbers beside a list of values"),
}


@pytest.mark.parametrize(("changes", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_matrix_is_an_error_that_names_the_file(read, changes, told):
    matrix = csr_matrix(np.eye(3, dtype=np.float32))
    for name, values in changes.items():
        setattr(matrix, name, values)
    with pytest.raises(DataError) as error:
        read(tx=matrix)
    assert str(error.value).startswith("ind.tiny.tx: ") and told in str(error.value)


@pytest.mark.parametrize(("shape", "told"), [((3,), r"its shape is \[3\]"), ((3, 10**15), "do not fit into memory")])
def test_a_shape_out_of_reach_is_an_error_that_names_the_file(read, shape, told):
    matrix = csr_matrix(np.eye(3, dtype=np.float32))
    matrix._shape = shape
    with pytest.raises(DataError, match=rf"ind\.tiny\.tx: .*{told}"):
        read(tx=matrix)
