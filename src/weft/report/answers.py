"""How the answers are: learning curves, confusion, calibration, and a map."""

from collections.abc import Mapping, Sequence

import numpy as np

from weft.report.charts import Dot, curve, legend_mark, reliability, scatter
from weft.report.facts import Facts
from weft.report.figures import Numbers, Scores, calibration, class_scores, project, sample, worst_pairs
from weft.report.markup import (
    ABSENT,
    Html,
    bar,
    count,
    figure,
    join,
    lead,
    percent,
    plain_word,
    section,
    shorten,
    table,
    tag,
    word,
)

MOST_DOTS, MOST_SQUARES, MOST_ENTRIES = 3000, 60, 60
"""Nodes on the map, classes of a matrix, and classes in a legend, beyond which less is more."""

NOTHING = (
    "Every labelled node was learnt from, and what was learnt from proves nothing. Keep some nodes apart to see more here."
)


def learning(facts: Facts) -> Html:
    """Loss and validation metrics over the epochs, with the one that was kept."""
    history, end = facts.fitted.history, facts.fitted.end
    panels = [("training loss", "smaller is better", [epoch.loss for epoch in history])]
    for name in history[0].metrics if history else ():
        better = "smaller is better" if name.endswith("_error") else "larger is better"
        values = [_metric(epoch.metrics, name) for epoch in history]
        panels.append((f"validation {name.removesuffix('_error').replace('_', ' ')}", better, values))
    kept = f"The weights of epoch {end.best_epoch:,} were kept" if facts.has("val") else "The last weights were kept"
    drawn = [
        figure(curve(values, end.best_epoch if facts.has("val") else 0, name), join([tag("b", _capital(name)), f", {better}"]))
        for name, better, values in panels
    ]
    return section(
        "learning",
        "How it learnt",
        lead(
            f"{count(len(history), 'epoch')}, then it stopped: {end.reason}. {kept}; {count(facts.weights, 'number')} to learn."
        ),
        tag("div", *drawn, class_="panels"),
    )


def _metric(metrics: Mapping[str, float], name: str) -> float:
    value = metrics.get(name)
    return float("nan") if value is None else float(value)


def mixing(facts: Facts) -> Html:
    """Which classes are taken for which, and scores of each class."""
    title = "Which classes it mixes up"
    if facts.part is None:
        return section("classes", title, lead(NOTHING))
    matrix, found = facts.matrix, class_scores(facts.matrix)
    pairs = worst_pairs(matrix)
    worst = [(word(facts.names[truth]), word(facts.names[said]), f"{number:,}") for truth, said, number in pairs]
    beside = (
        tag("div", tag("h3", "Most often"), table(("is", "said to be", "nodes"), worst, caption="The most frequent confusions"))
        if worst
        else tag("p", f"Not one of {count(int(matrix.sum()), 'node')} is taken for another class.")
    )
    return section(
        "classes",
        title,
        lead(
            f"Rows are what {facts.judged} nodes are, columns what they are said to be; each row is shaded by its own shares."
            if len(matrix) <= MOST_SQUARES
            else f"There are {len(matrix):,} classes, too many for a matrix that can be read."
        ),
        tag("div", _matrix(facts, matrix) if len(matrix) <= MOST_SQUARES else None, beside, class_="beside"),
        tag("h3", "Scores of each class"),
        _scores(facts, found),
    )


def _matrix(facts: Facts, matrix: Numbers) -> Html:
    turned = len(matrix) > 12 or any(len(name) > 4 for name in facts.names)
    tight = len(matrix) > 16
    share = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    short = [shorten(name, 16) for name in facts.names]
    head = [
        tag("th", tag("span", word(text), class_="turned" if turned else None), scope="col", title=name)
        for text, name in zip(short, facts.names, strict=True)
    ]
    corner = tag("td", "is ↓  said →")
    rows = [
        tag("tr", tag("th", word(short[truth]), scope="row", title=facts.names[truth]),
            *(_square(int(matrix[truth, said]), float(share[truth, said]), truth == said) for said in range(len(matrix))))
        for truth in range(len(matrix))
    ]  # fmt: skip
    caption = f"Confusion matrix of the {facts.judged} part"
    kind = "matrix tight" if tight else "matrix"
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", corner, *head)), tag("tbody", *rows), class_=kind)
    return tag("div", whole, class_="box", tabindex="0", role="region", aria_label=caption)


def _square(number: int, share: float, right: bool) -> Html:
    shades = ("wrong", not right and number), ("half", share > 0.55), ("deep", share > 0.75), ("none", not number)
    kinds = [kind for kind, there in shades if there]
    return tag("td", f"{number:,}", class_=" ".join(kinds) or None, style=f"--s:{share:.2f}" if number else None)


def _scores(facts: Facts, found: Scores) -> Html:
    def row(name: Html, *numbers: float, support: int) -> Sequence[object]:
        return (name, *(percent(number) for number in numbers), f"{support:,}", bar(numbers[-1]))

    rows = [
        row(word(name), *(float(each[code]) for each in (found.precision, found.recall, found.f1)),
            support=int(found.support[code]))
        for code, name in enumerate(facts.names)
    ]  # fmt: skip
    head = ("class", "precision", "recall", "F1", "nodes", "")
    there = found.support > 0
    mean = [float(np.nan_to_num(each[there]).mean()) for each in (found.precision, found.recall, found.f1)]
    told = (
        f"Every class counting the same: precision {percent(mean[0])}, recall {percent(mean[1])}, F1 {percent(mean[2])}. "
        f"Precision is how often the answer is right where it is given, recall how many of the class are found; {ABSENT} where "
        "there is nothing to divide by. The bar is F1."
    )
    long = " long" if len(rows) > 16 else ""
    scores = table(head, rows, caption=f"Scores of each class on the {facts.judged} part", kind=f"sortable counts{long}")
    return tag("div", scores, tag("p", told, class_="small"))


def trust(facts: Facts) -> Html:
    """Whether probabilities mean what they say."""
    title = "Whether its probabilities can be believed"
    if facts.part is None:
        return section("calibration", title, lead(NOTHING))
    found, y = facts.found[facts.where], facts.y[facts.where]
    bins, error = calibration(found, y)
    sure, right = float(found.max(1).mean()), float((found.argmax(1) == y).mean())
    gap = 100 * (sure - right)
    lean = "it is about as sure as it should be" if abs(gap) < 1 else f"it is {'too' if gap > 0 else 'not'} sure{_by(gap)}"
    heat = float(facts.fitted.objective.get_buffer("temperature"))
    cooled = (
        f"Its scores are divided by the temperature {heat:.3g}, which the validation part chose."
        if facts.has("val")
        else "There is no validation part, so probabilities are as the training left them."
    )
    smoothed = " Then known answers are spread along the links." if facts.estimator.smooth else ""
    words = tag(
        "div",
        tag("dl", tag("div", tag("dt", "expected calibration error"), tag("dd", percent(error))),
            tag("div", tag("dt", "how sure, on average"), tag("dd", percent(sure))),
            tag("div", tag("dt", "how often right"), tag("dd", percent(right))),
            tag("div", tag("dt", "temperature"), tag("dd", f"{heat:.3g}")), class_="tiles"),
        tag("p", f"On the {facts.judged} part {lean}. {cooled}{smoothed}"),
        tag("p", "The tall bars say how often answers are right, the ticks how sure they were; on the dotted line the two "
            "agree. The small bars below count the answers. Pale tall bars stand for fewer than ten, and say little.",
            class_="small"),
    )  # fmt: skip
    text = "When it says 80%, is it right in four of five cases?"
    drawn = figure(reliability(bins), "Right answers (upwards) against stated probability (to the right)")
    return section("calibration", title, lead(text), tag("div", drawn, words, class_="split"))


def _by(gap: float) -> str:
    return f" enough, by {-gap:.1f} points" if gap < 0 else f" of itself, by {gap:.1f} points"


def landscape(facts: Facts) -> Html:
    """Nodes as the model sees them, in two directions."""
    whole = facts.estimator.embed()
    shown = sample(len(whole), MOST_DOTS)
    points, shares = project(whole[shown])
    held = np.isin(shown, facts.where)
    dots = [_dot(facts, int(node), points[at], bool(held[at])) for at, node in enumerate(shown)]
    present = sorted({dot.code for dot in dots})
    entries = [tag("li", legend_mark(code), word(facts.names[code]), data_code=code) for code in present[:MOST_ENTRIES]]
    if len(present) > MOST_ENTRIES:
        entries.append(tag("li", f"and {len(present) - MOST_ENTRIES:,} more"))
    some = f"{len(shown):,} of {count(len(whole), 'node')}" if len(shown) < len(whole) else f"All {count(len(whole), 'node')}"
    rest = "" if all(dot.known for dot in dots) else " Hollow marks have no known class and wear the one that is said."
    ring = f" Rings are mistakes on the {facts.judged} part." if facts.part is not None else ""
    caption = (
        f"{some}; to the right {percent(float(shares[0]), 0)} of the spread, upwards {percent(float(shares[1]), 0)}. Colour "
        f"and shape are the true class.{rest}{ring}"
    )
    inside = tag("div", scatter(dots, f"Map of {len(dots):,} nodes by class"), tag("ul", *entries, class_="legend picks"))
    return section(
        "map",
        "A map of what it sees",
        lead(
            "Every node is a vector to the model; here they lie flat, along the two directions in which they differ most. "
            "Nodes that lie together look alike to it. Distances between clusters that are far apart mean little."
        ),
        figure(tag("div", inside, class_="map"), caption),
    )


def _dot(facts: Facts, node: int, point: Numbers, held: bool) -> Dot:
    truth, said = int(facts.y[node]), int(facts.said[node])
    sure = float(facts.found[node, said])
    known = f"class {plain_word(facts.names[truth])}" if truth >= 0 else "class not known"
    tip = f"{plain_word(facts.ids[node])}\n{known}\nsaid {plain_word(facts.names[said])}, {percent(sure, 0)}"
    return Dot(float(point[0]), float(point[1]), truth if truth >= 0 else said, truth >= 0, held and truth != said, tip)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
