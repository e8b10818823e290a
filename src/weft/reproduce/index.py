"""A page for each result that comes with this weft, and one that lists all studies."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from weft.report.document import document
from weft.report.markup import ABSENT, Html, count, lead, section, table, tag, word
from weft.reproduce.page import trainings, write_page
from weft.reproduce.runner import Outcome, kept
from weft.reproduce.study import Study, names, read_study
from weft.training.checkpoint import write_atomically

INDEX = "index.html"


def write_pages(folder: str | PathLike[str]) -> list[Path]:
    """Write a page for every study that was run and `index.html`, which lists those that were not as well."""
    found = [(study, kept(study.name)) for study in map(read_study, names())]
    ran = [(study, outcome) for study, outcome in found if outcome is not None]
    paths = [write_page(study, outcome, Path(folder) / f"{study.name}.html", index=INDEX) for study, outcome in ran]
    paths.append(Path(folder) / INDEX)
    write_atomically(paths[-1], index(found).encode())
    return paths


def index(found: Sequence[tuple[Study, Outcome | None]]) -> str:
    """All studies with what came out of each; what was not run says so."""
    ran = [(study, outcome) for study, outcome in found if outcome is not None]
    held = [outcome.verdict(study) for study, outcome in ran if study.published is not None]
    near, higher = (sum(each.startswith(word) for each in held) for word in ("reproduced", "above"))
    lower = len(held) - near - higher
    told = (
        f"{count(len(found), 'study', 'studies')}, of which {len(ran)} were run. {len(held)} of these have a published number "
        f"beside them: {near} came within a point of it or within its spread, {higher} came out higher, {lower} lower."
    )
    head = tag(
        "header",
        tag("p", "weft · studies", class_="eyebrow"),
        tag("h1", "Published numbers, run again"),
        tag("p", told, class_="verdict"),
        id="headline",
    )
    rows = [_row(study, outcome) for study, outcome in found]
    listed = section(
        "studies",
        "All studies",
        lead("Ours is the mean over seeds ± their standard deviation, in percent. Points are ours less the published number."),
        table(("study", "what came out", "ours", "published", "seeds"), rows, caption="All studies", kind="sortable"),
        tag("pre", tag("code", "weft reproduce NAME")),
    )
    return document("Published numbers, run again", {"#headline": "In short", "#studies": "All studies"}, (head, listed))


def _row(study: Study, outcome: Outcome | None) -> tuple[object, ...]:
    name = tag("div", word(study.name), class_="small")
    if outcome is None:
        return tag("div", study.title, name), "not run yet", ABSENT, _number(study.number), ABSENT
    title = tag("a", study.title, href=f"{study.name}.html")
    ours = f"{outcome.mean:.2f}" + (f" ± {outcome.spread:.2f}" if len(outcome.values) > 1 else "")
    told = outcome.verdict(study).replace("(-", "(−")
    return tag("div", title, name), told, _number(ours), _number(study.number), str(trainings(outcome))


def _number(text: str) -> Html:
    return tag("span", ABSENT if text == "none" else text, class_="number")
