"""Numbers of nodes: learnt, answered in their own unit, saved and opened again."""

import numpy as np
import pyarrow as pa
import pytest

from weft.data import Graph, Random
from weft.errors import DataError, NotFittedError, WeftTypeError, WeftValueError
from weft.estimators import NodeClassifier, NodeRegressor, load
from weft.training import Trainer

QUICK = Trainer(epochs=80, lr=0.02)


def tables(houses: int = 120) -> tuple[pa.Table, pa.Table]:
    """Houses whose price follows their size and the mean size of their neighbours."""
    dice = np.random.default_rng(0)
    size = dice.normal(100, 20, houses)
    a, b = np.arange(houses), (np.arange(houses) + 1) % houses
    price = 2000 * size + 1000 * (np.roll(size, 1) + np.roll(size, -1)) + dice.normal(0, 2000, houses)
    prices = [None if at % 10 == 9 else float(value) for at, value in enumerate(price)]
    nodes = {"id": [f"no. {at}" for at in a], "size": size, "price": prices}
    return pa.table(nodes), pa.table({"source": [f"no. {at}" for at in a], "target": [f"no. {at}" for at in b]})


def graph() -> Graph:
    return Graph.from_tables(*tables(), target="price")


@pytest.fixture(scope="module")
def fitted() -> NodeRegressor:
    return NodeRegressor(trainer=QUICK, seed=1).fit(graph())


def test_answers_in_their_own_unit(fitted):
    found = fitted.predict()
    assert found.shape == (120,) and 300_000 < found.mean() < 500_000
    assert fitted.score() == fitted.metrics_["test"]["r2"] > 0.7
    assert fitted.scores()["mean_absolute_error"] < 30_000
    assert fitted.predict_table().column_names == ["id", "prediction"] and fitted.embed().shape == (120, 64)


def test_neighbours_are_needed(fitted):
    alone = NodeRegressor("mlp", trainer=QUICK, seed=1).fit(graph())
    assert alone.score() < fitted.score()


def test_what_is_opened_is_what_was_saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, NodeRegressor) and np.array_equal(again.predict(graph()), fitted.predict())
    assert again.score(graph()) == fitted.score(graph()) and again.metrics_ == fitted.metrics_


def test_the_same_seed_gives_the_same_bytes(fitted):
    assert np.array_equal(NodeRegressor(trainer=QUICK, seed=1).fit(graph()).predict(), fitted.predict())


def words() -> Graph:
    nodes, edges = tables()
    prices = pa.array(["dear" if at == 3 else "1.5" for at in range(120)])
    return Graph.from_tables(nodes.set_column(2, "price", prices), edges, target="price")


def infinite() -> Graph:
    return Graph.from_edges([(0, 1)], x=np.eye(2), y=[1.0, float("inf")])


BAD = [
    (lambda: NodeRegressor().predict(), NotFittedError, ["predict", "Call fit first"]),
    (lambda: NodeRegressor().fit("graph"), WeftTypeError, ["NodeRegressor.fit", "str"]),
    (lambda: NodeRegressor().fit(Graph.from_tables(*tables())), DataError, ["no numbers to learn", "target"]),
    (lambda: NodeRegressor().fit(words()), DataError, ["'no. 3'", "'dear'", "NodeClassifier"]),
    (lambda: NodeRegressor().fit(infinite()), DataError, ["node 1", "inf", "finite"]),
    (lambda: NodeRegressor(split=Random(train=-1)).fit(graph()), WeftValueError, ["shares", "-1"]),
    (lambda: NodeRegressor("gnc").fit(graph()), WeftValueError, ["'gnc'", "Did you mean 'gcn'?"]),
    (lambda: NodeClassifier().fit(graph()), DataError, ["is no class but a number", "NodeRegressor"]),
]


@pytest.mark.parametrize(("call", "error", "said"), BAD, ids=range(len(BAD)))
def test_bad_input(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in said), str(caught.value)
