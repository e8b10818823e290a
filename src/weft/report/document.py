"""What every page of weft is put into: head, contents, footer, style and script, and rules that keep it from loading more."""

import base64
import hashlib
from collections.abc import Iterable, Mapping

from weft.report.markup import Html, join, tag
from weft.report.script import SCRIPT
from weft.report.style import stylesheet


def document(title: str, contents: Mapping[str, str], sections: Iterable[Html]) -> str:
    """Sections as one file that needs nothing else; `contents` are links by where they lead to.

    >>> document("a < b", {"#all": "All"}, [tag("p", "hello")]).startswith("<!doctype html>")
    True
    """
    links = tag("ol", *(tag("li", tag("a", told, href=where)) for where, told in contents.items()))
    body = (
        tag("nav", links, class_="contents", aria_label="Contents"),
        tag("main", join(sections, "\n")),
        tag("footer", "Made by weft. This file loads nothing and sends nothing."),
        tag("script", Html(SCRIPT)),
    )
    return "<!doctype html>\n" + tag("html", _head(title), "\n", tag("body", join(body, "\n")), lang="en") + "\n"


def _head(title: str) -> Html:
    script = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=rules),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(stylesheet())),
    )
