"""Markup that cannot be broken by what is written into it: every text is escaped unless it is markup already."""

import re
from collections.abc import Iterable, Sequence
from html import escape as _escape
from math import isfinite

VOID = frozenset({"meta"})
"""Elements without an end."""

ABSENT = "–"
"""What stands where there is no number."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: object) -> Html:
    """Text as markup; what is markup stays as it is, and characters that no page may hold are replaced.

    >>> escape("<b> & \\x00")
    '&lt;b&gt; &amp; �'
    """
    if isinstance(text, Html):
        return text
    return Html(_escape("".join(each if each >= " " or each in "\n\r\t" else "\ufffd" for each in str(text))))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element; an underscore in a name stands for a hyphen, and what is None is left out.

    >>> tag("p", "a < b", class_="small", aria_label=None)
    '<p class="small">a &lt; b</p>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items() if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{told}>")
    return Html(f"<{name}{told}>{join(children)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Several pieces in a row; None is nothing."""
    return Html(between.join(escape(part) for part in parts if part is not None))


def word(text: object) -> Html:
    """A name that its owner gave, kept apart from the direction in which the text around it runs."""
    return tag("bdi", text, class_="word")


def plain_word(text: object, most: int = 80) -> str:
    """The same where no markup can stand: shortened, between the marks that keep directions apart."""
    return f"\u2068{shorten(str(text), most)}\u2069"


def shorten(text: str, most: int) -> str:
    """The beginning of a long text.

    >>> shorten("weaving", 5)
    'weav…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def percent(share: float, digits: int = 1) -> str:
    """
    >>> percent(0.9411), percent(float("nan"))
    ('94.1%', '–')
    """
    return f"{100 * share:.{digits}f}%" if isfinite(share) else ABSENT


def count(number: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "node"), count(1200, "class", "classes")
    ('1 node', '1,200 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def without_addresses(text: str) -> str:
    """A representation less the places in memory, which differ from run to run.

    >>> without_addresses("NodeClassifier(encoder=<function gcn at 0x7f01>)")
    'NodeClassifier(encoder=<function gcn>)'
    """
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def table(head: Sequence[object], rows: Iterable[Sequence[object]], *, caption: str, kind: str = "") -> Html:
    """A table in a box of its own, which scrolls where the page is too narrow; the first cell names its row."""
    top = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = (tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows)
    inside = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", *body), class_=kind or None)
    return tag("div", inside, class_="box", tabindex="0", role="region", aria_label=caption)


def section(name: str, title: str, *children: object) -> Html:
    """A part of the page with a heading that the table of contents leads to."""
    return tag("section", tag("h2", title, id=f"{name}-title"), *children, id=name, aria_labelledby=f"{name}-title")


def lead(*children: object) -> Html:
    """The sentence that says what a section shows."""
    return tag("p", *children, class_="lead")


def figure(inside: object, caption: object, kind: str | None = None) -> Html:
    """A drawing and what it says."""
    return tag("figure", inside, tag("figcaption", caption), class_=kind)


def bar(share: float, kind: str = "") -> Html:
    """A bar from nothing to all, drawn by its width; the number stands beside it as text."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%" if isfinite(share) else "0%"
    return tag("span", tag("span", style=f"width:{width}", class_=kind or None), class_="bar", aria_hidden="true")
