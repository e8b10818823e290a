"""Every seed is a dot that can be seen, whatever the numbers."""

import re

import pytest

from weft.estimators.leaderboard import Row
from weft.reproduce.runner import Outcome
from weft.reproduce.strip import STEP, WIDTH, lanes, stacked, strip
from weft.reproduce.study import check_study

GOOD = {"title": "t", "paper": "p", "data": "cora", "source": "s"}


def drawn(values: tuple[float, ...], **published) -> str:
    return strip(check_study("x", GOOD | published), Outcome("x", values, 1.0, "2026-01-01", "a machine", {}))


@pytest.mark.parametrize(
    ("values", "published"),
    [
        ((80.0, 81.0), {"published": 81.5, "spread": 0.5}),
        ((80.0, 81.0), {"published": 20.0}),
        ((71.4,), {"published": 68.0}),
        ((50.0,) * 100, {}),
        ((0.0, 100.0), {"published": 99.9, "spread": 20.3}),
        ((81.49999999999999, 81.5), {"published": 81.5}),
    ],
    ids=range(6),
)
def test_all_of_it_lies_inside(values, published):
    picture = drawn(values, **published)
    height = float(re.search(r'viewBox="0 0 \d+ (\d+)', picture)[1])
    places = [float(each) for each in re.findall(r' (?:cx|x|x1|x2)="([^"]+)"', picture)]
    assert min(places) >= 0 and max(places) <= WIDTH and picture.count("seed ") >= len(values)
    assert all(0 < float(each) < height for each in re.findall(r' cy="([^"]+)"', picture))
    assert picture.count('class="fill"') == len(values) and picture.count('class="dot"') == (len(values) > 1)
    assert picture.count('class="ideal"') == ("published" in published) and picture.count('class="track"') == (
        "spread" in published
    )
    assert not re.search("nan|inf|None", picture)


def test_no_two_dots_overlap():
    places = [0.0, 3.0, 6.0, 50.0, 3.0, 12.0]
    levels = stacked(places)
    assert all(
        abs(places[a] - places[b]) >= STEP or levels[a] != levels[b] for a in range(len(places)) for b in range(a)
    ) and set(levels) == set(range(max(levels) + 1))


def test_it_says_what_it_shows():
    assert 'aria-label="2 seeds from 80.00 to 82.00, mean 81.00; published: 81.5 ± 0.7"' in drawn(
        (80.0, 82.0), published=81.5, spread=0.7
    )
    assert "nothing was published" in drawn((80.0,))


def test_a_lane_for_each_contender_with_seeds():
    rows = [Row("gat", "both", (0.8, 0.8), (0.8, 0.9), 1.0), Row("degrees", "links", (0.1,), (0.1,), 1.0)]
    rows.append(Row("mlp", "features", (0.5, 0.5), (0.5, 0.6), 1.0))
    picture = lanes(rows)
    assert (
        picture.count('class="fill"') == 2
        and "gat: 80.0 to 90.0" in picture
        and "degrees" not in picture
        and "mlp" not in picture
    )
    assert lanes([]) and "nan" not in lanes(rows[1:])
