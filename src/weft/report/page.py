"""The page as a whole: sections in order, one file, written at once or not at all."""

from os import PathLike
from pathlib import Path

from weft.estimators import NodeClassifier
from weft.report import answers, cases, overview
from weft.report.document import document
from weft.report.facts import Facts
from weft.training.checkpoint import write_atomically

CONTENTS = {
    "headline": "In short",
    "data": "Data",
    "leaderboard": "Leaderboard",
    "learning": "Learning",
    "classes": "Classes",
    "calibration": "Calibration",
    "map": "Map",
    "mistakes": "Mistakes",
    "certificate": "Certificate",
    "repeat": "Repeat it",
}
"""Every section by the name that leads to it, in the order of the page."""


def write_report(estimator: NodeClassifier, path: str | PathLike[str], *, command: str | None = None) -> Path:
    """Write what is to be known of a fitted model as one HTML file that needs nothing else, and say where it is.

    `command` is what was typed to make the model; without it the page shows the call in Python. The same fit gives the
    same bytes.

    >>> import tempfile
    >>> from weft.data import Graph
    >>> graph = Graph.from_edges([(0, 1), (2, 3)], x=[[0.0], [0.0], [1.0], [1.0]], y=["a", "a", "b", "b"])
    >>> write_report(NodeClassifier().fit(graph), Path(tempfile.mkdtemp()) / "report.html").name
    'report.html'
    """
    path = Path(path)
    write_atomically(path, page(Facts.of(estimator), command).encode("utf-8", "replace"))
    return path


def page(facts: Facts, command: str | None = None) -> str:
    """The page as text."""
    sections = (
        overview.headline(facts),
        overview.data(facts),
        overview.leaderboard(facts),
        answers.learning(facts),
        answers.mixing(facts),
        answers.trust(facts),
        answers.landscape(facts),
        cases.mistakes(facts),
        cases.certificate(facts),
        cases.repeat(facts, command),
    )
    title = f"{facts.encoder}: {facts.graph.num_nodes:,} nodes, {len(facts.names):,} classes"
    return document(title, {f"#{name}": told for name, told in CONTENTS.items()}, sections)
