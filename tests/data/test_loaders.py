"""Pieces prepared ahead: every seed once, the same for any number of threads, and no thread left behind."""

import threading
import time

import pytest
import torch

from weft import errors
from weft.data.loaders import AHEAD, Neighbours, ahead
from weft.ops.sample import Sample
from weft.structure import Sparse

NODES, EDGES = 300, 4000
GENERATOR = torch.Generator().manual_seed(0)
OVER = Sparse.from_edges(*torch.randint(NODES, (2, EDGES), generator=GENERATOR), NODES)
X = torch.arange(NODES * 3.0).reshape(NODES, 3)
SEEDS = torch.arange(5, 105)


def pieces(threads: int = 2, batch_size: int = 8, **settings: int) -> list[tuple[Sample, torch.Tensor]]:
    neighbours = Neighbours(OVER, batch_size=batch_size, fanouts=(4, 3), threads=threads)
    return list(neighbours.shuffled(SEEDS, X, **{"seed": 1, **settings}))


def bytes_of(found: list[tuple[Sample, torch.Tensor]]) -> list[list[object]]:
    return [[p.nodes.tolist(), p.over.rows.pointer.tolist(), p.over.rows.index.tolist(), p.sizes, x.tolist()] for p, x in found]


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("weft-ahead")]


def test_every_seed_comes_once_with_the_features_of_its_piece():
    found = pieces()
    assert [piece.sizes[0] for piece, _ in found] == [8] * 12 + [4]
    seeds = torch.cat([piece.nodes[: piece.sizes[0]] for piece, _ in found])
    assert not torch.equal(seeds, SEEDS) and torch.equal(seeds.sort().values, SEEDS)
    assert all(torch.equal(x, X[piece.nodes]) for piece, x in found)


def test_the_same_for_any_number_of_threads():
    expected = bytes_of(pieces(threads=1))
    assert all(bytes_of(pieces(threads=threads)) == expected for threads in (2, 4))


def test_another_seed_or_epoch_is_another_order():
    orders = [bytes_of(pieces(seed=seed, epoch=epoch)) for seed, epoch in ((1, 0), (2, 0), (1, 1))]
    assert orders[0] != orders[1] and orders[0] != orders[2] and orders[1] != orders[2]


def test_the_same_node_is_drawn_anew_in_each_epoch():
    hub = Sparse.from_edges(range(1, 60), [0] * 59, 60)
    neighbours = Neighbours(hub, batch_size=1, fanouts=(5,))
    drawn = {tuple(p.nodes.tolist()) for epoch in range(5) for p, _ in neighbours.shuffled([0], X[:60], seed=0, epoch=epoch)}
    assert len(drawn) == 5


def test_in_order_they_stand_as_they_are():
    neighbours = Neighbours(OVER, batch_size=30, fanouts=[2])
    once, again = (list(neighbours.in_order(SEEDS, X)) for _ in range(2))
    assert torch.cat([piece.nodes[: piece.sizes[0]] for piece, _ in once]).tolist() == SEEDS.tolist()
    assert bytes_of(once) == bytes_of(again)
    assert list(neighbours.in_order([], X)) == []


def test_stopping_early_leaves_no_thread():
    neighbours = Neighbours(OVER, batch_size=1, fanouts=(4, 3), threads=3)
    for _ in neighbours.shuffled(SEEDS, X, seed=0):
        assert len(running()) == 3
        break
    assert running() == []
    pieces = neighbours.shuffled(SEEDS, X, seed=0)
    next(pieces)
    pieces.close()
    assert running() == [] and list(pieces) == []


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_comes_home_in_its_turn(threads):
    def job(number: int) -> int:
        if number == 7:
            raise ValueError("number 7")
        return number

    results = ahead([lambda number=number: job(number) for number in range(20)], threads)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ValueError, match="number 7"):
        next(results)
    assert running() == []


def test_order_is_kept_and_few_are_begun_before_they_are_asked_for():
    begun = []

    def job(number: int) -> int:
        begun.append(number)
        time.sleep(0.002 * (number % 3))  # later ones are done first
        return number

    results = ahead([lambda number=number: job(number) for number in range(30)], 3)
    assert next(results) == 0 and len(begun) <= AHEAD * 3
    assert list(results) == list(range(1, 30))


NEIGHBOURS = Neighbours(OVER, batch_size=4, fanouts=(2,))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Neighbours(OVER, batch_size=0, fanouts=(2,)), errors.WeftValueError, ["batch_size", "at least 1"]),
        (lambda: Neighbours(OVER, batch_size=4, fanouts=()), errors.WeftValueError, ["Neighbours", "fanouts is empty"]),
        (lambda: Neighbours(OVER, batch_size=4, fanouts=(2,), threads=0), errors.WeftValueError, ["threads", "at least 1"]),
        (lambda: Neighbours(X, batch_size=4, fanouts=(2,)), errors.WeftTypeError, ["over", "Sparse", "Tensor"]),
        (lambda: NEIGHBOURS.shuffled([0, 300], X, seed=0), errors.WeftValueError, ["seeds[1] is 300", "0 … 299"]),
        (lambda: NEIGHBOURS.in_order([1, 3, 5, 7, 9, 3], X), errors.WeftValueError, ["seeds[5] is 3", "so is seeds[1]"]),
        (lambda: NEIGHBOURS.shuffled([0], X, seed=-1), errors.WeftValueError, ["seed", "-1"]),
        (lambda: NEIGHBOURS.in_order([0], X[:5]), errors.ShapeError, ["300 nodes", "(5, 3)"]),
        (lambda: NEIGHBOURS.in_order([0], [1.0]), errors.WeftTypeError, ["x", "list"]),
        (lambda: NEIGHBOURS.in_order([0], X.to("meta")), errors.DeviceError, ["x is on meta", "x.cpu()"]),
    ],
)
def test_bad_inputs_are_refused_at_once(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
