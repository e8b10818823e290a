"""Columns to features: what a column is taken for, what is left out, and that only training rows teach anything."""

import datetime
import json
from typing import Any

import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from weft.data import Features
from weft.data.features import guess_kind

DAYS = [datetime.date(2024, 1, 1 + at) for at in range(4)]
TABLE = pa.table(
    {
        "age": [10, 20, None, 40],
        "sort": ["x", "y", "x", None],
        "new": [True, None, False, True],
        "since": DAYS,
        "about": ["the cat sat", "the dog ran off", "a cat and a dog", None],
        "tags": ["p|q", "q|r", "p|r", "p|q|r"],
        "parts": [["u"], ["u", "v"], [], None],
        "key": ["k1", "k2", "k3", "k4"],
        "same": [7, 7, 7, 8],
        "empty": [None, None, None, 1.0],
    }
)
KINDS: dict[str, Any] = {
    "age": "numeric",
    "sort": "categorical",
    "new": "boolean",
    "since": "date",
    "about": "text",
    "tags": "multi",
    "parts": "multi",
    "key": "skip",
    "same": "skip",
    "empty": "skip",
}
FITTED = Features.fit(TABLE, [0, 1, 2], {"sort": "categorical"})


def test_every_kind_is_found():
    assert FITTED.kinds() == KINDS
    assert dict(FITTED.left_out) == {
        "key": "neither numbers, categories, dates nor text: nearly every row has a value of its own",
        "same": "every training row has the same value",
        "empty": "no training row has a value",
    }


def test_a_feature_is_called_by_its_column_and_part():
    assert FITTED.names[:6] == ["age: value", "age: missing", "sort: x", "sort: y", "sort: anything else", "new: yes"]
    assert FITTED.names[-2:] == ["parts: u", "parts: v"] and FITTED.width == len(FITTED.names)


def test_apply_is_the_columns_side_by_side():
    x = FITTED.apply(TABLE)
    assert x.shape == (4, FITTED.width) and x.dtype == torch.float32 and bool(x.isfinite().all())
    assert x[:, :7].tolist() == [
        [-1, 0, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 0, 0, 1],
        [0, 1, 1, 0, 0, -1, 0],
        [5, 0, 0, 0, 1, 1, 0],
    ]
    assert x[:, -2:].tolist() == [[1, 0], [1, 1], [0, 0], [0, 0]]


def test_what_was_never_seen_finds_a_place():
    new = pa.table({name: pa.array([None], TABLE[name].type) for name in TABLE.column_names})
    new = new.set_column(1, "sort", [["z"]])
    assert FITTED.apply(new)[0, :7].tolist() == [0, 1, 0, 0, 1, 0, 1]
    assert FITTED.apply(TABLE.slice(0, 0)).shape == (0, FITTED.width)
    assert torch.equal(FITTED.apply(TABLE.select(list(reversed(TABLE.column_names)))), FITTED.apply(TABLE))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([1, 2]), "numeric"),
        (pa.array([1.5, None]), "numeric"),
        (pa.array([True, False]), "boolean"),
        (pa.array(DAYS), "date"),
        (pa.array(DAYS).cast(pa.timestamp("ns", "UTC")), "date"),
        (pa.array(["a", "b"] * 3), "categorical"),
        (pa.array(["a", "b"]).dictionary_encode(), "categorical"),
        (pa.array([f"word{at}" for at in range(60)]), "skip"),
        (pa.array([f"some longer sentence number {at}" for at in range(60)], pa.string_view()), "text"),
        (pa.array(["a;b", "b;c", "c;a"]), "multi"),
        (pa.array([["a"], ["b"]], pa.large_list(pa.string())), "multi"),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)), "multi"),
        (pa.array([[0.5], [0.25]]), "skip"),
        (pa.array([{"a": 1}]), "skip"),
        (pa.array([b"raw"]), "skip"),
        (pa.array([None, None]), "skip"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.type),
)
def test_what_a_column_looks_like(values, kind):
    assert guess_kind(values) == kind


def test_the_owner_knows_better():
    told: dict[str, Any] = {"age": "categorical", "since": "skip", "same": "numeric", "key": "categorical", "about": "multi"}
    features = Features.fit(TABLE, [0, 1, 2], told)
    assert {name: kind for name, kind in features.kinds().items() if name in told} == told
    assert dict(features.left_out)["since"] == "left out as asked"
    assert {"age: 10", "key: k3", "same: value", "about: the cat sat"} <= set(features.names)


def test_the_separator_is_the_one_that_occurs():
    features = Features.fit(pa.table({"a": ["x;y", "z", None]}), [0, 1, 2], {"a": "multi"})
    assert features.names == ["a: x", "a: y", "a: z"]


def test_without_columns_there_are_no_features():
    features = Features.fit(pa.table({"same": [1, 1]}), [0, 1])
    assert features.width == 0 and features.apply(pa.table({"other": [1, 2, 3]})).shape == (3, 0)


def test_any_whole_numbers_name_training_rows():
    assert Features.fit(TABLE, torch.tensor([0, 1, 2])) == Features.fit(TABLE, iter([0, 1, 2])) == Features.fit(TABLE, range(3))


def test_json_and_back_gives_equal_bytes():
    again = Features.from_json(json.loads(json.dumps(FITTED.to_json())))
    assert again == FITTED and again.apply(TABLE).numpy().tobytes() == FITTED.apply(TABLE).numpy().tobytes()


ROW = st.fixed_dictionaries(
    {
        "number": st.none() | st.floats(-1e6, 1e6),
        "word": st.none() | st.sampled_from(["a", "b", "c|d", "a|b", "one two three"]),
        "yes": st.none() | st.booleans(),
        "day": st.none() | st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    }
)
TYPES = pa.schema({"number": pa.float64(), "word": pa.string(), "yes": pa.bool_(), "day": pa.date32()})


@given(st.lists(ROW, min_size=1), st.lists(ROW), st.lists(ROW))
def test_only_training_rows_teach(train, others, changed):
    before, after = (pa.Table.from_pylist([*train, *rest], TYPES) for rest in (others, changed))
    learnt = Features.fit(before, range(len(train)))
    assert learnt == Features.fit(after, range(len(train)))
    rows = slice(0, len(train))
    assert torch.equal(learnt.apply(before)[rows], learnt.apply(after)[rows])
    assert bool(learnt.apply(after).isfinite().all())
    again = Features.from_json(json.loads(json.dumps(learnt.to_json())))
    assert again == learnt and torch.equal(again.apply(after), learnt.apply(after))
