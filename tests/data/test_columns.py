"""Each kind of column by a case a human can check: what is learnt, what comes out, what stands for a gap."""

import datetime
from math import isclose, log, sqrt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.data.columns import FARTHEST, Boolean, Categorical, Date, Numeric, Words

DAY = datetime.date


def test_a_number_is_its_distance_from_the_mean():
    column = Numeric.fit(pa.array([1, 3, None]))
    assert column == Numeric(mean=2.0, spread=1.0, gaps=True) and column.names() == ("value", "missing")
    assert column.apply(pa.array([1.0, 4.0, None, float("nan")])).tolist() == [[-1, 0], [2, 0], [0, 1], [0, 1]]


def test_a_gap_that_was_not_there_before_is_the_mean():
    assert Numeric.fit(pa.array([1, 3])).apply(pa.array([3, None])).tolist() == [[1], [0]]


@pytest.mark.parametrize("values", [[], [None], [float("nan")]])
def test_no_number_at_all_is_zero(values):
    assert Numeric.fit(pa.array(values, pa.float64())) == Numeric(0.0, 1.0, gaps=True)


@pytest.mark.parametrize("values", [[0.1] * 10, [0.0, 0.0], [1e308] * 3, [1e-320] * 3, [1e300, -1e300], [2**62, 2**62 + 1]])
def test_numbers_of_any_size_stay_finite(values):
    column = Numeric.fit(pa.array(values))
    assert column.spread > 0 and np.isfinite(column.apply(pa.array(values))).all()


def test_a_number_very_far_away_counts_as_far():
    assert Numeric(0.0, 1e-300, gaps=False).apply(pa.array([1e300, -1e300, 0.0])).tolist() == [[FARTHEST], [-FARTHEST], [0]]


@given(st.lists(st.integers(-1000, 1000), min_size=2))
def test_numbers_agree_with_numpy(values):
    column = Numeric.fit(pa.array(values))
    assert isclose(column.mean, np.mean(values), abs_tol=1e-9)
    assert isclose(column.spread, np.std(values) or max(np.abs(values).max(), 1e-300), rel_tol=1e-9)


def test_yes_is_one_and_no_is_minus_one():
    assert Boolean.fit(pa.array([True, False])).apply(pa.array([True, False, None])).tolist() == [[1], [-1], [0]]
    column = Boolean.fit(pa.array([True, None]))
    assert column.names() == ("yes", "missing") and column.apply(pa.array(["true", "0", None])).tolist() == [
        [1, 0],
        [-1, 0],
        [0, 1],
    ]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_words_have_places_and_anything_else_has_one(kind):
    column = Categorical.fit(pa.array(["b", "a", "b", None], pa.string()).cast(kind))
    assert column == Categorical(("a", "b")) and column.names() == ("a", "b", "anything else")
    assert column.apply(pa.array(["b", "new", None, "a"])).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]]


def test_numbers_are_the_same_words_with_and_without_gaps():
    column = Categorical.fit(pa.array([1, 2]))
    assert column.apply(pa.array([2.0, float("nan"), 1.0])).tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_the_most_frequent_words_are_kept():
    column = Categorical.fit(pa.array([f"{at:04}" for at in range(1500)] + ["1499", "1498"]))
    assert len(column.words) == 1000 and column.words[:2] == ("0000", "0001") and column.words[-3:] == ("0997", "1498", "1499")


def test_a_date_is_how_late_and_where_in_year_and_week():
    column = Date.fit(pa.array([DAY(1970, 1, 5), DAY(1970, 1, 7)]))  # a Monday and a Wednesday
    out = column.apply(pa.array([DAY(1970, 1, 5), DAY(1970, 1, 7), None]))
    assert out[:, 0].tolist() == [-1, 1, 0] and out[2].tolist() == [0] * 5
    week = 2 * np.pi * 2 / 7
    np.testing.assert_allclose(out[0, 3:], [np.sin(2 * np.pi), np.cos(2 * np.pi)], atol=1e-6)
    np.testing.assert_allclose(out[1, 3:], [np.sin(week), np.cos(week)], atol=1e-6)
    np.testing.assert_allclose(out[0, 1], np.sin(2 * np.pi * 4 / 365.2425), atol=1e-6)


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.string()]
)
def test_the_same_day_in_any_type(kind):
    column = Date.fit(pa.array([DAY(2024, 1, 1), DAY(2024, 1, 3)]))
    assert column.apply(pa.array([DAY(2024, 1, 3)]).cast(kind))[0, 0] == 1


def test_text_is_how_often_each_word_times_how_rare_it_is():
    column = Words.fit(pa.array(["The cat", "the dog, the dog", None]))
    assert column.words == ("cat", "dog", "the")
    rare, common = log(4 / 2) + 1, log(4 / 3) + 1
    assert column.rarity == (rare, rare, common)
    length = sqrt(4 * rare**2 + 4 * common**2)
    expected = [[0, 2 * rare / length, 2 * common / length], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(column.apply(pa.array(["DOG the the dog", "new words", None])), expected, rtol=1e-6)


@pytest.mark.parametrize("values", [["a; b", "b;b;", None], [["a", "b"], ["b", None], None]])
def test_several_values_are_there_or_not(values):
    column = Words.fit(pa.array(values), separator=";")
    assert column.words == ("a", "b") and column.names() == ("a", "b")
    assert column.apply(pa.array(values)).tolist() == [[1, 1], [0, 1], [0, 0]]
