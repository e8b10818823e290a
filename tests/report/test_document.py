"""What all pages share."""

from weft.report.document import document
from weft.report.markup import tag


def test_a_document_is_whole_and_escaped():
    text = document("<b>", {"#one": "One", "other.html": "The & other"}, [tag("p", "first", id="one"), tag("p", "second")])
    assert text.startswith("<!doctype html>\n<html") and text.endswith("</html>\n") and "<title>&lt;b&gt;</title>" in text
    assert '<a href="other.html">The &amp; other</a>' in text and text.index("first") < text.index("second")
    assert text.count("Content-Security-Policy") == 1 and "default-src &#x27;none&#x27;" in text
