"""Every seed on one axis: of a study with what was published behind it, of a leaderboard a lane for each contender."""

from collections.abc import Callable, Sequence
from statistics import fmean

from weft.estimators.leaderboard import Row
from weft.report.charts import drawing, px, ticks
from weft.report.markup import Html, count, tag
from weft.reproduce.runner import Outcome
from weft.reproduce.study import Study

WIDTH, SIDE, TOP, STEP, RADIUS, LANE = 400, 14, 26, 11, 4.5, 32
"""Lengths of the drawing; dots nearer to each other than `STEP` are stacked."""

FAR = 10
"""Points below the first beyond which a contender gets no lane: it would press all others together."""

LEAST = 1.0
"""Points that the axis shows at least, so that what is nearly equal looks so."""


def strip(study: Study, outcome: Outcome) -> Html:
    """A dot for each seed, stacked where they would overlap; below, their mean ± standard deviation, where there are several.

    The published number is a line through all of it, on a band as wide as its spread.
    """
    values, mean, spread = outcome.values, outcome.mean, outcome.spread
    ends = [*values, mean - spread, mean + spread]
    if study.published is not None:
        ends += [study.published - (study.spread or 0.0), study.published + (study.spread or 0.0)]
    steps, x = _axis(ends)
    levels = stacked([x(value) for value in values])
    ground = TOP + 14 + STEP * max(levels, default=0) + RADIUS
    below, foot = ground + 22, ground + 40
    marks = _grid(steps, x, TOP, foot)
    told = "nothing was published"
    if study.published is not None:
        told = f"published: {study.number}"
        band = [x(study.published + sign * (study.spread or 0.0)) for sign in (-1, 1)]
        marks += _published(x(study.published), band, foot, told)
    for seed, (value, level) in enumerate(zip(values, levels, strict=True)):
        tip = tag("title", f"seed {seed}: {value:.2f}%")
        marks.append(tag("circle", tip, cx=px(x(value)), cy=px(ground - STEP * level), r=RADIUS, class_="fill"))
    if len(values) > 1:
        marks.append(tag("line", x1=px(x(mean - spread)), x2=px(x(mean + spread)), y1=px(below), y2=px(below), class_="sure"))
        tip = tag("title", f"our mean: {mean:.2f} ± {spread:.2f}%")
        marks.append(tag("circle", tip, cx=px(x(mean)), cy=px(below), r=RADIUS, class_="dot"))
    height = foot + 24
    title = f"{count(len(values), 'seed')} from {min(values):.2f} to {max(values):.2f}, mean {mean:.2f}; {told}"
    return drawing(WIDTH, height, title, marks)


def stacked(places: Sequence[float]) -> list[int]:
    """The level of each dot, the lowest on which none is too near.

    >>> stacked([0.0, 50.0, 4.0])
    [0, 0, 1]
    """
    levels: list[int] = []
    for at, place in enumerate(places):
        near = {levels[other] for other in range(at) if abs(places[other] - place) < STEP}
        levels.append(next(level for level in range(at + 1) if level not in near))
    return levels


def lanes(rows: Sequence[Row]) -> Html:
    """The test percents of contenders that were run more than once and are no more than `FAR` below the first."""
    shown = [row for row in rows if len(row.test) > 1 and 100 * (fmean(rows[0].test) - fmean(row.test)) <= FAR]
    steps, x = _axis([100 * share for row in shown for share in row.test])
    foot = LANE * len(shown) + 8
    marks = _grid(steps, x, 0, foot)
    for at, row in enumerate(shown):
        y, middle = LANE * (at + 1) - 8, x(100 * fmean(row.test))
        marks.append(tag("text", row.name, x=SIDE, y=y - 9))
        marks.append(tag("line", x1=px(middle), x2=px(middle), y1=y - 7, y2=y + 7, class_="sure"))
        for seed, share in enumerate(row.test):
            tip = tag("title", f"{row.name}, seed {seed}: {100 * share:.2f}%")
            marks.append(tag("circle", tip, cx=px(x(100 * share)), cy=y, r=3, class_="fill"))
    told = ", ".join(f"{row.name}: {100 * min(row.test):.1f} to {100 * max(row.test):.1f}" for row in shown)
    return drawing(WIDTH, foot + 24, f"Test percents over the seeds. {told}", marks)


def _axis(values: Sequence[float]) -> tuple[list[float], Callable[[float], float]]:
    """Round numbers around the values, and where a value stands."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    room = max(LEAST - (most - least), 0.0) / 2
    steps = ticks(least - room, most + room)
    return steps, lambda value: SIDE + (value - steps[0]) / (steps[-1] - steps[0]) * (WIDTH - 2 * SIDE)


def _grid(steps: Sequence[float], x: Callable[[float], float], top: float, foot: float) -> list[Html]:
    marks: list[Html] = []
    for step in steps:
        marks.append(tag("line", x1=px(x(step)), x2=px(x(step)), y1=px(top), y2=px(foot), class_="grid"))
        marks.append(tag("text", f"{step:g}%", x=px(x(step)), y=px(foot + 18), text_anchor="middle"))
    return [*marks, tag("line", x1=SIDE, x2=WIDTH - SIDE, y1=px(foot), y2=px(foot), class_="axis")]


def _published(middle: float, ends: Sequence[float], foot: float, told: str) -> list[Html]:
    band = tag("rect", x=px(ends[0]), y=TOP, width=px(ends[1] - ends[0]), height=px(foot - TOP), class_="track")
    line = tag("line", x1=px(middle), x2=px(middle), y1=TOP - 6, y2=px(foot), class_="ideal")
    anchor = "start" if middle < WIDTH / 3 else "end" if middle > 2 * WIDTH / 3 else "middle"
    text = tag("text", told, x=px(middle), y=TOP - 12, text_anchor=anchor, class_="strong")
    return [*([band] if ends[1] > ends[0] else []), line, text]
