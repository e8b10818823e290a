"""Drawings say what they are, and hold nothing that is not a number."""

import math
import re

import pytest

from weft.report.charts import Dot, columns, curve, legend_mark, reliability, scatter, seeds, shape, ticks
from weft.report.figures import Bin


@pytest.mark.parametrize(
    "values", [[], [0.5], [0.5, 0.5], [math.nan, 1.0, math.inf], [1e-9, 2e-9], [1e12, 0.0], list(range(5000))], ids=range(7)
)
def test_a_curve_of_anything(values):
    drawn = curve(values, 1, "loss")
    assert 'aria-label="loss' in drawn and len(drawn) < 40_000
    assert not re.search(r'="[^"]*(nan|inf)[^"]*"', re.sub(r'aria-label="[^"]*"', "", drawn))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.3, 0.31), (-4, 4000), (2, 2), (0, 0), (1e-12, 3e-12)])
def test_ticks_hold_the_range(low, high):
    found = ticks(low, high)
    assert found[0] <= low + 1e-15 and found[-1] >= high - 1e-15 and 3 <= len(found) <= 7


def test_bars_without_numbers():
    assert "nan" not in seeds([math.nan], "fill") and seeds([], "fill")
    assert columns(["0"], [0], "links") and columns([], [], "links")


def test_reliability_fades_what_rests_on_little():
    drawn = reliability([Bin(0.4, 0.5, 3, 0.45, 0.0), Bin(0.9, 1.0, 50, 0.96, 0.9)])
    assert drawn.count('class="fill"') == 1 and drawn.count('class="soft"') == 3 and "50 answers" in drawn


def test_forty_classes_look_forty_ways():
    assert len({(re.search("k[0-9]", legend_mark(code))[0], shape(code)) for code in range(40)}) == 40


def test_mistakes_lie_above_and_are_ringed():
    dots = [Dot(0, 0, 0, True, True, "wrong"), Dot(1, 1, 1, True, False, "right"), Dot(1, 0, 1, False, False, "unknown")]
    drawn = scatter(dots, "map")
    assert drawn.index("right") < drawn.index("wrong") < drawn.index("ring") and 'class="k1 open"' in drawn


@pytest.mark.parametrize("places", [[], [(0, 0)], [(2, 2), (2, 2)], [(0, 0), (1e-30, 0)], [(0, 0), (0, 1e30)]], ids=range(5))
def test_a_map_of_hardly_anything(places):
    drawn = scatter([Dot(x, y, 0, True, False, "") for x, y in places], "map")
    assert not re.search(r"nan|inf|e\+", drawn)
