"""A study as one page: the published number, ours, every seed, and everything needed to run it again."""

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from weft.data import datasets
from weft.estimators.baselines import BASELINES
from weft.estimators.leaderboard import Row
from weft.report.document import document
from weft.report.markup import Html, bar, count, figure, join, lead, percent, section, table, tag
from weft.report.overview import contenders
from weft.reproduce.runner import Outcome, room
from weft.reproduce.strip import FAR, lanes, strip
from weft.reproduce.study import Study
from weft.training.checkpoint import write_atomically

MEASURES = {"accuracy": "accuracy", "auc": "area under the ROC curve"}
FEATURES = {"as-published": "as they were published", "rows": "as published, each row scaled to sum to 1"}
PROTOCOLS = {
    "published": "{known}",
    "published-splits": "{known} Another of these splits for each seed.",
    "per-class": "{train} nodes of each class to learn from, {val} for validation, the rest to test, drawn anew for each seed",
}
"""How nodes are parted, where `known` is what the catalogue says of the data set."""


def write_page(study: Study, outcome: Outcome, path: str | PathLike[str], *, index: str | None = None) -> Path:
    """Write what came out of a study as one HTML file that needs nothing else; `index` is where all studies are listed."""
    path = Path(path)
    write_atomically(path, page(study, outcome, index).encode())
    return path


def page(study: Study, outcome: Outcome, index: str | None = None) -> str:
    """The page as text."""
    sections = {
        "headline": ("In short", _headline(study, outcome)),
        "seeds": ("Leaderboard", _board(outcome)) if outcome.rows else ("Seeds", _seeds(study, outcome)),
        "settings": ("Settings", _settings(study)),
        "deviations": ("Deviations", _deviations(study)),
        "repeat": ("Repeat it", _repeat(study, outcome)),
    }
    contents = {f"#{name}": title for name, (title, _) in sections.items()}
    if index is not None:
        contents[index] = "All studies"
    return document(f"{study.title}: {outcome.mean:.1f}%", contents, (inside for _, inside in sections.values()))


def verdict(study: Study, outcome: Outcome) -> str:
    """What came out, in whole sentences."""
    if outcome.board is not None:
        first = outcome.rows[0].name
        return f"On the validation part, “{first}” is first. Judged by the same part, {outcome.board.verdict}."
    if study.published is None:
        return "Nothing was published for this protocol: there is no number to hold ours against."
    gap = outcome.mean - study.published
    where = f"{abs(gap):.2f} points {'above' if gap > 0 else 'below'} the published number"
    how = "1 point counts" if room(study) == 1 else f"{room(study):g} points count"
    if abs(gap) <= room(study):
        return f"Reproduced: ours is {where}, and up to {how} as the same."
    return f"{'Higher than published' if gap > 0 else 'Not reproduced'}: ours is {where}, and only up to {how} as the same."


def linked(text: str) -> Html:
    """A text in which addresses can be followed."""
    parts = re.split(r"(https://[^\s,;]*[^\s,;:.])", text)
    return join(tag("a", part, href=part, rel="noreferrer") if part.startswith("https://") else part for part in parts)


def trainings(outcome: Outcome) -> int:
    """How many seeds were run."""
    return max((len(row.test) for row in outcome.rows), default=len(outcome.values))


def _headline(study: Study, outcome: Outcome) -> Html:
    seeds = len(outcome.values)
    ours = f"{outcome.mean:.2f}" + (f" ± {outcome.spread:.2f}" if seeds > 1 else "")
    over = f"mean ± standard deviation over {count(seeds, 'seed')}" if seeds > 1 else "a single run"
    whose = f"“{outcome.rows[0].name}”, " if outcome.rows else ""
    hero = tag(
        "div",
        tag("p", f"{outcome.mean:.1f}", tag("small", "%"), class_="big"),
        tag("dl", *_versus(study, outcome), class_="versus"),
        class_="hero",
    )
    return tag(
        "header",
        tag("p", "weft · study", class_="eyebrow"),
        tag("h1", study.title),
        tag("p", linked(study.paper), class_="lead"),
        hero,
        tag("p", verdict(study, outcome), class_="verdict"),
        tag("p", f"{ours}: {whose}test {MEASURES[study.measure]} in percent, {over}.", class_="small"),
        id="headline",
    )


def _versus(study: Study, outcome: Outcome) -> list[Html]:
    """Ours and what it is held against: the published number, or the best of what is free and the most common class."""
    if outcome.rows:
        free = [row for row in outcome.rows if row.name in BASELINES]
        rivals = [(row, "plain") for row in (free[:1] + [row for row in free[1:] if row.name == "majority class"])]
        bars = [(row.name, _mean(row), kind) for row, kind in [(outcome.rows[0], ""), *rivals]]
        shown = [(name, percent(share), share, kind) for name, share, kind in bars]
    else:
        shown = [("ours", f"{outcome.mean:.1f}%", outcome.mean / 100, "")]
        if study.published is not None:
            shown.append(("published", f"{study.number}%", study.published / 100, "plain"))
    return [
        part
        for name, told, share, kind in shown
        for part in (tag("dt", name), tag("dd", told, class_="value"), bar(share, kind))
    ]


def _mean(row: Row) -> float:
    return sum(row.test) / max(len(row.test), 1)


def _seeds(study: Study, outcome: Outcome) -> Html:
    rows: list[Sequence[object]] = []
    for seed, value in enumerate(outcome.values):
        beside = () if study.published is None else (signed(value - study.published),)
        rows.append((str(seed), f"{value:.2f}", *beside))
    head = ("seed", f"{study.measure if study.measure != 'auc' else 'AUC'}, %", "difference")
    told = "The dot is the one run there is."
    if len(rows) > 1:
        told = "A dot is a seed; below them, the ring is their mean and the line one standard deviation to each side."
    told += "" if study.published is None else " The dashed line is the published number."
    told += " The band is the published standard deviation." if study.spread else ""
    listed = table(head[: len(rows[0])], rows, caption="Every seed", kind="long" if len(rows) > 12 else "")
    drawn = figure(strip(study, outcome), told)
    text = "Each seed is scored once on the test part, and none is left out."
    text += "" if study.published is None else " The difference is to the published number, in points."
    return section("seeds", "Every seed", lead(text), tag("div", drawn, listed, class_="split"))


def _board(outcome: Outcome) -> Html:
    told = f"A dot is a seed, the upright line their mean. Contenders more than {FAR} points below the first have no lane."
    return section(
        "seeds",
        "Every contender",
        lead(
            "The same nodes, answered by all. Grey bars are baselines that cost little, coloured ones are networks. The order "
            "is that of the validation part. Where several seeds were run, ticks are the seeds and ± is their standard "
            "deviation; a row without ± was run once."
        ),
        contenders(outcome.rows, outcome.rows[0].name, "validation"),
        tag("h3", "Seeds on the test part"),
        tag("div", figure(lanes(outcome.rows), told), class_="panels"),
    )


def _settings(study: Study) -> Html:
    known = datasets.info(study.data)
    told = {
        "data": f"{known.title} ({count(known.nodes, 'node')}, {count(known.edges, 'link')})",
        "features": FEATURES[study.features],
        "split": PROTOCOLS[study.protocol].format(known=known.protocol, train=study.train, val=study.val),
        **_model(study),
        "scored": f"{MEASURES[study.measure]} on the test part",
        "published": f"{study.number}{'' if study.published is None else '%'}",
        "source": linked(study.source),
    }
    return section("settings", "Settings", lead("What was run, as the study says it."), _listed(told, "Settings"))


def _model(study: Study) -> dict[str, str]:
    if study.model == "label-propagation":
        return {"model": "label propagation; nothing is trained"}
    if study.model == "leaderboard":
        smooth = ", each with and without Correct & Smooth"
        return {"models": ", ".join(study.encoders) + smooth, "trainer": _told(study.trainer or {})}
    settings = dict(study.encoder or {})
    name = str(settings.pop("name", "gcn"))
    told = f"{name}; {_told(settings)}" if settings else name
    smooth = {"afterwards": "Correct & Smooth along the edges"} if study.smooth else {}
    return {"encoder": told, "trainer": _told(study.trainer or {}), **smooth}


def _told(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items()) or "as it comes"


def _deviations(study: Study) -> Html:
    if not study.deviations:
        return section("deviations", "What differs from the paper", lead("Nothing that we know of."))
    items = (tag("li", f"{each[:1].upper()}{each[1:]}.") for each in study.deviations)
    return section("deviations", "What differs from the paper", tag("ul", *items))


def _repeat(study: Study, outcome: Outcome) -> Html:
    seeds = trainings(outcome)
    more = "" if seeds == study.seeds else f" --seeds {seeds}"
    versions = ", ".join(f"{name} {number}" for name, number in outcome.versions.items())
    told = {"date": outcome.date, "machine": outcome.machine, "versions": versions, "took": duration(outcome.seconds)}
    return section(
        "repeat",
        "How to repeat it",
        lead("The same command with the same versions on the same kind of machine gives the same numbers."),
        tag("pre", tag("code", f"weft reproduce {study.name}{more}")),
        _listed(told, "Where and when"),
    )


def _listed(told: Mapping[str, object], caption: str) -> Html:
    return table(("what", "how"), told.items(), caption=caption)


def signed(points: float) -> str:
    """
    >>> signed(0.742), signed(-1.1)
    ('+0.74', '−1.10')
    """
    return f"{points:+.2f}".replace("-", "−")


def duration(seconds: float) -> str:
    """
    >>> duration(46.1), duration(3725)
    ('46 seconds', '62 minutes')
    """
    return count(round(seconds), "second") if seconds < 120 else count(round(seconds / 60), "minute")
