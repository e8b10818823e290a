"""Single cases and what stands behind them: the surest mistakes, the certificate, and how to repeat it all."""

import platform
from collections import Counter
from importlib.metadata import version

from weft.report.answers import NOTHING
from weft.report.facts import Facts
from weft.report.figures import neighbours, surest_mistakes
from weft.report.markup import Html, count, lead, percent, section, table, tag, without_addresses, word

MOST_NEAR = 4
"""So many classes of a node's neighbours are shown."""

LIBRARIES = ("weft", "torch", "numpy", "pyarrow", "scikit-learn")
SIGNS = {True: ("holds", "holds"), False: ("broken", "BROKEN"), None: ("note", "note")}


def mistakes(facts: Facts) -> Html:
    """Where it is surest and wrong: the cases to look at first."""
    title = "Its surest mistakes"
    if facts.part is None:
        return section("mistakes", title, lead(NOTHING))
    found = surest_mistakes(facts.found, facts.y, facts.where)
    if len(found) == 0:
        return section("mistakes", title, lead(f"There is none: every {facts.judged} node is answered rightly."))
    keys = [
        tag("li", tag("span", class_="swatch"), "training answer"),
        tag("li", tag("span", class_="swatch guess"), "prediction"),
    ]
    return section(
        "mistakes",
        title,
        lead(
            f"Wrong answers on the {facts.judged} part, the surest first. Often it is the label that is wrong, or the links. "
            "Bars count the neighbours that the node hears from, by the class they are known or thought to have."
        ),
        tag("ul", *keys, class_="legend"),
        tag("div", *(_mistake(facts, int(node)) for node in found), class_="cards"),
    )


def _mistake(facts: Facts, node: int) -> Html:
    said, truth = int(facts.said[node]), int(facts.y[node])
    sure, fair = float(facts.found[node, said]), float(facts.found[node, truth])
    near = neighbours(facts.graph.over, node)
    known = Counter(int(facts.y[each]) for each in near if facts.trained[each])
    guessed = Counter(int(facts.said[each]) for each in near if not facts.trained[each])
    order = sorted(known | guessed, key=lambda code: (-known[code] - guessed[code], code))
    most = max((known[code] + guessed[code] for code in order), default=1)
    rows = [
        part
        for code in order[:MOST_NEAR]
        for part in (
            tag("dt", word(facts.names[code])),
            tag(
                "span", _piece(known[code] / most, ""), _piece(guessed[code] / most, "guess"), class_="bar", aria_hidden="true"
            ),
            tag("dd", _told(known[code], guessed[code])),
        )
    ]
    rest = sum(known[code] + guessed[code] for code in order[MOST_NEAR:])
    return tag(
        "article",
        tag("h3", word(facts.ids[node])),
        tag("p", "Said ", tag("b", word(facts.names[said])), f" with {percent(sure)}; it is ",
            tag("b", word(facts.names[truth])), f", which was given {percent(fair)}."),
        tag("dl", *rows, class_="near") if rows else tag("p", "It has no neighbours.", class_="small"),
        tag("p", f"and {count(rest, 'neighbour')} of other classes", class_="small") if rest else None,
        class_="card",
    )  # fmt: skip


def _piece(share: float, kind: str) -> Html | None:
    return tag("span", style=f"width:{100 * share:.1f}%", class_=kind or None) if share else None


def _told(known: int, guessed: int) -> str:
    return " + ".join(f"{number:,} {name}" for number, name in ((known, "known"), (guessed, "predicted")) if number)


def certificate(facts: Facts) -> Html:
    """What was checked about who could have seen what."""
    told = facts.fitted.certificate
    items = [
        tag("li", tag("span", SIGNS[each.holds][1], class_=f"sign {SIGNS[each.holds][0]}"),
            tag("p", tag("b", each.about), ": ", word(each.says), "."))
        for each in told.statements
    ]  # fmt: skip
    broken = sum(each.holds is False for each in told.statements)
    text = (
        "Every rule holds: what the held-out answers say of the model can be believed."
        if told.clean
        else f"{count(broken, 'rule is', 'rules are')} broken, and the scores above may be better than the model."
    )
    return section(
        "certificate",
        "What it could have peeked at",
        lead("Checked on the data at hand, not promised. ", tag("span", text, class_=None if told.clean else "broken")),
        tag("ul", *items, class_="certificate"),
    )


def repeat(facts: Facts, command: str | None) -> Html:
    """The call, the seed and the versions that give the same again."""
    estimator = facts.estimator
    call = command if command is not None else without_addresses(repr(estimator)) + ".fit(graph)"
    seed = estimator.seed if estimator.trainer is None else estimator.trainer.seed
    rows = [("seed", str(seed)), ("Python", platform.python_version()), *((name, version(name)) for name in LIBRARIES)]
    return section(
        "repeat",
        "How to repeat it",
        lead("The same data, call, seed and versions on the same kind of machine give the same model and, byte for byte, "
             "this page."),
        tag("pre", tag("code", call)),
        table(("part", "version"), rows, caption="Seed and versions"),
    )  # fmt: skip
