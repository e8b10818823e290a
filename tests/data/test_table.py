"""Tables: whatever they come in, names stay as they are written and the rest takes the type it has."""

import datetime
import gzip

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

from weft.data.table import place_of, read_table, row_number, text_header, write_table

PLAIN = {"id": ["a", "b"], "n": [1, None]}


@pytest.mark.parametrize(
    "table",
    [
        PLAIN,
        pa.table(PLAIN),
        pd.DataFrame({"id": ["a", "b"], "n": [1.0, float("nan")]}),
        pl.DataFrame(PLAIN),
        {"id": pa.array(["a", "b"]), "n": pl.Series([1, None])},
        {"id": ["a", "b"], "n": [1.0, float("nan")]},
        {"id": ["a", "b"], "n": torch.tensor([1.0, float("nan")])},
        {"id": ["a", "b"], "n": pd.Series([1, None])},
    ],
    ids=["dict", "Arrow", "pandas", "polars", "columns", "floats", "tensor", "series"],
)
def test_any_frame_is_the_same_table(table):
    assert read_table(table, "nodes").to_pydict() == PLAIN


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_file_comes_back(tmp_path, ending):
    write_table(pa.table(PLAIN), tmp_path / f"nodes.{ending}")
    assert read_table(tmp_path / f"nodes.{ending}", "nodes", ["id"]).to_pydict() == PLAIN
    assert [each.name for each in tmp_path.iterdir()] == [f"nodes.{ending}"]


@pytest.mark.parametrize(("name", "write"), [("n.pq", parquet.write_table), ("n.feather", feather.write_feather)])
def test_other_endings_of_binary_files(tmp_path, name, write):
    write(pa.table(PLAIN), str(tmp_path / name))
    assert read_table(str(tmp_path / name), "nodes").to_pydict() == PLAIN


def test_ids_stay_text_exactly(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text('id,n\n007,1\nNA,NA\nÅse Öl,3\n two  words ,4\n"a ""b"", c\nd",5\n1e3,6\ntrue,7\n', encoding="utf-8")
    assert read_table(path, "nodes", ["id"]).to_pydict() == {
        "id": ["007", "NA", "Åse Öl", " two  words ", 'a "b", c\nd', "1e3", "true"],
        "n": [1, None, 3, 4, 5, 6, 7],
    }


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1))
def test_any_text_is_an_id(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("ids") / "nodes.csv"
    csv.write_csv(pa.table({"id": names, "n": range(len(names))}), str(path))
    assert read_table(path, "nodes", ["id"])["id"].to_pylist() == names


def test_columns_that_name_nothing_take_the_type_they_have(tmp_path):
    path = tmp_path / "nodes.tsv"
    path.write_text("id\twhole\tpart\tyes\tday\tword\n1\t1\t0.5\ttrue\t2024-02-29\tx\n2\t?\tnan\t\tNULL\tNone\n")
    assert read_table(path, "nodes", ["id"]).to_pylist() == [
        {"id": "1", "whole": 1, "part": 0.5, "yes": True, "day": datetime.date(2024, 2, 29), "word": "x"},
        {"id": "2", "whole": None, "part": None, "yes": None, "day": None, "word": None},
    ]


@pytest.mark.parametrize(
    "raw",
    [
        b"id,n\r\n007,1\r\n",
        b"id,n\r007,1\r",
        b"\xef\xbb\xbfid,n\n007,1\n",
        b"id,n\n007,1",
        b"\nid,n\n\n007,1\n\n\n",
        b'"id","n"\n"007","1"\n',
    ],
    ids=["windows", "old mac", "byte order mark", "no last newline", "empty lines", "quoted"],
)
def test_spellings_of_the_same_file(tmp_path, raw):
    (tmp_path / "nodes.CSV").write_bytes(raw)
    (tmp_path / "nodes.csv.gz").write_bytes(gzip.compress(raw))
    for name in ("nodes.CSV", "nodes.csv.gz"):
        assert read_table(tmp_path / name, "nodes", ["id"]).to_pydict() == {"id": ["007"], "n": [1]}


@pytest.mark.parametrize("raw", ["id,n\n", "id,n", "\nid,n\n\n"])
def test_a_header_alone_is_a_table_without_rows(tmp_path, raw):
    path = tmp_path / "nodes.csv"
    path.write_text(raw)
    table = read_table(path, "nodes", ["id"])
    assert table.column_names == ["id", "n"] and table.num_rows == 0 and table.schema.types == [pa.string(), pa.null()]


def test_rows_are_numbered_by_their_lines(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text('id\n\na\n"b\nb"\nc\n')
    assert read_table(path, "nodes", ["id"])["id"].to_pylist() == ["a", "b\nb", "c"]
    assert [row_number(path, at) for at in range(3)] == [3, 4, 6]
    assert row_number(PLAIN, 1) == 1 and row_number("nodes.parquet", 1) == 1


def test_a_value_too_long_for_pythons_reader_is_read(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("id,text\na,b\nc," + "x" * 200_000 + "\n")
    assert len(read_table(path, "nodes", ["id"])["text"][1].as_py()) == 200_000
    assert row_number(path, 1) == 3


def test_header_and_place(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("a,b\n1,2\n")
    assert text_header(path, "nodes") == ["a", "b"] and text_header(PLAIN, "nodes") is None
    assert place_of(str(path), "nodes") == "nodes.csv" and place_of(PLAIN, "nodes") == "nodes"


def test_an_index_with_a_name_is_a_column():
    frame = pd.DataFrame({"id": ["a", "b", "c"], "n": [1, 2, 3]})
    assert read_table(frame.set_index("id"), "nodes").column_names == ["n", "id"]
    assert read_table(frame[frame.n > 1], "nodes").to_pydict() == {"id": ["b", "c"], "n": [2, 3]}
