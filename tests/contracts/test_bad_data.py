"""Files, tables and arrays that cannot be right are refused by row, line, column or id: the call, the error, its words."""

import gzip
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from weft import errors
from weft.data import ByGroup, ByTime, Features, Graph, PerClass, Published, Random, Split, Stratified, folds
from weft.data.convert import from_networkx, from_pyg, from_scipy, to_pyg
from weft.data.ids import Ids
from weft.data.table import read_table, write_table
from weft.errors import DataError, MissingFileError, ShapeError, WeftError, WeftTypeError, WeftValueError

Row = tuple[Callable[[], object], type[WeftError], list[str]]
FileRow = tuple[str, str | bytes, dict[str, Any], type[WeftError], list[str]]

GOOD = "id,age,class\na,1,u\nb,2,v\n"
LINKS = "source,target\na,b\n"

NODES: list[FileRow] = [
    ("n.csv", "", {}, DataError, ["n.csv", "empty", "first line must name the columns"]),
    ("n.csv", "\n\n", {}, DataError, ["n.csv", "empty"]),
    ("n.csv", "id,age\n", {}, DataError, ["n.csv", "no rows"]),
    ("n.csv", "id,age\na,1\nb,2,3\n", {}, DataError, ["n.csv", "line 3", "3 values", "2 columns", "'b,2,3'", "double quotes"]),
    ("n.csv", "id,age\na,1\n\nb\n", {}, DataError, ["n.csv", "line 4", "1 values", "2 columns", "'b'"]),
    ("n.csv", 'id,age\n"a\na",1\nb\n', {}, DataError, ["line 4", "'b'"]),
    ("n.tsv", "id\tage\na\t1\t2\n", {}, DataError, ["n.tsv", "line 2", "3 values"]),
    ("n.csv", b"id,name\na,x\nb,caf\xe9\n", {}, DataError, ["n.csv", "line 3", "'name'", "UTF-8"]),
    ("n.csv", b"id,name\na,x\ncaf\xe9,y\n", {}, DataError, ["n.csv", "line 3", "'id'", "UTF-8"]),
    ("n.csv", b"id,caf\xe9\na,x\n", {}, DataError, ["n.csv", "line 1", "column 2", "UTF-8"]),
    ("n.csv", GOOD.encode("utf-16"), {}, DataError, ["n.csv", "line 1", "UTF-8"]),
    ("n.csv.gz", GOOD, {}, DataError, ["n.csv.gz", "cannot be read", "gzip"]),
    ("n.csv.gz", gzip.compress(GOOD.encode() * 9000)[:200], {}, DataError, ["n.csv.gz", "cannot be read"]),
    ("n.parquet", GOOD, {}, DataError, ["n.parquet", "cannot be read as parquet"]),
    ("n.arrow", GOOD, {}, DataError, ["n.arrow", "cannot be read as arrow"]),
    ("n.xlsx", GOOD, {}, DataError, ["n.xlsx", "what kind", ".csv", ".parquet"]),
    ("n.csv", GOOD, {"id": "ID"}, DataError, ["n.csv", "'ID'", "ids", "There are: id, age, class"]),
    ("n.csv", GOOD, {"target": "clas"}, DataError, ["n.csv", "'clas'", "target", "Did you mean 'class'?"]),
    ("n.csv", GOOD, {"split": "part"}, DataError, ["n.csv", "'part'", "split", "There are"]),
    ("n.csv", "id,age,age\na,1,2\n", {}, DataError, ["n.csv", "2 columns", "'age'", "Rename"]),
    ("n.csv", "id,id\na,1\n", {}, DataError, ["n.csv", "2 columns", "'id'"]),
    ("n.csv", "id,age\na,1\n,2\n", {}, DataError, ["n.csv", "'id'", "row 3", "no id"]),
    ("n.csv", "id,age\na,1\nb,2\n\na,3\n", {}, DataError, ["n.csv", "rows 2 and 5", "'a'", "id of its own"]),
    ("n.csv", GOOD, {"split": "class"}, DataError, ["n.csv", "'class'", "row 2", "'u'", "train, val or test"]),
    ("n.csv", "id,age\na,1\nb,1e999\n", {}, DataError, ["n.csv", "'age'", "row 3", "inf", "'skip'"]),
]

EDGES: list[FileRow] = [
    ("e.csv", "", {}, DataError, ["e.csv", "empty"]),
    ("e.csv", "source,target\na,b\na,c\n", {}, DataError, ["e.csv", "'target'", "row 3", "'c'", "2 ids", "a, b"]),
    ("e.csv", "source,target\na,b\nbb,b\n", {}, DataError, ["'source'", "row 3", "'bb'", "Did you mean 'b'?"]),
    ("e.csv", "source,target\n a,b\n", {}, DataError, ["row 2", "' a'", "Did you mean 'a'?"]),
    ("e.csv", "source,target\na,\n", {}, DataError, ["e.csv", "'target'", "row 2", "no id"]),
    ("e.csv", "source\na\n", {}, DataError, ["e.csv", "two ends", "'source'"]),
    ("e.csv", LINKS, {"ends": ("source", "targte")}, DataError, ["e.csv", "'targte'", "Did you mean 'target'?"]),
    ("e.csv", LINKS, {"ends": ("source", "source")}, WeftValueError, ["e.csv", "two columns", "'source'"]),
    ("e.csv", LINKS, {"weight": "w"}, DataError, ["e.csv", "'w'", "weights", "source, target"]),
    ("e.csv", "source,target,w\na,b,1\nb,a,heavy\n", {"weight": "w"}, DataError, ["e.csv", "'w'", "row 3", "'heavy'"]),
    ("e.csv", "source,target,w\na,b,1\nb,a,\n", {"weight": "w"}, DataError, ["e.csv", "'w'", "row 3", "no weight"]),
    ("e.csv", "source,target,w\na,b,inf\n", {"weight": "w"}, DataError, ["e.csv", "'w'", "row 2", "weighs inf"]),
    ("e.csv", "source,target,w,w\na,b,1,2\n", {}, DataError, ["e.csv", "2 columns", "'w'"]),
    ("e.csv", "source,target\na,b,c\n", {}, DataError, ["e.csv", "line 2", "3 values"]),
]


def tables(nodes: Any, edges: Any = None, **settings: Any) -> Callable[[], object]:
    return lambda: Graph.from_tables(nodes, {"source": [], "target": []} if edges is None else edges, **settings)


AB = {"id": ["a", "b"]}
TWICE = pa.table([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["id", "n", "n"])

TABLES: list[Row] = [
    (tables(3), WeftTypeError, ["nodes", "path", "polars", "int"]),
    (tables(None), WeftTypeError, ["nodes", "NoneType"]),
    (tables([["a", 1]]), WeftTypeError, ["nodes", "list"]),
    (tables(AB | {"n": [1]}), DataError, ["nodes", "equally long", "'n': 1"]),
    (tables(AB | {"n": [1, "x"]}), DataError, ["nodes", "column 'n'"]),
    (tables(AB | {"n": np.ones((2, 2))}), DataError, ["nodes", "column 'n'", "1-dimensional"]),
    (tables(pd.DataFrame({"id": ["a", "b"], "n": [1, "x"]}, dtype=object)), DataError, ["nodes", "column n"]),
    (tables(pd.DataFrame([["a", 1, 2]], columns=["id", "n", "n"])), DataError, ["nodes", "2 columns", "'n'"]),
    (tables(TWICE), DataError, ["nodes", "2 columns", "'n'"]),
    (tables({"id": ["a", "b", "a"]}), DataError, ["nodes", "'id'", "rows 0 and 2", "'a'"]),
    (tables({"id": ["a", None, None]}), DataError, ["nodes", "row 1", "no id", "2 rows"]),
    (tables({"id": [1.0, 2.5]}), DataError, ["nodes", "row 1", "2.5", "whole numbers or text"]),
    (tables({"id": [1.0, float("inf")]}), DataError, ["row 1", "inf"]),
    (tables({"id": [1.0, 2.0**54]}), DataError, ["row 1", "1.8014398509481984e+16"]),
    (tables({"id": [True, False]}), DataError, ["nodes", "'id'", "bool"]),
    (tables({"id": [["a"], ["b"]]}), DataError, ["nodes", "'id'", "list"]),
    (tables({"id": [date(2024, 1, 1)]}), DataError, ["'id'", "date32"]),
    (tables({"id": [b"a"]}), DataError, ["'id'", "binary"]),
    (tables(pl.DataFrame(AB), pl.DataFrame({"x": ["a"], "y": ["z"]})), DataError, ["edges", "'y'", "row 0", "'z'"]),
    (tables({"id": [1, 2]}, {"x": [1], "y": [7]}), DataError, ["'y'", "row 0", "names 7", "1, 2"]),
    (tables({"id": [7]}, {"x": ["7"], "y": ["007"]}), DataError, ["'y'", "'007'", "Did you mean '7'?"]),
    (tables({"id": [1, 2]}, pd.DataFrame({"x": [1.0, np.nan], "y": [1.0, 2.0]})), DataError, ["'x'", "row 1", "no id"]),
    (tables(AB, {"x": ["a"], "y": ["b"], "w": [np.inf]}, weight="w"), DataError, ["edges", "'w'", "row 0", "inf"]),
    (tables(AB, {"x": ["a"], "y": ["b"], "w": [[1]]}, weight="w"), DataError, ["edges", "'w'", "row 0", "[1]", "numbers"]),
    (tables(AB | {"n": [1.0, -np.inf]}), DataError, ["nodes", "'n'", "row 1", "-inf"]),
    (tables(AB | {"s": ["train", "holdout"]}, split="s"), DataError, ["nodes", "'s'", "row 1", "'holdout'"]),
    (tables(AB | {"y": [[1], [2]]}, target="y"), WeftTypeError, ["y", "one label per node", "list"]),
]

PAIR = [(0, 1)]
edges = Graph.from_edges

ARRAYS: list[Row] = [
    (lambda: edges([(0, 1), (1, 2, 3)]), WeftTypeError, ["edge 1", "pair", "(1, 2, 3)"]),
    (lambda: edges(["ab"]), WeftTypeError, ["edge 0", "pair", "'ab'"]),
    (lambda: edges([(0, 1), ("a", 2)]), DataError, ["edges", "column 'source'"]),
    (lambda: edges([({}, 1)]), DataError, ["edges", "'source'", "struct"]),
    (lambda: edges([(0.5, 1)]), DataError, ["edges", "'source'", "row 0", "0.5"]),
    (lambda: edges([(None, 1)], ids=[1]), DataError, ["edges", "'source'", "row 0", "no id"]),
    (lambda: edges(np.zeros((3, 3))), ShapeError, ["(count, 2) or (2, count)", "(3, 3)"]),
    (lambda: edges(torch.zeros(4)), ShapeError, ["edges", "(4,)"]),
    (lambda: edges(np.array([[0, 1], [1, 2]])), ShapeError, ["(2, 2)", "list of pairs"]),
    (lambda: edges(7), WeftTypeError, ["edges", "int"]),
    (lambda: edges(PAIR, x=torch.ones(3)), ShapeError, ["x", "(nodes, features)", "(3,)"]),
    (lambda: edges(PAIR, x=[["a"]]), WeftTypeError, ["x", "numbers"]),
    (lambda: edges(PAIR, x=[[1.0], [2.0, 3.0]]), WeftTypeError, ["x", "list"]),
    (lambda: edges(PAIR, x=torch.ones(2, 1, dtype=torch.complex64)), WeftTypeError, ["x", "complex"]),
    (lambda: edges(PAIR, x=[[1.0, 2.0], [3.0, float("nan")]]), DataError, ["x[1, 1]", "nan", "finite"]),
    (lambda: edges(PAIR, x=torch.ones(3, 1), y=["a", "b"]), ShapeError, ["3 nodes", "y has 2"]),
    (lambda: edges(PAIR, x=torch.ones(3, 1), ids=["a", "b"]), ShapeError, ["2 nodes", "x has 3"]),
    (lambda: edges(PAIR, y=[1, "a"]), WeftTypeError, ["y", "one label per node"]),
    (lambda: edges(PAIR, y=torch.ones(2, 2)), WeftTypeError, ["y", "one label per node"]),
    (lambda: edges(PAIR, x=torch.ones(1, 1)), DataError, ["'target'", "row 0", "names 1", "1 ids"]),
    (lambda: edges(PAIR, ids=[0, 0, 1]), DataError, ["ids", "rows 0 and 1", "0"]),
    (lambda: edges(PAIR, ids=[0, "a"]), DataError, ["ids", "int and str"]),
    (lambda: edges(PAIR, ids=5), DataError, ["ids", "int"]),
    (lambda: edges(PAIR, weight="w"), DataError, ["edges", "'w'", "weights"]),
    (lambda: Ids.of([object()], "ids"), DataError, ["ids", "object"]),
]

COLUMNS = pa.table({"age": [1.0, 2.0, 4.0], "word": ["u", "v", "u"], "day": ["2024-01-01", "2024-01-02", "soon"]})
FITTED = Features.fit(COLUMNS, [0, 1, 2], {"word": "categorical", "day": "text"})
TOLD = json.dumps(FITTED.to_json())


def fit(**kinds: Any) -> Callable[[], object]:
    return lambda: Features.fit(COLUMNS, [2, 1], kinds)


def told(before: str, after: str) -> Callable[[], object]:
    assert before in TOLD
    return lambda: Features.from_json(json.loads(TOLD.replace(before, after, 1)))


FEATURES: list[Row] = [
    (fit(ages="numeric"), DataError, ["'ages'", "Did you mean 'age'?"]),
    (fit(zzz="numeric"), DataError, ["'zzz'", "There are: age, word, day"]),
    (fit(age="number"), WeftValueError, ["'age'", "'number'", "numeric, categorical"]),
    (fit(age=None), WeftValueError, ["'age'", "None"]),
    (fit(word="numeric"), DataError, ["'word'", "row 2", "'u'", "numbers"]),
    (fit(word="boolean"), DataError, ["'word'", "row 2", "'u'", "true or false"]),
    (fit(day="date"), DataError, ["'day'", "row 2", "'soon'", "dates such as 2024-12-31"]),
    (fit(age="date"), DataError, ["'age'", "numbers are no dates"]),
    (lambda: Features.fit(COLUMNS, []), WeftValueError, ["training rows", "0 … 2", "none"]),
    (lambda: Features.fit(COLUMNS, [0, 7]), WeftValueError, ["training rows", "0 … 2", "0 … 7"]),
    (lambda: Features.fit(COLUMNS, [-1]), WeftValueError, ["training rows", "-1"]),
    (lambda: FITTED.apply(COLUMNS.drop_columns(["age", "day"])), DataError, ["'age', 'day'", "not in the table", "word"]),
    (lambda: FITTED.apply(COLUMNS.set_column(0, "age", [["1", "x", "2"]])), DataError, ["'age'", "row 1", "'x'", "numbers"]),
    (lambda: FITTED.apply(COLUMNS.set_column(0, "age", [[1, 2, float("inf")]])), DataError, ["'age'", "row 2", "inf"]),
    (lambda: FITTED.apply(COLUMNS.set_column(1, "word", [[[1], [2], [3]]])), DataError, ["'word'", "row 0", "text"]),
    (lambda: Features.from_json({}), DataError, ["features", "'columns'"]),
    (lambda: Features.from_json([]), DataError, ["features", "model"]),
    (told('"Numeric"', '"Number"'), DataError, ["features", "'Number'"]),
    (told('"mean": 2.3333333333333335', '"mean": "x"'), DataError, ["Numeric.mean", "'x'"]),
    (told('"mean"', '"median"'), DataError, ["median"]),
    (told('"gaps": false', '"gaps": null'), DataError, ["Numeric.gaps", "None"]),
    (told('"words": ["u"', '"words": [1'), DataError, ["Categorical.words", "1"]),
    (told('"rarity": [', '"rarity": [1.0, '), DataError, ["words", "rarities"]),
    (told('"separator": null', '"separator": ""'), DataError, ["Words.separator", "''"]),
]

THREE = Graph.from_tables(
    {"id": ["p", "q", "r"], "y": ["u", "v", None], "t": [1, None, 3], "w": ["x", "y", "z"]},
    {"source": [], "target": []},
    target="y",
)
BLANK = Graph.from_edges(PAIR)

SPLITS: list[Row] = [
    (lambda: Random()(BLANK), DataError, ["no node has a label", "target="]),
    (lambda: Stratified()(BLANK), DataError, ["no node has a label"]),
    (lambda: Random(train=0)(THREE), WeftValueError, ["shares", "train is 0"]),
    (lambda: Random(train=0.9, val=0.2)(THREE), WeftValueError, ["at most 1", "0.9", "0.2"]),
    (lambda: Stratified(val=-0.1)(THREE), WeftValueError, ["shares", "-0.1"]),
    (lambda: Random(train=float("nan"))(THREE), WeftValueError, ["shares", "nan"]),
    (lambda: Random(train="half")(THREE), WeftTypeError, ["shares", "'half'"]),
    (lambda: PerClass()(THREE), DataError, ["class 'u'", "1 labelled", "20 + 30", "Stratified"]),
    (lambda: PerClass(train=0)(THREE), WeftValueError, ["train", "1 or more", "0"]),
    (lambda: PerClass(1, val=0.5)(THREE), WeftValueError, ["val", "0.5"]),
    (lambda: ByTime("when")(THREE), DataError, ["'when'", "time", "There are: t, w"]),
    (lambda: ByTime("t")(THREE), DataError, ["'q'", "no 't'"]),
    (lambda: ByTime("w")(THREE), DataError, ["'w'", "row 0", "'x'", "dates"]),
    (lambda: ByTime("t")(Graph.from_edges(PAIR, y=["a", "b"])), DataError, ["no columns", "'t'"]),
    (lambda: ByGroup("ww")(THREE), DataError, ["'ww'", "Did you mean 'w'?"]),
    (lambda: Published()(THREE), WeftValueError, ["0 splits", "number 0"]),
    (lambda: Published(-1)(THREE), WeftValueError, ["number -1"]),
    (lambda: list(folds(THREE, 3)), WeftValueError, ["folds", "2 … 2", "3"]),
    (lambda: list(folds(THREE, 2.0)), WeftValueError, ["folds", "2.0"]),
    (lambda: Split.of([0, 1], [1], [], how=""), WeftValueError, ["position 1", "train and in val"]),
    (lambda: Split.of([0, 0], [], [], how=""), WeftValueError, ["position 0", "train and in train"]),
    (lambda: Split.of([0], [-1], [], how=""), WeftValueError, ["position -1", "below zero"]),
    (lambda: Split.of([0.5], [], [], how=""), errors.DtypeError, ["train", "0.5"]),
    (lambda: Split.of("train", [], [], how=""), WeftTypeError, ["train", "str"]),
    (lambda: Split.from_codes([0, 3], how=""), WeftValueError, ["codes[1]", "3", "-1 not used"]),
    (lambda: Split.from_words(["val", 3], "s"), DataError, ["s", "row 1", "3"]),
]

SKEW = sparse.coo_array(([1.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))

CONVERT: list[Row] = [
    (lambda: from_networkx(networkx.grid_2d_graph(2, 2)), DataError, ["networkx, nodes", "list"]),
    (lambda: from_networkx(networkx.Graph([("a", 1)])), DataError, ["networkx, nodes", "int and str"]),
    (lambda: from_networkx(networkx.path_graph(2), target="y"), DataError, ["'y'", "target"]),
    (lambda: from_networkx(networkx.path_graph(2), weight="w"), DataError, ["'w'", "weights"]),
    (lambda: from_networkx(7), WeftTypeError, ["from_networkx", "int"]),
    (lambda: from_scipy(np.eye(2)), WeftTypeError, ["from_scipy", "ndarray"]),
    (lambda: from_scipy(sparse.eye_array(2, 3)), ShapeError, ["square", "(2, 3)"]),
    (lambda: from_scipy(SKEW), DataError, ["(0, 1) is 1", "(1, 0) is 2", "directed=True"]),
    (lambda: from_scipy(SKEW * np.nan, directed=True), DataError, ["edges", "'weight'", "row 0", "no weight"]),
    (lambda: from_scipy(SKEW.tocsr() * 0, y=["a"]), ShapeError, ["2 nodes", "y has 1"]),
    (lambda: from_pyg(7), WeftTypeError, ["from_pyg", "edge_index", "int"]),
    (lambda: to_pyg(THREE), DataError, ["to_pyg", "t, w", "Features"]),
]

FOLDER: list[tuple[str, type[WeftError], list[str]]] = [
    ("nodse.csv", MissingFileError, ["nodes", "nodse.csv", "Did you mean 'nodes.csv'?"]),
    ("nodes.parquet", MissingFileError, ["no file", "nodes.parquet"]),
    ("no/where.csv", MissingFileError, ["no file", "where.csv"]),
    ("", DataError, ["nodes", "is a folder", "name one file"]),
]


def named(rows: list[Any], words: int = -1) -> Any:
    return {"argvalues": rows, "ids": [" ".join([row[words - 1].__name__, *row[words]]) for row in rows]}


def refused(call: Callable[[], object], error: type[WeftError], words: list[str]) -> None:
    with pytest.raises(errors.WeftError) as caught:
        call()
    assert type(caught.value) is error
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert message.endswith((".", ")", "?")), "a sentence"


@pytest.mark.parametrize(("call", "error", "words"), **named([*TABLES, *ARRAYS, *FEATURES, *SPLITS, *CONVERT]))
def test_is_refused_and_named(call, error, words):
    refused(call, error, words)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("name", "content", "settings", "error", "words"), **named(NODES))
def test_a_file_of_nodes_is_refused(tmp_path, name, content, settings, error, words):
    nodes, links = written(tmp_path / name, content), written(tmp_path / "links.csv", LINKS)
    refused(lambda: Graph.from_tables(nodes, links, **settings), error, words)


@pytest.mark.parametrize(("name", "content", "settings", "error", "words"), **named(EDGES))
def test_a_file_of_links_is_refused(tmp_path, name, content, settings, error, words):
    nodes, links = written(tmp_path / "nodes.csv", GOOD), written(tmp_path / name, content)
    refused(lambda: Graph.from_tables(str(nodes), str(links), **settings), error, words)


@pytest.mark.parametrize(("name", "error", "words"), **named(FOLDER))
def test_a_path_is_refused(tmp_path, name, error, words):
    written(tmp_path / "nodes.csv", GOOD)
    refused(lambda: read_table(tmp_path / name, "nodes"), error, words)


def test_a_table_is_not_written_just_anywhere(tmp_path):
    refused(lambda: write_table(COLUMNS, tmp_path / "out.xlsx"), DataError, ["out.xlsx", ".csv, .parquet, .arrow"])
    refused(lambda: write_table(COLUMNS, tmp_path / "no" / "out.csv"), MissingFileError, ["no folder", "out.csv"])
