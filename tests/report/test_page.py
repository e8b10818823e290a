"""The page: whole, self-contained, the same bytes every time, and safe from what users call their things."""

import re
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from weft.data import Graph, Split
from weft.encoders import gcn
from weft.errors import NotFittedError, WeftTypeError, WeftValueError
from weft.estimators import NodeClassifier, load
from weft.estimators.leaderboard import Leaderboard, Row
from weft.report import write_report
from weft.report.page import CONTENTS
from weft.training import Trainer

QUICK = Trainer(epochs=8)
COLOURS = ["red", "green", "blue"]


class Reader(HTMLParser):
    """Holds every end against its beginning, and gathers what a browser would act on."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts = 0
        self.text: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.scripts += tag == "script"
        told = dict(attrs)
        assert len(told) == len(attrs), (tag, attrs)
        assert not any(name.startswith("on") for name in told), attrs
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told[name] for name in ("href", "src", "srcset", "action", "data", "poster") if name in told]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)


def read(path) -> Reader:
    page = path.read_text()
    found = Reader(page)
    assert len(found.ids) == len(set(found.ids))
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links), found.links
    assert not re.search(r"https?://|url\(|@import|//[a-z]", page)
    assert set(CONTENTS) <= set(found.ids) and found.scripts == 1
    assert not re.search(r"\bnan\b|\binf\b|None", "".join(found.text[: found.text.index("How to repeat it")]))
    return found


def graph(names=COLOURS, things: int = 60, **extra) -> Graph:
    dice = np.random.default_rng(0)
    y = np.arange(things) % len(names)
    ids = [f"thing {number:03}" for number in range(things)]
    a, b = dice.integers(0, things, (2, 6 * things))
    keep = ((y[a] == y[b]) | (dice.random(len(a)) < 0.1)) & (a != b)
    age = [None if at % 9 == 0 else float(30 + 3 * each + dice.normal()) for at, each in enumerate(y)]
    nodes = {"id": ids, "age": age, "city": [["Rome", "Oslo"][at % 2] for at in range(things)], "same": [1] * things}
    nodes |= {"kind": [names[each] for each in y], **extra}
    edges = {"source": [ids[at] for at in a[keep]], "target": [ids[at] for at in b[keep]]}
    return Graph.from_tables(pa.table(nodes), pa.table(edges), target="kind")


@pytest.fixture(scope="module")
def fitted() -> NodeClassifier:
    estimator = NodeClassifier(partial(gcn, dim=16), trainer=QUICK).fit(graph())
    estimator.compare("sage", seeds=(0, 1))
    return estimator


def test_the_page_says_everything(fitted, tmp_path):
    path = write_report(fitted, tmp_path / "deep" / "report.html", command="weft fit node-classifier --nodes a.csv")
    found = read(path)
    text = " ".join("".join(found.text).split())
    accuracy = f"{100 * fitted.metrics_['test']['accuracy']:.1f}"
    for word in (
        "gcn(dim=16) labels 60 nodes with one of 3 classes", accuracy, fitted.leaderboard_.verdict, "label propagation",
        "left out: every training row has the same value", "categorical", "numeric", "7 (11.7%)", "Validation accuracy",
        "expected calibration error", "Distances between clusters that are far apart mean little", "structure", "note",
        "weft fit node-classifier --nodes a.csv", "scikit-learn", "this model", "± ",
    ):  # fmt: skip
        assert word in text, word
    assert {"svg", "table", "main", "nav", "h1", "h2"} <= found.tags


def test_the_same_fit_gives_the_same_bytes(fitted, tmp_path):
    again = NodeClassifier(partial(gcn, dim=16), trainer=QUICK).fit(graph())
    again.compare("sage", seeds=(0, 1))
    pages = [write_report(each, tmp_path / f"{at}.html").read_bytes() for at, each in enumerate((fitted, again))]
    assert pages[0] == pages[1] and b"0x" not in pages[0]
    assert not list(tmp_path.glob("*.part"))


HOSTILE = [
    "<script>alert('x')</script>", "\"><img src=x onerror=alert(1)>", "</style><b>", "🦊 fox & co", "\u202eשלום עולם",
    "a" * 400, "<!-- '", "http://example.org/?a=1&b=2",
]  # fmt: skip


def test_names_stay_names(tmp_path):
    ids = [f"{HOSTILE[at % len(HOSTILE)]} {at}" for at in range(80)]
    y = np.arange(80) % len(HOSTILE)
    edges = pa.table({"source": [ids[at] for at in range(80)], "target": [ids[(at + 8) % 80] for at in range(80)]})
    nodes = {"id": ids, "</table><i>": np.random.default_rng(0).random(80), "kind": [HOSTILE[each] for each in y]}
    nodes = pa.table({**nodes, "<script>": [f"<b>{at % 3}" for at in range(80)]})
    estimator = NodeClassifier(trainer=Trainer(epochs=1, lr=0.0)).fit(
        Graph.from_tables(nodes, pa.concat_tables([edges, edges]), target="kind")
    )
    path = write_report(estimator, tmp_path / "report.html", command="weft <script> \udcff 'a' && \"b\"")
    found = Reader(path.read_text())
    assert found.scripts == 1 and not {"img", "b "} & found.tags and "i" not in found.tags
    text = "".join(found.text)
    assert all(name in text for name in HOSTILE if "\u202e" not in name) and "weft <script> ? 'a'" in text
    assert all(link.startswith("#") for link in found.links)
    assert "mistakes" in found.ids and "repeat a pair" in text


def everywhere(split: Split):
    return lambda _: split


VARIANTS = {
    "two classes, two columns": (graph(["no", "yes"]), None),
    "forty classes": (graph([f"class number {code}" for code in range(40)], 240), None),
    "seventy classes": (graph([f"c{code}" for code in range(70)], 350), None),
    "no columns": (Graph.from_edges([(0, 1), (1, 2), (3, 4)], y=["a", "a", "b", "b", "a", "b"]), None),
    "numbers": (Graph.from_edges([(0, 1)], x=np.eye(6), y=[0, 1, 0, 1, 0, 1]), None),
    "directed": (Graph.from_edges([(0, 1), (2, 1), (3, 0)], x=np.eye(4), y=[True, False] * 2, directed=True), None),
    "no test": (graph(), Split.of(range(40), range(40, 60), [], how="by hand")),
    "no validation": (graph(), Split.of(range(40), [], range(40, 60), how="by hand")),
    "nothing held out": (graph(), Split.of(range(60), [], [], how="by hand")),
    "labels unknown": (Graph.from_edges([(0, 1), (1, 2), (2, 3)], x=np.eye(5), y=["a", "b", None, "a", "b"]),
                       Split.of([0, 1], [], [3], how="by hand")),
    "a class that is not learnt": (Graph.from_edges([(0, 1)], x=np.eye(4), y=["a", "b", "c", "a"]),
                                   Split.of([0, 1], [], [3], how="by hand")),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("compared", [False, True])
def test_whatever_was_fitted(name, compared, tmp_path):
    held, split = VARIANTS[name]
    estimator = NodeClassifier(trainer=QUICK, split=None if split is None else everywhere(split)).fit(held)
    if compared:
        rows = [("label propagation", "links", 0.5), ("gcn", "both", 0.4), ("majority class", "nothing", float("nan"))]
        estimator.leaderboard_ = Leaderboard(tuple(Row(who, sees, (at,), (at, at), 1.0) for who, sees, at in rows))
    found = read(write_report(estimator, tmp_path / "report.html"))
    text = "".join(found.text)
    assert ("nothing is left that could say" in text) == (name == "nothing held out")
    assert ("No comparison was made" in text) != compared


def test_smoothing_is_said_and_places_in_memory_are_not(tmp_path):
    def mine(in_dim, out_dim, *, activation=None):
        return gcn(in_dim, out_dim, dim=8)

    estimator = NodeClassifier(partial(mine, activation=lambda x: x), trainer=QUICK, smooth=True).fit(graph())
    estimator.compare(seeds=(0,))
    path = write_report(estimator, tmp_path / "report.html")
    assert "mine(activation=" in path.read_text() and " at 0x" not in path.read_text()
    assert '<span class="mine"><bdi class="word">this model + correct &amp; smooth</bdi></span>' in path.read_text()
    assert "known answers are spread along the links" in "".join(read(path).text)


def test_twenty_thousand_nodes_stay_small(tmp_path):
    dice = np.random.default_rng(0)
    y = np.arange(20_000) % 5
    many = Graph.from_edges(
        dice.integers(0, 20_000, (2, 60_000)), x=dice.normal(size=(20_000, 4)), y=[f"{HOSTILE[5]} {each}" for each in y]
    )
    path = write_report(NodeClassifier(partial(gcn, dim=8), trainer=Trainer(epochs=2)).fit(many), tmp_path / "report.html")
    assert path.stat().st_size < 3_000_000 and path.read_text().count("<use ") == 3005


def test_what_cannot_be_reported(fitted, tmp_path):
    with pytest.raises(NotFittedError, match="Call fit first"):
        write_report(NodeClassifier(), tmp_path / "x.html")
    with pytest.raises(WeftTypeError, match="expected a NodeClassifier, but got str"):
        write_report("model", tmp_path / "x.html")
    fitted.save(tmp_path / "model")
    with pytest.raises(WeftValueError, match="a model from a folder holds no graph"):
        write_report(load(tmp_path / "model"), tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
