"""All studies on one page: what was run leads to its page, what was not says so."""

import re

from weft.reproduce import names, write_pages
from weft.reproduce.index import index
from weft.reproduce.runner import Outcome, kept
from weft.reproduce.study import check_study

GOOD = {"title": "t", "paper": "p", "data": "cora", "published": 81.5, "source": "s"}


def test_every_result_has_a_page(tmp_path):
    paths = write_pages(tmp_path / "pages")
    ran = [name for name in names() if kept(name) is not None]
    assert [path.name for path in paths] == [*(f"{name}.html" for name in ran), "index.html"]
    text = paths[-1].read_text()
    assert re.findall(r'href="([^#"]+)"', text) == [f"{name}.html" for name in ran]
    assert all(name in text for name in names()) and text.count("not run yet") == len(names()) - len(ran)
    assert all('href="index.html"' in path.read_text() for path in paths[:-1])
    assert not re.search(r"src=|url\(|@import|<link|https?://", text)


def test_verdicts_are_counted():
    values = {"a": 81.5, "b": 90.0, "c": 70.0, "d": None, "e": 50.0}
    studies = {name: check_study(name, GOOD | ({"published": None} if name == "e" else {})) for name in values}
    found = [
        (studies[name], None if value is None else Outcome(name, (value,), 1.0, "2026-01-01", "a machine", {}))
        for name, value in values.items()
    ]
    text = index(found)
    assert "5 studies, of which 4 were run. 3 of these have a published number beside them: 1 came within a point" in text
    assert "1 came out higher, 1 lower" in text and "(−11.50 points)" in text and "(+8.50 points)" in text
    assert text.count("not run yet") == 1


def test_without_any_study():
    assert "0 studies" in index([])
