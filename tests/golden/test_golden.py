"""Models that earlier versions wrote: every later version opens them and gives their answers.

`python tests/golden/test_golden.py` writes the folder of the present schema, once; what is there is never written again.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from weft.data import Graph, Split
from weft.encoders import gat
from weft.estimators import NodeClassifier, NodeRegressor, load
from weft.estimators.folder import SCHEMA
from weft.training import Trainer

HERE = Path(__file__).parent
KINDS = ("classifier", "regressor")
FOLDERS = sorted(path.parent for path in HERE.glob("*/model.json"))


def graph(target: str) -> Graph:
    """Twelve people with a column of every kind."""
    people = range(12)
    nodes = {
        "id": [f"person {number}" for number in people],
        "age": [None if number == 3 else 20.0 + number for number in people],
        "city": [["Rome", "Oslo"][number % 2] for number in people],
        "member": [number % 3 == 0 for number in people],
        "about": [f"likes {['tea and cake', 'long walks', 'old books'][number % 3]}" for number in people],
        "tags": [["a|b", "b|c"][number % 2] for number in people],
        "group": [["even", "odd"][number % 2] for number in people],
        "income": [1000.0 + 10 * number for number in people],
    }
    pairs = [(number, (number + step) % 12) for step in (2, 5) for number in people]
    edges = {end: [nodes["id"][pair[side]] for pair in pairs] for side, end in enumerate(("source", "target"))}
    kinds = {"city": "categorical", "about": "text", "tags": "multi"}
    rest = {name: values for name, values in nodes.items() if name not in ("group", "income") or name == target}
    return Graph.from_tables(rest, edges, target=target, kinds=kinds)


def split(_: Graph) -> Split:
    return Split.of(range(8), [8, 9], [10, 11], how="by number")


def write() -> None:
    for kind in KINDS:
        folder = HERE / f"{kind}_{SCHEMA}"
        if folder.exists():
            continue
        if kind == "classifier":
            model = NodeClassifier(gat, trainer=Trainer(epochs=5), split=split, smooth=True).fit(graph("group"))
            found = model.predict_proba()
        else:
            model = NodeRegressor("sage", trainer=Trainer(epochs=5), split=split).fit(graph("income"))
            found = model.predict()
        model.save(folder)
        (folder / "expected.json").write_text(json.dumps(np.asarray(found, np.float64).tolist()) + "\n")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_old_model_answers_as_it_did(folder):
    told = graph("group" if folder.name.startswith("classifier") else "income")
    model = load(folder)
    found = model.predict_proba(told) if isinstance(model, NodeClassifier) else model.predict(told)
    np.testing.assert_allclose(found, np.asarray(json.loads((folder / "expected.json").read_text())), rtol=1e-6, atol=1e-6)


def test_the_present_schema_has_its_folders():
    assert {f"{kind}_{SCHEMA}" for kind in KINDS} <= {folder.name for folder in FOLDERS}


if __name__ == "__main__":
    write()
