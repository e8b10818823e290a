"""The command line, run as its user runs it: what it prints, what it writes, how it ends."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from weft.estimators import load

PEOPLE = 90
COLOURS = ["red", "green", "blue"]


def weft(*arguments: object, code: int = 0, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two tables, as somebody might have them: text ids, gaps, people without an answer."""
    place = tmp_path_factory.mktemp("tables")
    dice = np.random.default_rng(0)
    y = dice.integers(0, 3, PEOPLE)
    names = [f"{number:03}" for number in dice.permutation(PEOPLE)]
    with open(place / "nodes.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "age", "city", "colour"])
        for at in range(PEOPLE):
            age = "" if dice.random() < 0.1 else round(30 + 5 * y[at] + dice.normal() * 4, 1)
            rows.writerow([names[at], age, dice.choice(["Rome", "NA"]), COLOURS[y[at]] if at < 75 else ""])
    with open(place / "edges.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        for a, b in dice.integers(0, PEOPLE, (900, 2)):
            if a != b and (y[a] == y[b] or dice.random() < 0.1):
                rows.writerow([names[a], names[b]])
    return place


TABLES = ("--nodes", "nodes.csv", "--edges", "edges.csv")


@pytest.fixture(scope="module")
def told(folder) -> dict:
    done = weft("fit", "node-classifier", *TABLES, "--target", "colour", "--out", "model", "--json", folder=folder)
    return json.loads(done.stdout)


def test_fit_tells_and_saves(folder, told):
    assert told["model"] == "model" and told["classes"] == sorted(COLOURS) and told["clean"]
    assert told["metrics"]["test"]["accuracy"] > 0.5
    assert {"majority class", "gcn", "label propagation"} <= {row["name"] for row in told["leaderboard"]["rows"]}
    assert load(folder / "model").classes_ == sorted(COLOURS)


def test_fit_for_people(folder):
    done = weft("fit", "node-classifier", *TABLES, "--target", "colour", "--encoder", "sage", "--out", "other", folder=folder)
    for words in ("90 nodes", "75 labelled", "accuracy", "the graph helps", "saved: other"):
        assert words in done.stdout


def test_settings_from_a_file_and_on_top_of_it(folder):
    (folder / "run.toml").write_text("""
        task = "node-classifier"
        out = "from-file"
        compare = false
        data = {nodes = "nodes.csv", edges = "edges.csv", target = "colour", kinds = {city = "skip"}}
        encoder = {name = "gcn", dim = 8}
        split = {how = "per-class", train = 5, val = 5}
        trainer = {epochs = 3, schedule = "cosine"}
    """)
    done = weft("fit", "run.toml", "--set", "trainer.epochs=2", "--set", "encoder.dim=4", "--json", folder=folder)
    assert "5 train and 5 val of each class" in json.loads(done.stdout)["split"]
    told = json.loads(weft("inspect", "from-file", "--json", folder=folder).stdout)
    assert told["encoder"] == {"name": "gcn", "arguments": {"dim": 4}} and told["end"]["epoch"] == 2
    assert ["city", "left out as asked"] in told["features"]["left_out"] or "city" in str(told["features"]["left_out"])


def test_predict_for_people_added_afterwards(folder, told):
    nodes, edges = (folder / "nodes.csv").read_text(), (folder / "edges.csv").read_text()
    (folder / "more.csv").write_text(nodes + "Zoë,41,Lima,\n")
    (folder / "links.csv").write_text(edges + "".join(f"Zoë,{line.split(',')[0]}\n" for line in nodes.splitlines()[1:6]))
    done = weft("predict", "model", "--nodes", "more.csv", "--edges", "links.csv", "--only-new", "--json", folder=folder)
    (row,) = json.loads(done.stdout)["rows"]
    assert row["id"] == "Zoë" and row["prediction"] in COLOURS and row["new"] is True
    weft("predict", "model", "--nodes", "more.csv", "--edges", "links.csv", "--out", "all.parquet", folder=folder)
    table = parquet.read_table(folder / "all.parquet")
    assert table.num_rows == PEOPLE + 1 and table["id"].to_pylist()[:-1] == [
        line.split(",")[0] for line in nodes.splitlines()[1:]
    ]
    printed = weft("predict", "model", *TABLES, folder=folder).stdout.splitlines()
    assert printed[0] == '"id","prediction","p_blue","p_green","p_red","new"' and len(printed) == PEOPLE + 1


def test_evaluate_and_embed(folder, told):
    done = json.loads(weft("evaluate", "model", *TABLES, "--target", "colour", "--json", folder=folder).stdout)
    assert done["known"] == 75 and done["accuracy"] > 0.5
    weft("embed", "model", *TABLES, "--out", "vectors.arrow", folder=folder)
    table = pa.ipc.open_file(folder / "vectors.arrow").read_all()
    assert table.num_columns == 65 and table.num_rows == PEOPLE


def test_inspect_shows_the_certificate(folder, told):
    shown = weft("inspect", "model", folder=folder).stdout
    for words in ("NodeClassifier", "column age: numeric", "no node is in two parts", "learnt from training rows only"):
        assert words in shown


def test_lists_and_doctor():
    assert "Kipf & Welling" in json.loads(weft("list", "encoders", "--json").stdout)["encoders"]["gcn"]
    assert "cora" in weft("list", "data").stdout
    assert "kernels that run here" in weft("doctor").stdout


WRONG = [
    (("fit", "node-classifer"), 2, ["node-classifier"]),
    (("fit", "node-classifier", "--edges", "edges.csv"), 2, ["--nodes is missing"]),
    (("fit", "node-classifier", *TABLES), 2, ["--target is missing"]),
    (("fit", "node-classifier", *TABLES, "--target", "color"), 1, ["nodes.csv", "'color'", "Did you mean 'colour'?"]),
    (("fit", "node-classifier", *TABLES, "--target", "colour", "--encoder", "gnc"), 1, ["'gnc'", "Did you mean 'gcn'?"]),
    (("fit", "node-classifier", *TABLES, "--target", "colour", "--set", "trainer.lrr=1"), 2, ["'lrr'", "Did you mean 'lr'?"]),
    (("fit", "node-classifier", *TABLES, "--target", "colour", "--set", "encoder.width=1"), 2, ["encoder gcn", "'width'"]),
    (("fit", "node-classifier", *TABLES, "--target", "colour", "--set", "trainer"), 2, ["name=value", "'trainer'"]),
    (
        ("fit", "node-classifier", *TABLES, "--target", "colour", "--set", "split.how=fair"),
        2,
        ["split.how", "stratified", "'fair'"],
    ),
    (("fit", "node-classifier", *TABLES, "--target", "colour", "--ends", "source"), 2, ["--ends", "comma"]),
    (
        ("fit", "node-classifier", "--nodes", "node.csv", "--edges", "edges.csv", "--target", "colour"),
        1,
        ["node.csv", "nodes.csv"],
    ),
    (("fit", "absent.toml"), 2, ["no file absent.toml"]),
    (("fit", "broken.toml"), 2, ["broken.toml is not TOML"]),
    (("predict", "nowhere", *TABLES), 1, ["no model folder nowhere"]),
    (("predict", "model", *TABLES, "--out", "answers.xlsx"), 1, ["answers.xlsx", ".parquet"]),
    (("evaluate", "model", *TABLES), 2, ["--target is missing"]),
    (("list", "papers"), 2, ["encoders", "'papers'"]),
    (("fitt",), 2, ["No such command"]),
]


@pytest.mark.parametrize(
    ("arguments", "code", "words"), WRONG, ids=lambda part: " ".join(part) if isinstance(part, tuple) else None
)
def test_what_is_wrong_is_said(folder, told, arguments, code, words):
    (folder / "broken.toml").write_text("task = ")
    before = sorted(folder.iterdir())
    said = weft(*arguments, code=code, folder=folder).stderr
    assert all(word in said for word in words), said
    assert sorted(folder.iterdir()) == before, "nothing is left half-written"


def test_help_loads_nothing_heavy():
    code = "import sys; sys.argv = ['weft', '--help']\nfrom weft.cli.app import main\ntry: main()\nexcept SystemExit: pass\n"
    listed = "print(sorted({'torch', 'numpy', 'numba', 'pyarrow', 'sklearn', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + listed], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_sampled_training_and_a_checkpoint(folder):
    given = ("batch_size=16", "fanouts=[3,3]", "trainer.epochs=2", "trainer.checkpoint=run.safetensors", "encoder.name=sage")
    settings = [part for each in given for part in ("--set", each)]
    call = ("fit", "node-classifier", *TABLES, "--target", "colour", "--alone", "--out", "sampled", "--json", *settings)
    first, again = (json.loads(weft(*call, folder=folder).stdout) for _ in range(2))
    assert (folder / "run.safetensors").is_file() and first["metrics"] == again["metrics"]


def test_version():
    assert weft("--version").stdout.startswith("weft 0.")
