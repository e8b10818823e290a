"""A graph from tables: who is linked with whom, by hand-written cases, and what is noticed on the way in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from weft.data import Graph, Split

NODES = {"id": ["a", "b", "c", "d"], "n": [1, 2, 3, 4]}


def edges(graph: Graph) -> list[tuple[str, str]]:
    names = graph.ids.values.to_pylist()
    return [(names[a], names[b]) for a, b in zip(*(end.tolist() for end in graph.over.ends()), strict=True)]


def links(*pairs: str) -> dict[str, list[str]]:
    return {"source": [pair[0] for pair in pairs], "target": [pair[1] for pair in pairs]}


def weights(graph: Graph) -> dict[tuple[str, str], float]:
    stored = graph.over.stored_weight()
    assert stored is not None
    given = torch.empty_like(stored)
    given[slice(None) if graph.over.edge is None else graph.over.edge.long()] = stored
    return dict(zip(edges(graph), given.tolist(), strict=True))


def test_an_undirected_edge_speaks_both_ways():
    graph = Graph.from_tables(NODES, links("ab", "cb"))
    assert edges(graph) == [("a", "b"), ("b", "c"), ("b", "a"), ("c", "b")]
    assert graph.edge_row.tolist() == [0, 1, 0, 1] and graph.num_edges == 2 and graph.notes == ()


def test_a_directed_edge_speaks_one_way():
    graph = Graph.from_tables(NODES, links("ab", "cb", "ba", "ab"), directed=True)
    assert edges(graph) == [("a", "b"), ("c", "b"), ("b", "a"), ("a", "b")]
    assert graph.edge_row.tolist() == [0, 1, 2, 3] and graph.num_edges == 4


def test_links_listed_again_count_once_and_are_noted():
    graph = Graph.from_tables(NODES, links("dc", "ab", "ba", "cd", "ab", "bc"))
    assert edges(graph)[:3] == [("c", "d"), ("a", "b"), ("b", "c")]
    assert graph.edge_row.tolist() == [0, 1, 5, 0, 1, 5] and graph.num_edges == 3
    assert graph.notes == (
        "edges: 3 links repeat a pair that is listed before, in either direction; "
        "each pair counts once, and weights are added.",
    )


def test_weights_of_links_listed_again_are_added():
    table = links("dc", "ab", "ba", "cd", "ab", "bc") | {"kg": [1, 2, 4, 8, 16, 32]}
    graph = Graph.from_tables(NODES, table, weight="kg")
    once = {("c", "d"): 9, ("a", "b"): 22, ("b", "c"): 32}
    assert weights(graph) == once | {(b, a): value for (a, b), value in once.items()}
    assert graph.edge_table is not None and graph.edge_table.column_names == ["kg"]


def test_self_loops_stand_once_and_are_noted():
    graph = Graph.from_tables(NODES, links("aa", "ab", "aa") | {"w": [1, 2, 3]}, weight="w")
    assert weights(graph) == {("a", "a"): 4, ("a", "b"): 2, ("b", "a"): 2} and graph.num_edges == 2
    assert graph.notes[1] == "edges: 1 links lead from a thing to itself."
    assert Graph.from_tables(NODES, links("aa", "ab"), directed=True).notes == ("edges: 1 links lead from a thing to itself.",)


def test_nodes_without_links_and_no_links_at_all(tmp_path):
    assert Graph.from_tables(NODES, links("ab")).over.rows.degree.tolist() == [1, 1, 0, 0]
    path = tmp_path / "edges.csv"
    path.write_text("from,to\n")
    for empty in ({"source": [], "target": []}, path):
        graph = Graph.from_tables(NODES, empty)
        assert graph.num_edges == 0 and graph.num_nodes == 4 and repr(graph) == "Graph(4 nodes, 0 undirected edges, 1 columns)"


@pytest.mark.parametrize("make", [dict, pa.table, pd.DataFrame, pl.DataFrame], ids=["dict", "Arrow", "pandas", "polars"])
def test_any_frame_is_the_same_graph(make):
    graph = Graph.from_tables(make(NODES | {"kind": ["x", None, "y", "x"]}), make(links("ab", "cd")), target="kind")
    assert edges(graph) == [("a", "b"), ("c", "d"), ("b", "a"), ("d", "c")]
    assert graph.y is not None and graph.y.to_pylist() == ["x", None, "y", "x"] and graph.labelled.tolist() == [0, 2, 3]
    assert graph.columns is not None and graph.columns.to_pydict() == {"n": [1, 2, 3, 4]}


def test_numbers_in_one_file_match_text_in_another(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n7,8\n")
    assert Graph.from_tables({"id": [8, 7]}, tmp_path / "edges.csv").edge_row.tolist() == [0, 0]
    gaps = pd.DataFrame({"source": [7.0, 8.0], "target": [8.0, 8.0]})
    assert edges(Graph.from_tables({"id": ["8", "7"]}, gaps)) == [("8", "7"), ("8", "8"), ("7", "8")]


def test_files_with_every_role(tmp_path):
    (tmp_path / "things.csv").write_text("name,age,class,part\n007,30,spy,train\nNA,,land,val\nno one,40,,\n")
    (tmp_path / "links.csv").write_text("kg,a,b\n0.5,007,NA\n2,NA,no one\n")
    graph = Graph.from_tables(
        tmp_path / "things.csv",
        tmp_path / "links.csv",
        id="name",
        target="class",
        ends=("a", "b"),
        weight="kg",
        split="part",
        kinds={"age": "numeric"},
    )
    assert graph.ids.values.to_pylist() == ["007", "NA", "no one"]
    assert graph.y is not None and graph.y.to_pylist() == ["spy", "land", None]
    assert [part.tolist() for _, part in graph.splits[0]] == [[0], [1], []]
    assert graph.splits[0].how == "as given in things.csv, column 'part'"
    assert weights(graph) == {("007", "NA"): 0.5, ("NA", "no one"): 2, ("NA", "007"): 0.5, ("no one", "NA"): 2}
    assert (
        graph.columns is not None and graph.columns.to_pydict() == {"age": [30, None, 40]} and graph.kinds == {"age": "numeric"}
    )


def test_ends_are_source_and_target_else_the_first_two():
    assert edges(Graph.from_tables(NODES, {"w": [1], "target": ["b"], "source": ["a"]}, directed=True)) == [("a", "b")]
    assert edges(Graph.from_tables(NODES, {"x": ["c"], "y": ["a"], "w": [1]}, directed=True)) == [("c", "a")]


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (1, 2), (3, 2)],
        ((0, 1), (1, 2), (3, 2)),
        np.array([[0, 1], [1, 2], [3, 2]]),
        torch.tensor([[0, 1, 3], [1, 2, 2]]),
        {"source": [0, 1, 3], "target": [1, 2, 2]},
        pd.DataFrame({"from": [0, 1, 3], "to": [1, 2, 2]}),
    ],
    ids=["list", "tuple", "array", "tensor", "columns", "frame"],
)
def test_from_edges_in_any_form(pairs):
    graph = Graph.from_edges(pairs, directed=True)
    assert sorted(edges(graph)) == [(0, 1), (1, 2), (3, 2)]


def test_a_set_of_pairs_has_one_order():
    assert Graph.from_edges({("b", "c"), ("a", "b")}).ids.values.to_pylist() == ["a", "b", "c"]


def test_from_edges_counts_nodes_by_what_is_given():
    assert Graph.from_edges([("a", 1), ("b", 2)][:0]).num_nodes == 0
    assert Graph.from_edges([(0, 1)], x=[[1.0], [2.0], [3.0]]).num_nodes == 3
    assert Graph.from_edges([(0, 1)], y=["u", None, "v"]).labelled.tolist() == [0, 2]
    assert Graph.from_edges([("b", "a")], ids=["a", "b", "c"]).over.rows.degree.tolist() == [1, 1, 0]
    assert Graph.from_edges([(0, 1)], y=torch.tensor([0.5, float("nan")])).labelled.tolist() == [0]


def test_features_come_in_any_form():
    for x in ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]]), pd.DataFrame({"u": [1, 3], "v": [2, 4]}), torch.eye(2).to_sparse()):
        graph = Graph.from_edges([(0, 1)], x=x)
        assert graph.x is not None and graph.x.dtype == torch.float32 and graph.x.shape == (2, 2)


def test_with_splits_leaves_the_graph_as_it_was():
    graph = Graph.from_edges([(0, 1)], y=["a", "b"])
    split = Split.of([0], [], [1], how="by hand")
    assert graph.with_splits(split).splits == (split,) and graph.splits == ()
    assert repr(graph) == "Graph(2 nodes, 1 undirected edges, 2 labelled)"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9))))
def test_merging_is_the_plain_definition(listed):
    merged: dict[tuple[int, int], float] = {}
    first: dict[tuple[int, int], int] = {}
    for row, (a, b, weight) in enumerate(listed):
        pair = (min(a, b), max(a, b))
        merged[pair] = merged.get(pair, 0) + weight
        first.setdefault(pair, row)
    table = {name: [each[at] for each in listed] for at, name in enumerate(("source", "target", "w"))}
    graph = Graph.from_edges(table, ids=range(6), weight="w")
    expected = [*merged, *((b, a) for a, b in merged if a != b)]
    assert edges(graph) == expected and graph.num_edges == len(merged)
    assert graph.edge_row.tolist() == [first[min(a, b), max(a, b)] for a, b in expected]
    assert weights(graph) == {(a, b): merged[min(a, b), max(a, b)] for a, b in expected}
