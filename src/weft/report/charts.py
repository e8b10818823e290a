"""Drawings as SVG: curves, seeds, degrees, reliability, and the map. Colours are classes, so that they follow the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np

from weft.report.figures import Bin, Numbers
from weft.report.markup import Html, count, join, percent, tag
from weft.report.style import CATEGORIES

MARKS = (
    tag("circle", r="3.2"),
    tag("path", d="M-3-3H3V3H-3z"),
    tag("path", d="M0-4L3.8 3H-3.8z"),
    tag("path", d="M0-4.2L4.2 0L0 4.2L-4.2 0z"),
    tag("path", d="M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3z"),
)
"""Shapes of classes: every colour comes with each of them."""

MOST_STEPS = 800
"""A curve of more epochs is drawn by so many of them."""


@dataclass(frozen=True)
class Dot:
    """A node on the map: where, its class by number (-1: none known), whether it is answered wrongly, and its tooltip."""

    x: float
    y: float
    code: int
    known: bool
    wrong: bool
    tip: str


def curve(values: Sequence[float], best: int, title: str) -> Html:
    """A line over epochs, the first of which is number 1, with the best one marked."""
    width, height, left, right, top, bottom = 300, 190, 38, 8, 20, 26
    finite = [value for value in values if isfinite(value)]
    steps = ticks(min(finite, default=0.0), max(finite, default=1.0))
    low, high, last = steps[0], steps[-1], max(len(values), 2)

    def place(epoch: float, value: float) -> tuple[float, float]:
        x = left + (epoch - 1) / (last - 1) * (width - left - right)
        return x, height - bottom - (value - low) / (high - low) * (height - top - bottom)

    lines: list[Html] = []
    for step in steps:
        _, y = place(1, step)
        lines.append(tag("line", x1=left, x2=width - right, y1=px(y), y2=px(y), class_="grid"))
        lines.append(tag("text", f"{step:g}", x=left - 8, y=px(y + 4), text_anchor="end"))
    shown = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_STEPS)).round().astype(int)).tolist()
    points = [place(at + 1, values[at]) for at in shown if isfinite(values[at])]
    path = " ".join(f"{px(x)},{px(y)}" for x, y in points)
    for epoch, anchor in {1: "start", max(len(values), 1): "end"}.items():
        lines.append(tag("text", f"{epoch:,}", x=px(place(epoch, low)[0]), y=height - 8, text_anchor=anchor))
    lines.append(tag("polyline", points=path, class_="curve"))
    if 1 <= best <= len(values) and isfinite(values[best - 1]):
        x, y = place(best, values[best - 1])
        anchor = "start" if x < width / 2 else "end"
        lines.append(tag("line", x1=px(x), x2=px(x), y1=top - 6, y2=height - bottom, class_="mark"))
        lines.append(
            tag("circle", tag("title", f"epoch {best}: {values[best - 1]:.4g}"), cx=px(x), cy=px(y), r=4, class_="dot")
        )
        told = f"epoch {best:,}: {values[best - 1]:.3g}"
        lines.append(tag("text", told, x=px(x), y=top - 9, text_anchor=anchor, class_="strong"))
    ends = f"from {values[0]:.3g} to {values[-1]:.3g} in {count(len(values), 'epoch')}" if values else "no epoch"
    return drawing(width, height, f"{title}: {ends}", lines)


def seeds(values: Sequence[float], kind: str) -> Html:
    """A bar to the mean of some accuracies, with a tick for each."""
    known = [value for value in values if isfinite(value)]
    mean = sum(known) / len(known) if known else 0.0
    marks = [
        tag("rect", x=0, y=3, width=100, height=4, rx=2, class_="track"),
        tag("rect", x=0, y=3, width=px(100 * mean), height=4, rx=2, class_=kind),
    ]
    if len(known) > 1:
        marks += [tag("rect", x=px(100 * value - 0.4), y=0, width=0.8, height=10, class_="tick") for value in known]
    box = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none", "style": "height:10px;min-width:6rem"}
    return tag("svg", *marks, aria_hidden="true", **box)


def columns(labels: Sequence[str], counts: Sequence[int], title: str) -> Html:
    """How many things fall into each of a few groups."""
    width, height, bottom, most = 320, 150, 24, max(max(counts, default=0), 1)
    step = width / max(len(counts), 1)
    marks: list[Html] = []
    for at, (label, number) in enumerate(zip(labels, counts, strict=True)):
        tall = (height - bottom - 16) * number / most
        x, y = at * step, height - bottom - tall
        box = {"x": px(x + 1), "y": px(y), "width": px(step - 2), "height": px(tall), "rx": 2}
        marks.append(tag("rect", tag("title", f"{label}: {number:,}"), **box, class_="fill"))
        middle = px(x + step / 2)
        marks.append(tag("text", label, x=middle, y=height - 8, text_anchor="middle"))
        if number:
            marks.append(tag("text", compact(number), x=middle, y=px(y - 4), text_anchor="middle"))
    marks.append(tag("line", x1=0, x2=width, y1=height - bottom, y2=height - bottom, class_="axis"))
    told = ", ".join(f"{label}: {number:,}" for label, number in zip(labels, counts, strict=True))
    return drawing(width, height, f"{title}: {told}", marks)


def reliability(bins: Sequence[Bin]) -> Html:
    """How often answers are right against how sure they are; below, how many there are."""
    size, left, counts, right = 280, 40, 54, 8
    width, height = left + size + right, size + counts + 44
    most = max((each.count for each in bins), default=1)

    def x(share: float) -> float:
        return left + share * size

    marks: list[Html] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = px(8 + size * (1 - share))
        marks.append(tag("line", x1=left, x2=left + size, y1=y, y2=y, class_="grid"))
        marks.append(tag("text", percent(share, 0), x=left - 8, y=px(12 + size * (1 - share)), text_anchor="end"))
        marks.append(tag("text", percent(share, 0), x=px(x(share)), y=height - 8, text_anchor="middle"))
    for each in bins:
        tip = f"{percent(each.low, 0)} to {percent(each.high, 0)}: {count(each.count, 'answer')}\n" + (
            f"sure of {percent(each.confidence)}, right in {percent(each.right)}"
        )
        wide = (each.high - each.low) * size - 2
        tall, many = size * each.right, max(counts * each.count / most, 1)
        begin, few = px(x(each.low) + 1), "soft" if each.count < 10 else "fill"
        marks.append(
            tag("rect", tag("title", tip), x=begin, y=px(8 + size - tall), width=px(wide), height=px(tall), class_=few)
        )
        level = px(8 + size * (1 - each.confidence))
        marks.append(tag("line", x1=begin, x2=px(x(each.high) - 1), y1=level, y2=level, class_="sure"))
        foot = height - 24
        bar = {"x": begin, "y": px(foot - many), "width": px(wide), "height": px(many)}
        marks.append(tag("rect", tag("title", tip), **bar, class_="soft"))
    marks.append(tag("line", x1=left, x2=left + size, y1=8 + size, y2=8, class_="ideal"))
    marks.append(tag("line", x1=left, x2=left + size, y1=8 + size, y2=8 + size, class_="axis"))
    told = ", ".join(f"{percent(each.confidence, 0)} sure: {percent(each.right, 0)} right of {each.count}" for each in bins)
    return drawing(width, height, f"Reliability. {told}", marks)


def scatter(dots: Sequence[Dot], title: str) -> Html:
    """The map: both axes on one scale, mistakes above all others and ringed."""
    x, y = np.array([dot.x for dot in dots], float), np.array([dot.y for dot in dots], float)
    (x, wide), (y, tall) = _from_zero(x), _from_zero(y)
    scale = min(736 / max(wide, 1e-12), 496 / max(tall, 1e-12)) if wide or tall else 1.0
    width, height = 760, round(max(scale * tall, 120) + 24)
    across, down = (width - scale * wide) / 2 + scale * x, (height + scale * tall) / 2 - scale * y
    marks: list[Html] = []
    for at in sorted(range(len(dots)), key=lambda at: (dots[at].wrong, at)):
        dot, where = dots[at], (px(across[at]), px(down[at]))
        kind = f"k{max(dot.code, 0) % len(CATEGORIES)}" + ("" if dot.known else " open")
        marks.append(tag("use", tag("title", dot.tip), href=f"#{shape(dot.code)}", x=where[0], y=where[1], class_=kind,
                         data_c=dot.code))  # fmt: skip
        if dot.wrong:
            marks.append(tag("circle", cx=where[0], cy=where[1], r=5.8, class_="ring", data_c=dot.code))
    shapes = tag("defs", *(tag("g", mark, id=f"m{at}") for at, mark in enumerate(MARKS)))
    return drawing(width, height, title, [shapes, *marks])


def legend_mark(code: int) -> Html:
    """The shape and colour of a class by itself."""
    used = tag("use", href=f"#{shape(code)}")
    return tag("svg", used, viewBox="-5 -5 10 10", class_=f"k{code % len(CATEGORIES)}", aria_hidden="true")


def shape(code: int) -> str:
    """The name of a class's shape."""
    return f"m{max(code, 0) // len(CATEGORIES) % len(MARKS)}"


def drawing(width: float, height: float, title: str, marks: Sequence[Html]) -> Html:
    """A drawing that says what it is to those who cannot see it."""
    return tag("svg", join(marks), viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=title)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers around a range, evenly apart.

    >>> ticks(0.12, 0.94)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if not high > low:
        around = max(abs(low), 1) * 0.1
        low, high = max(low - around, 0.0) if low >= 0 else low - around, high + around
    rough = (high - low) / 4
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * each for each in (1, 2, 2.5, 5, 10) if unit * each >= rough * (1 - 1e-9))
    begin, end = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    return [float(f"{at * step:.10g}") for at in range(begin, end + 1)]


def px(value: float) -> str:
    """A length to a tenth.

    >>> px(12.0), px(3.14159), px(-0.04)
    ('12', '3.1', '0')
    """
    return f"{round(float(value), 1) + 0.0:g}"


def compact(number: int) -> str:
    """
    >>> compact(950), compact(12400), compact(3_000_000)
    ('950', '12k', '3M')
    """
    for unit, letter in ((1_000_000, "M"), (1000, "k")):
        if number >= unit * (10 if unit == 1000 else 1):
            return f"{number / unit:.0f}{letter}"
    return str(number)


def _from_zero(values: Numbers) -> tuple[Numbers, float]:
    moved = values - values.min() if len(values) else values
    return moved, float(moved.max(initial=0))
