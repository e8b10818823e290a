"""Ids: whole numbers and text, found again whatever type the other table keeps them in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.data.ids import Ids, canonical


def find(known, asked) -> list[int]:
    return Ids.of(known, "nodes").find(asked, "edges").tolist()


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ([7, 3], [3, 7, 9]),
        (["7", "3"], [3, 7, 9]),
        ([7, 3], ["3", "7", "9"]),
        ([7, 3], [3.0, 7.0, 9.0]),
        (pd.Series([7, 3]), pl.Series([3, 7, 9]).to_arrow()),
        (np.array([7, 3], np.uint8), np.array([3, 7, 9], np.int16)),
        (pa.array(["7", "3"]).dictionary_encode(), pa.array(["3", "7", "9"], pa.large_string())),
        (pa.chunked_array([["7"], ["3"]]), pa.array(["3", "7", "9"], pa.string_view())),
    ],
)
def test_the_same_id_in_another_type_is_found(known, asked):
    assert find(known, asked) == [1, 0, -1]


def test_text_is_compared_letter_by_letter():
    assert find(["007", "7", " 7"], ["7", "007", "07", "7 "]) == [1, 0, -1, -1]
    assert find([7], ["007"]) == [-1]


def test_whole_numbers_with_gaps_are_whole_numbers():
    assert canonical(pd.Series([1.0, float("nan"), 3.0]), "edges").to_pylist() == [1, None, 3]
    assert canonical(pa.array([1.0, float("nan"), None, 2.0**53]), "edges").to_pylist() == [1, None, None, 2**53]


def test_numbers_beyond_64_bits_with_a_sign_become_text():
    assert find(pa.array([2**64 - 1, 5], pa.uint64()), ["5", str(2**64 - 1)]) == [1, 0]


def test_missing_ids_are_not_found():
    assert find(["a"], [None, "a"]) == [-1, 0] and find([], ["a"]) == [-1] and find(["a"], []) == []


def test_positions_lead_back():
    ids = Ids.of(["b", "a", "c"], "nodes")
    assert ids.take(ids.positions(["c", "b"], "edges")).to_pylist() == ["c", "b"]
    assert len(ids) == 3 and Ids.counted(3).values.to_pylist() == [0, 1, 2]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), unique=True))
def test_every_id_stands_where_it_was_given(names):
    names = [name for name in names if name is not None]
    assert find(pa.array(names, pa.int64()), [str(name) for name in reversed(names)]) == list(reversed(range(len(names))))
