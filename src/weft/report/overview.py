"""What was fitted, on what, and beside what: headline, data and leaderboard."""

import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

import numpy as np

from weft.data.columns import as_floats
from weft.estimators.baselines import BASELINES
from weft.estimators.leaderboard import Leaderboard, Row
from weft.report.charts import columns, seeds
from weft.report.facts import PARTS, Facts
from weft.report.figures import interval
from weft.report.markup import ABSENT, Html, bar, count, figure, lead, percent, section, table, tag, word

MOST_COLUMNS, MOST_CLASSES = 300, 500
"""So many rows are listed; what is beyond is counted."""

SEES = {"nothing": "nothing", "features": "columns only", "links": "links only", "both": "columns and links"}
SHADES = {"train": "", "val": "second", "test": "third"}


def headline(facts: Facts) -> Html:
    """What was fitted, how good it is, and what that is beside what is free."""
    graph, size = facts.graph, len(facts.where)
    title = f"{facts.encoder} labels {count(graph.num_nodes, 'node')} with one of {count(len(facts.names), 'class', 'classes')}"
    rivals = [("this model", facts.accuracy, ""), *((name, share, "plain") for name, share in free(facts))]
    if facts.part is None:
        number = tag("p", ABSENT, class_="big")
        told = "Every labelled node was learnt from: nothing is left that could say how good the model is."
    else:
        low, high = interval(facts.accuracy, size)
        number = tag("p", f"{100 * facts.accuracy:.1f}", tag("small", "%"), class_="big")
        told = (
            f"Accuracy on {count(size, facts.judged + ' node')}; taken as independent, so many nodes leave it between "
            f"{percent(low)} and {percent(high)} (95% interval)."
        )
    bars = [
        part
        for name, share, kind in rivals
        for part in (tag("dt", name), tag("dd", percent(share), class_="value"), bar(share, kind))
    ]
    versus = tag("dl", *bars, class_="versus") if facts.part is not None else None
    hero = tag("div", tag("div", number), versus, class_="hero")
    verdict = tag("p", _verdict(facts), class_="verdict")
    eyebrow = tag("p", "weft · node classifier", class_="eyebrow")
    return tag("header", eyebrow, tag("h1", title), hero, verdict, tag("p", told, class_="small"), id="headline")


def free(facts: Facts) -> list[tuple[str, float]]:
    """The best baseline that costs nothing, chosen by validation, and the most common training class."""
    if facts.part is None:
        return []
    common = np.bincount(facts.y[facts.trained], minlength=len(facts.names)).argmax()
    found = [("always the most common class", float((facts.y[facts.where] == common).mean()))]
    board = facts.estimator.leaderboard_
    best = next((row for row in board.rows if row.name in BASELINES), None) if board is not None else None
    if best is not None and best.name != "majority class":
        values = best.test if facts.part == "test" else best.val
        found.insert(0, (best.name, statistics.fmean(values)))
    return found


def _verdict(facts: Facts) -> str:
    sentences: list[str] = []
    rivals = free(facts)
    if rivals:
        name, share = rivals[0]
        gain = 100 * (facts.accuracy - share)
        how = f"{abs(gain):.1f} points {'above' if gain > 0 else 'below'}" if abs(gain) >= 0.05 else "level with"
        who = f"“{name}”" if name != rivals[-1][0] else "the answer that is always the most common class"
        sentences.append(f"The model is {how} {who}, which is free.")
    board = facts.estimator.leaderboard_
    if board is None:
        sentences.append("No leaderboard was asked for, so whether the graph helps was not tested.")
    else:
        sentences.append(f"By the {_judge(facts)} part, {board.verdict}.")
    return " ".join(sentences)


def _judge(facts: Facts) -> str:
    """The part by which contenders are ranked."""
    return "validation" if facts.has("val") else "test"


def data(facts: Facts) -> Html:
    """Nodes, links, columns, classes, and what was noticed."""
    graph, degree = facts.graph, facts.degree
    features = facts.fitted.features
    alone = int((degree == 0).sum())
    middle = f"{np.median(degree):g}"
    tiles = {
        "nodes": f"{graph.num_nodes:,}",
        f"{'directed' if graph.directed else 'undirected'} links": f"{graph.num_edges:,}",
        "nodes with a label": f"{len(graph.labelled):,}",
        "nodes without links": f"{alone:,}",
        "links of the median node": middle,
        "columns in use": f"{0 if features is None else len(features.columns):,}",
    }
    if graph.x is not None:
        tiles["numbers that came with each node"] = f"{graph.x.shape[1]:,}"
    notes = tag("ul", *(tag("li", tag("b", "Note "), word(note)) for note in graph.notes), class_="notes")
    return section(
        "data",
        "The data",
        lead("What went in, and how it was understood. Nothing here was changed by the training."),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in tiles.items()), class_="tiles"),
        notes if graph.notes else None,
        tag("h3", "Classes"),
        _classes(facts),
        tag("h3", "Columns"),
        *_columns(facts),
        tag("h3", "Links of each node"),
        _degrees(facts),
    )


def _classes(facts: Facts) -> Html:
    parts = {name: np.bincount(facts.y[facts.member(name)], minlength=len(facts.names)) for name in PARTS}
    whole = np.bincount(facts.y[facts.y >= 0], minlength=len(facts.names))
    most = max(int(whole.max()), 1)
    rows: list[Sequence[object]] = []
    for code, name in enumerate(facts.names[:MOST_CLASSES]):
        numbers = [int(counts[code]) for counts in parts.values()]
        pieces = [
            tag("span", style=f"width:{100 * number / most:.1f}%", class_=kind or None)
            for number, kind in zip(numbers, SHADES.values(), strict=True)
        ]
        unused = int(whole[code]) - sum(numbers)
        shown = tag("span", *pieces, class_="bar", aria_hidden="true")
        rows.append((word(name), *(f"{number:,}" for number in numbers), f"{unused:,}" if unused else ABSENT, shown))
    if len(facts.names) > MOST_CLASSES:
        rows.append((f"and {len(facts.names) - MOST_CLASSES:,} more classes", "", "", "", "", ""))
    swatches = [tag("li", tag("span", class_=f"swatch {kind}"), PARTS[name]) for name, kind in SHADES.items()]
    strange = int((facts.y[facts.graph.labelled.numpy()] < 0).sum())
    outside = f" {count(strange, 'node')} of a class that no training node has." if strange else ""
    told = f"{facts.fitted.split.how[:1].upper()}{facts.fitted.split.how[1:]}.{outside}"
    head = ("class", *PARTS.values(), "in no part", "")
    long = " long" if len(rows) > 12 else ""
    return tag(
        "div",
        tag("ul", *swatches, class_="legend"),
        table(head, rows, caption="Nodes of each class in each part", kind=f"sortable counts{long}"),
        tag("p", word(told), class_="small"),
    )


def _columns(facts: Facts) -> list[Html]:
    features, held = facts.fitted.features, facts.graph.columns
    if features is None or held is None:
        given = "the numbers that came with each node" if facts.graph.x is not None else "how connected each node is"
        return [tag("p", f"The graph has no columns; the model was given {given}.")]
    widths = {name: len(column.names()) for name, column in features.columns}
    reasons, kinds = dict(features.left_out), features.kinds()
    rows: list[Sequence[object]] = []
    for name in held.column_names[:MOST_COLUMNS]:
        values = held[name].combine_chunks()
        gaps = values.null_count
        if str(values.type) in ("float", "double", "halffloat"):
            gaps = int(np.isnan(as_floats(values, name)).sum())
        missing = f"{gaps:,} ({percent(gaps / max(len(values), 1))})" if gaps else "none"
        use = f"left out: {reasons[name]}" if name in reasons else count(widths[name], "number")
        kind = ABSENT if name in reasons else kinds[name]
        rows.append((word(name), kind, missing, tag("span", use, class_="spread" if name in reasons else None)))
    if held.num_columns > MOST_COLUMNS:
        rows.append((f"and {held.num_columns - MOST_COLUMNS:,} more columns", "", "", ""))
    tally = Counter(kind for kind in kinds.values() if kind != "skip")
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(tally.items())) or "none is of use"
    left = f"; {len(reasons):,} left out" if reasons else ""
    text = f"{count(held.num_columns, 'column')}: {told}{left}. Together they are {count(features.width, 'number')} per node."
    head = ("column", "taken for", "missing values", "becomes")
    return [
        tag("p", text),
        table(head, rows, caption="Columns and what each was taken for", kind="long" if len(rows) > 12 else ""),
    ]


def _degrees(facts: Facts) -> Html:
    degree = facts.degree
    alone = int((degree == 0).sum())
    labels, counts = _grouped(degree)
    told = (
        f"From {degree.min():,} to {degree.max():,} links, {degree.mean():.1f} on average, the median is "
        f"{np.median(degree):g}. {f'{alone:,} have none, and no neighbours to ask.' if alone else 'No node is without.'}"
    )
    if facts.graph.directed:
        told += " Links that leave and links that arrive both count."
    return tag("div", figure(columns(labels, counts, "Nodes by number of links"), told), class_="panels")


def _grouped(degree: np.ndarray) -> tuple[list[str], list[int]]:
    """Nodes by number of links: one by one where there are few different numbers, else in groups that double."""
    top = int(degree.max())
    edges = list(range(top + 2)) if top <= 7 else [0, 1, 2, *(4 << at for at in range(max(top.bit_length() - 1, 1))), top + 1]
    edges = sorted({edge for edge in edges if edge <= top} | {top + 1})
    pairs = list(pairwise(edges))
    labels = [f"{low}" if high - low == 1 else f"{low}–{high - 1}" if high <= 128 else f"{low}+" for low, high in pairs]
    return labels, [int(((degree >= low) & (degree < high)).sum()) for low, high in pairs]


def leaderboard(facts: Facts) -> Html:
    """Every contender on both held-out parts, the best on the validation part first."""
    board = facts.estimator.leaderboard_
    title = "Beside what is free"
    if board is None:
        text = "No comparison was made. Call compare() after fit, and the report shows every free baseline beside the model."
        return section("leaderboard", title, lead(text))
    return section(
        "leaderboard",
        title,
        lead(
            "The same nodes, answered by others. Grey bars are baselines that cost little, coloured ones are networks, "
            f"and the coloured name is this model. The order is that of the {_judge(facts)} part. Where "
            "several seeds were run, ticks are the seeds and ± is their standard deviation."
        ),
        _board(facts, board),
    )


def _board(facts: Facts, board: Leaderboard) -> Html:
    mine = facts.estimator.encoder if isinstance(facts.estimator.encoder, str) else "this model"
    mine += " + correct & smooth" if facts.estimator.smooth else ""
    return contenders(board.rows, mine, _judge(facts))


def contenders(board: Sequence[Row], mine: str, judge: str) -> Html:
    """The table of a leaderboard; the contender called `mine` is coloured."""
    rows: list[Sequence[object]] = []
    for row in board:
        kind = "plain" if row.name in BASELINES else "fill"
        cells = [part for values in (row.val, row.test) for part in (_told(values), seeds(values, kind))]
        name = tag("span", word(row.name), class_="mine" if row.name == mine else None)
        rows.append((name, SEES.get(row.sees, row.sees), *cells))
    head = ("contender", "sees", "validation", "", "test", "")
    return table(head, rows, caption=f"Accuracy of every contender, best on the {judge} part first", kind="board")


def _told(values: Sequence[float]) -> Html:
    known = [value for value in values if isfinite(value)]
    if not known:
        return Html(ABSENT)
    spread = tag("span", f" ± {100 * statistics.stdev(known):.1f}", class_="spread") if len(known) > 1 else None
    return tag("span", percent(statistics.fmean(known)), spread, class_="number")
