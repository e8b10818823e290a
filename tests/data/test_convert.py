"""To other libraries and back: ids, features, labels, splits and weights come home as they left."""

from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from weft.data import Graph, Split
from weft.data.convert import from_networkx, from_pyg, from_scipy, to_networkx, to_pyg, to_scipy

SPLITS = (Split.of([0], [1], [3], how="first"), Split.of([3, 1], [], [0], how="second"))


def named(directed: bool) -> Graph:
    """Names, columns, labels, weights, splits, and a column of links."""
    graph = Graph.from_tables(
        {"id": ["a", "b", "c", "d"], "age": [1, None, 3, 4], "y": ["u", "v", None, "u"]},
        {"source": ["b", "a", "c"], "target": ["a", "c", "c"], "kg": [2.0, 0.5, 1.0], "how": ["x", None, "z"]},
        target="y",
        weight="kg",
        directed=directed,
    )
    return replace(graph.with_splits(*SPLITS), x=torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]))


def plain(directed: bool, y: Any, weighted: bool) -> Graph:
    """Numbers only, as matrices hold them."""
    edges = {"source": [0, 3, 1], "target": [1, 1, 1], "w": [0.5, 2, 3]}
    graph = Graph.from_edges(edges, x=torch.eye(4), y=y, weight="w" if weighted else None, directed=directed)
    return graph


def links(graph: Graph) -> dict[tuple[Any, Any], float]:
    names, weight = graph.ids.values.to_pylist(), graph.over.stored_weight()
    rows = graph.over.rows
    stored = zip(rows.index.tolist(), rows.row.tolist(), strict=True)
    values = [1.0] * graph.over.num_edges if weight is None else weight.tolist()
    return {(names[a], names[b]): value for (a, b), value in zip(stored, values, strict=True)}


def parts(graph: Graph) -> list[list[list[int]]]:
    return [[part.tolist() for _, part in split] for split in graph.splits]


def same(left: Graph, right: Graph) -> None:
    assert left.ids.values.to_pylist() == right.ids.values.to_pylist() and left.directed == right.directed
    assert links(left) == links(right) and (left.over.weight is None) == (right.over.weight is None)
    assert (left.x is None) == (right.x is None) and (left.x is None or right.x is None or torch.equal(left.x, right.x))
    assert (None if left.y is None else left.y.to_pylist()) == (None if right.y is None else right.y.to_pylist())
    assert parts(left) == parts(right)


directions = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


@directions
def test_networkx_and_back(directed):
    graph = named(directed)
    there = to_networkx(graph)
    assert there.is_directed() == directed and list(there) == ["a", "b", "c", "d"]
    assert there.nodes["a"] == {"age": 1, "x": [1.0, 2.0], "y": "u", "split": "train", "split_1": "test"}
    assert there.nodes["c"] == {"age": 3, "x": [5.0, 6.0]}
    assert there.edges["b", "a"] == {"kg": 2.0, "how": "x", "weight": 2.0}
    back = from_networkx(there, target="y", weight="weight")
    same(back, graph)
    assert back.columns is not None and back.columns.to_pydict() == {"age": [1, None, 3, 4]}
    assert back.edge_table is not None and sorted(back.edge_table.column_names) == ["how", "kg", "weight"]


def test_networkx_with_attributes_called_as_our_columns():
    graph = networkx.Graph()
    graph.add_node(1, id="x", split="some words", source=2)
    graph.add_edge(2, 1, source="here", target=3)
    made = from_networkx(graph)
    assert made.ids.values.to_pylist() == [1, 2] and made.splits == () and links(made) == {(1, 2): 1, (2, 1): 1}
    assert made.columns is not None and made.columns.to_pydict() == {
        "id": ["x", None],
        "split": ["some words", None],
        "source": [2, None],
    }
    assert made.edge_table is not None and made.edge_table.to_pydict() == {"source": ["here"], "target": [3]}


def test_networkx_with_parallel_edges():
    listed = networkx.MultiDiGraph([("a", "b", {"w": 1.0}), ("a", "b", {"w": 2.0})])
    graph = from_networkx(listed, weight="w")
    assert graph.num_edges == 2 and to_networkx(graph).number_of_edges() == 2
    merged = from_networkx(networkx.MultiGraph(listed), weight="w")
    assert links(merged) == {("a", "b"): 3, ("b", "a"): 3} and len(merged.notes) == 1


def test_networkx_vectors_that_are_not_features_stay_columns():
    graph = networkx.path_graph(2)
    graph.nodes[0]["x"], graph.nodes[1]["x"] = ["p"], ["p", "q"]
    made = from_networkx(graph)
    assert made.x is None and made.columns is not None and made.columns.to_pydict() == {"x": [["p"], ["p", "q"]]}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@directions
def test_scipy_and_back(directed, weighted):
    graph = plain(directed, None, weighted)
    back = from_scipy(to_scipy(graph), x=graph.x, directed=directed)
    same(back, graph)


def test_scipy_entries_are_from_row_to_column():
    assert to_scipy(plain(True, None, True)).toarray().tolist() == [[0, 0.5, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0]]


def test_scipy_one_triangle_is_as_good_as_both():
    upper = sparse.coo_matrix(([2.0, 1.0, 5.0], ([0, 1, 0], [2, 1, 1])), shape=(3, 3))
    full = sparse.csr_matrix(upper + sparse.triu(upper, 1).T)
    expected = {(0, 1): 5, (1, 0): 5, (0, 2): 2, (2, 0): 2, (1, 1): 1}
    for matrix in (upper, upper.T, full, sparse.csc_array(full)):
        assert links(from_scipy(matrix)) == expected
    assert from_scipy(full).notes == ("edges: 1 links lead from a thing to itself.",)


def test_scipy_without_entries():
    assert from_scipy(sparse.csr_array((3, 3)), y=["a", "b", None]).labelled.tolist() == [0, 1]
    assert from_scipy(sparse.csr_array((0, 0))).num_nodes == 0


@pytest.mark.parametrize(
    ("y", "codes"),
    [
        (None, None),
        ([3, 1, 1, 0], [3, 1, 1, 0]),
        ([0.5, None, 1.5, 2.5], [0.5, None, 1.5, 2.5]),
        (["u", None, "v", "u"], [0, -1, 1, 0]),
        (pa.array([7, None, 5, 7]), [1, -1, 0, 1]),
        ([True, None, False, True], [1, -1, 0, 1]),
    ],
    ids=["none", "whole", "floats", "text", "gaps", "yes or no"],
)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@directions
def test_pyg_and_back(pyg, directed, y, codes, weighted):
    graph = plain(directed, y, weighted).with_splits(*SPLITS)
    data = to_pyg(graph)
    assert isinstance(data, pyg.data.Data) and data.validate() and data.is_directed() == directed
    assert data.train_mask.T.tolist() == [[True, False, False, False], [False, True, False, True]]
    told = None if codes is None else [None if code != code else code for code in data.y.tolist()]
    assert told == codes and data.edge_index.dtype == torch.int64
    same(from_pyg(data), graph)


def test_pyg_with_one_split_has_plain_masks(pyg):
    data = to_pyg(Graph.from_edges([("a", "b")]).with_splits(Split.of([1], [], [0], how="")))
    assert data.train_mask.tolist() == [False, True] and data.val_mask.tolist() == [False, False]
    assert parts(from_pyg(data)) == [[[1], [], [0]]]
    del data.val_mask
    assert parts(from_pyg(data)) == [[[1], [], [0]]]


def test_pyg_what_is_not_taken_is_said(pyg):
    data = pyg.data.Data(edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(1, 3), num_nodes=3, y=torch.zeros(3, 1))
    graph = from_pyg(data)
    assert graph.directed and graph.num_nodes == 3 and graph.labelled.tolist() == [0, 1, 2]
    assert graph.notes == ("from_pyg: edge_attr of the Data not taken over.",)


def test_pyg_without_edges(pyg):
    graph = from_pyg(pyg.data.Data(x=torch.ones(2, 1), edge_index=torch.zeros(2, 0, dtype=torch.long)))
    assert graph.num_nodes == 2 and graph.num_edges == 0


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), unique=True)


@given(PAIRS, st.booleans())
def test_any_graph_comes_back_from_everywhere(pairs, directed):
    edges = {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]}
    graph = Graph.from_edges(edges, ids=np.arange(5), directed=directed)
    same(from_scipy(to_scipy(graph), directed=directed), graph)
    same(from_networkx(to_networkx(graph)), graph)
    there = to_pyg(graph)
    back = from_pyg(there)  # edges that happen to go both ways are those of an undirected graph
    assert links(back) == links(graph)
