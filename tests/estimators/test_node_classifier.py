"""Labelling nodes: from a graph to answers, saved and opened again, for nodes never seen."""

import subprocess
import sys
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import torch

from weft.data import Graph, PerClass, Random, Split
from weft.encoders import gcn
from weft.errors import DataError, NotFittedError, WeftTypeError, WeftValueError
from weft.estimators import NodeClassifier, load
from weft.training import EpochDone, Finished, Trainer

QUICK = Trainer(epochs=30)
COLOURS = ["red", "green", "blue"]


def tables(people: int = 90, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """People whose links mostly stay within their colour, and whose columns say a little about it."""
    dice = np.random.default_rng(seed)
    y = dice.integers(0, 3, people)
    names = [f"person {number:03}" for number in dice.permutation(people)]
    age = [None if dice.random() < 0.1 else float(30 + 5 * colour + dice.normal() * 5) for colour in y]
    city = [str(dice.choice(["Rome", "Paris", "Oslo"])) for _ in y]
    a, b = dice.integers(0, people, (2, 10 * people))
    keep = ((y[a] == y[b]) | (dice.random(len(a)) < 0.1)) & (a != b)
    nodes = {"id": names, "age": age, "city": city, "colour": [COLOURS[colour] for colour in y]}
    edges = {"source": [names[i] for i in a[keep]], "target": [names[i] for i in b[keep]]}
    return pa.table(nodes), pa.table(edges)


def graph(people: int = 90, **given) -> Graph:
    nodes, edges = tables(people)
    return Graph.from_tables(nodes, edges, target="colour", **given)


@pytest.fixture(scope="module")
def fitted() -> NodeClassifier:
    return NodeClassifier(trainer=QUICK, seed=3).fit(graph())


def test_answers_in_the_users_terms(fitted):
    found = fitted.predict()
    assert found.shape == (90,) and set(found) <= set(COLOURS)
    assert fitted.classes_ == sorted(COLOURS)
    assert np.allclose(fitted.predict_proba().sum(1), 1, atol=1e-6)
    assert fitted.embed().shape == (90, 64)
    assert fitted.score() == fitted.metrics_["test"]["accuracy"] > 0.6
    table = fitted.predict_table()
    assert table.column_names == ["id", "prediction", "p_blue", "p_green", "p_red"]
    assert table["id"].to_pylist() == tables()[0]["id"].to_pylist()


def test_the_same_seed_gives_the_same_bytes(fitted):
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    again = NodeClassifier(trainer=QUICK, seed=3).fit(graph())
    torch.set_num_threads(before)
    assert np.array_equal(again.predict_proba(), fitted.predict_proba())


def test_events_are_heard():
    heard = []
    NodeClassifier(trainer=QUICK).fit(graph(), listener=heard.append)
    assert sum(isinstance(event, EpochDone) for event in heard) == 30 and isinstance(heard[-1], Finished)


def test_held_out_answers_change_nothing_that_is_learnt():
    """The poison test: other answers in the test part leave every weight and every feature as it was."""
    nodes, edges = tables()
    split = Split.of(range(40), range(40, 60), range(60, 90), how="by number")
    poisoned = [COLOURS[0] if at >= 60 else colour for at, colour in enumerate(nodes["colour"].to_pylist())]
    other = nodes.set_column(3, "colour", pa.array(poisoned))
    found = [
        NodeClassifier(trainer=QUICK, split=lambda _: split)
        .fit(Graph.from_tables(part, edges, target="colour"))
        .predict_proba()
        for part in (nodes, other)
    ]
    assert np.array_equal(*found)


def test_the_certificate_finds_a_giveaway():
    nodes, edges = tables()
    shade = {"red": "crimson", "green": "emerald", "blue": "navy"}
    leaking = nodes.append_column("shade", pa.array([shade[colour] for colour in nodes["colour"].to_pylist()]))
    clean = NodeClassifier(trainer=QUICK).fit(graph()).fitted_.certificate
    broken = NodeClassifier(trainer=QUICK).fit(Graph.from_tables(leaking, edges, target="colour")).fitted_.certificate
    assert clean.clean and not broken.clean
    assert "column 'shade' alone says the answer of every training node" in str(broken)


def with_newcomers() -> tuple[pa.Table, pa.Table]:
    """The same people, and five more with links and a city nobody lived in before."""
    nodes, edges = tables()
    more = {
        "id": [f"new {at}" for at in range(5)],
        "age": [30.0, None, 35, 40, 41],
        "city": ["Oslo", "Lima", None, "Rome", "Rome"],
    }
    known = nodes["id"].to_pylist()
    links = {"source": [f"new {at % 5}" for at in range(20)], "target": known[:20]}
    return pa.concat_tables([nodes.drop_columns("colour"), pa.table(more)]), pa.concat_tables([edges, pa.table(links)])


OPEN = """
import sys
import numpy as np, pyarrow as pa
from weft.data import Graph
from weft.estimators import load
nodes, edges = (pa.ipc.open_file(path).read_all() for path in sys.argv[2:4])
np.save(sys.argv[4], load(sys.argv[1]).predict_proba(Graph.from_tables(nodes, edges)))
"""


@pytest.mark.parametrize("smooth", [False, True])
def test_nodes_never_seen_in_a_new_process(tmp_path, smooth):
    estimator = NodeClassifier(partial(gcn, dim=16), trainer=QUICK, smooth=smooth).fit(graph())
    estimator.save(tmp_path / "model")
    nodes, edges = with_newcomers()
    expected = estimator.predict_proba(Graph.from_tables(nodes, edges))
    assert expected.shape == (95, 3)
    told = "correct & smooth spreads the answers of 53 nodes, 0 of them held out"
    assert (told in str(estimator.fitted_.certificate)) == smooth and estimator.fitted_.certificate.clean
    paths = [tmp_path / "nodes.arrow", tmp_path / "edges.arrow"]
    for table, path in zip((nodes, edges), paths, strict=True):
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    command = [sys.executable, "-c", OPEN, str(tmp_path / "model"), *map(str, paths), str(tmp_path / "found.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert np.array_equal(np.load(tmp_path / "found.npy"), expected)


def test_what_is_opened_is_what_was_saved(fitted, tmp_path):
    fitted.compare(seeds=(0,))
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.classes_ == fitted.classes_ and again.metrics_ == fitted.metrics_
    assert str(again.fitted_.certificate) == str(fitted.fitted_.certificate)
    assert again.fitted_.features == fitted.fitted_.features
    assert [epoch.loss for epoch in again.fitted_.history] == [epoch.loss for epoch in fitted.fitted_.history]
    with pytest.raises(WeftValueError, match="a model from a folder holds no graph"):
        again.predict()


def test_order_of_nodes_does_not_matter(fitted):
    nodes, edges = tables()
    order = np.random.default_rng(1).permutation(90)
    turned = fitted.predict_proba(Graph.from_tables(nodes.take(order), edges))
    np.testing.assert_allclose(turned, fitted.predict_proba()[order], atol=1e-5)


def test_sampled_neighbourhoods_learn_too():
    before, found = torch.get_num_threads(), []
    for threads in (1, 4):
        torch.set_num_threads(threads)
        estimator = NodeClassifier("sage", trainer=QUICK, batch_size=16, fanouts=(5, 5)).fit(graph())
        found.append(estimator.predict_proba())
    torch.set_num_threads(before)
    assert np.array_equal(*found) and estimator.score() > 0.5
    assert "the loss saw the answers of 53 nodes, 0 of them held out" in str(estimator.fitted_.certificate)


def test_balanced_classes_count_the_same():
    estimator = NodeClassifier(trainer=QUICK, class_weight="balanced").fit(graph())
    weights = estimator.fitted_.objective.class_weight
    counts = torch.bincount(estimator.y_[estimator.fitted_.split.train])
    assert torch.allclose(weights * counts, (weights * counts)[:1].expand(3))


def test_parameters_as_scikit_learn_has_them():
    from sklearn.base import clone

    estimator = NodeClassifier("sage", seed=4)
    assert estimator.get_params() == {
        "encoder": "sage", "trainer": None, "split": None, "class_weight": None, "smooth": False,
        "batch_size": None, "fanouts": (15, 10), "seed": 4,
    }  # fmt: skip
    copy = clone(estimator)
    assert copy is not estimator and copy.get_params() == estimator.get_params()
    assert copy.set_params(encoder="gat").encoder == "gat"
    assert repr(estimator) == "NodeClassifier(encoder='sage', seed=4)"
    with pytest.raises(WeftValueError, match=r"no parameter 'encodr'. Did you mean 'encoder'\?"):
        estimator.set_params(encodr="gcn")


def test_a_leaderboard_says_whether_links_help():
    estimator = NodeClassifier(trainer=QUICK).fit(graph())
    board = estimator.compare("sage", seeds=(0, 1))
    names = {row.name for row in board.rows}
    assert {"majority class", "label propagation", "boosted trees", "gcn", "gcn + correct & smooth", "sage"} <= names
    assert "the graph helps" in board.verdict and "±" in str(board)
    assert all(len(row.test) == (2 if row.name.startswith("sage") else 1) for row in board.rows)


def test_a_perceptron_sees_no_links():
    board = NodeClassifier("mlp", trainer=QUICK).fit(graph()).compare(seeds=(0,))
    assert {row.name: row.sees for row in board.rows if "mlp" in row.name} == {
        "mlp": "features", "mlp + correct & smooth": "both"
    }  # fmt: skip


def test_without_columns_connections_are_the_features():
    _, edges = tables()
    alone = Graph.from_tables(tables()[0].select(["id", "colour"]), edges, target="colour")
    assert NodeClassifier(trainer=QUICK).fit(alone).fitted_.in_dim == 3


BAD = [
    (lambda: NodeClassifier().predict(), NotFittedError, ["predict", "Call fit first"]),
    (lambda: NodeClassifier().save("x"), NotFittedError, ["save", "Call fit first"]),
    (lambda: NodeClassifier().fit([1, 2]), WeftTypeError, ["fit", "Graph", "list", "from_tables"]),
    (lambda: NodeClassifier("gnc").fit(graph()), WeftValueError, ["'gnc'", "Did you mean 'gcn'?"]),
    (lambda: NodeClassifier(class_weight="even").fit(graph()), WeftValueError, ["class_weight", "'balanced'", "'even'"]),
    (lambda: NodeClassifier().fit(Graph.from_tables(*tables())), DataError, ["label", "target"]),
    (lambda: NodeClassifier(split=PerClass(500, 1)).fit(graph()), DataError, ["class 'blue'", "fewer than 500 + 1"]),
    (lambda: NodeClassifier(split=Random(train=2.0)).fit(graph()), WeftValueError, ["shares", "2.0"]),
    (
        lambda: NodeClassifier(split=lambda g: Split.of([], [1], [2], how="none")).fit(graph()),
        DataError,
        ["two classes or more", "[]"],
    ),
    (
        lambda: NodeClassifier().fit(Graph.from_edges([(0, 1)], x=np.eye(2), y=["a", "a"])),
        DataError,
        ["two classes or more", "['a']"],
    ),
    (
        lambda: NodeClassifier(split=lambda g: Split.of([0, 1], [], [2], how="x")).fit(
            Graph.from_edges([(0, 1)], x=np.eye(3), y=["a", "b", "c"])
        ),
        DataError,
        ["node 2", "'c'", "no training node", "'a', 'b'"],
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=range(len(BAD)))
def test_bad_input(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_graphs_that_do_not_fit_the_model(fitted):
    nodes, edges = tables()
    with pytest.raises(DataError, match="'age', which"):
        fitted.predict(Graph.from_tables(nodes.drop_columns(["age", "colour"]), edges))
    with pytest.raises(DataError, match="the model knows columns"):
        fitted.predict(Graph.from_edges([(0, 1)], x=np.eye(4)))
    with pytest.raises(DataError, match="no labels to compare with"):
        fitted.score(Graph.from_tables(nodes.drop_columns("colour"), edges))
