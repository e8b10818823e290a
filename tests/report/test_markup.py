"""Nothing that is written into the page can break it."""

import pytest

from weft.report.markup import Html, count, escape, join, plain_word, table, tag, word

HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "&amp;", "</style>", "]]>", "<!--", "\x00\x1b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text):
    for made in (tag("p", text), tag("p", title=text), word(text), table([text], [[text]], caption=text), join([text])):
        assert not any(bad in made for bad in ("<script", "<img", "</style", "<!--", "&amp;;", "\x00", "\x1b"))
        assert isinstance(made, Html)


def test_markup_is_escaped_once():
    assert tag("p", tag("b", "a & b"), " < ", None, 3) == "<p><b>a &amp; b</b> &lt; 3</p>"
    assert escape(escape("<")) == "&lt;"
    assert tag("meta", name="viewport") == '<meta name="viewport">'


def test_directions_are_kept_apart():
    assert word("שלום") == '<bdi class="word">שלום</bdi>'
    assert plain_word("\u202eabc" + "x" * 100, 10) == "\u2068\u202eabcxxxxx…\u2069"


def test_what_is_counted_agrees():
    assert [count(number, "node") for number in (0, 1, 2)] == ["0 nodes", "1 node", "2 nodes"]
