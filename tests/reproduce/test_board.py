"""A leaderboard as a study: every contender, each seed of it, and who looks at what."""

import os

import numpy as np
import pytest

from weft.data import Graph, Stratified
from weft.encoders import names as encoders
from weft.errors import WeftValueError
from weft.estimators.baselines import BASELINES
from weft.estimators.leaderboard import Leaderboard, Row
from weft.reproduce import read_study, reproduce
from weft.reproduce.board import run_board
from weft.reproduce.runner import Outcome, kept, save
from weft.training import Trainer


def graph(things: int = 60) -> Graph:
    dice = np.random.default_rng(0)
    y = np.arange(things) % 3
    a, b = dice.integers(0, things, (2, 5 * things))
    keep = (y[a] == y[b]) & (a != b)
    return Graph.from_edges(np.stack([a[keep], b[keep]]), x=dice.normal(size=(things, 4)), y=[f"class {each}" for each in y])


@pytest.fixture(scope="module")
def heard() -> list[str]:
    return []


@pytest.fixture(scope="module")
def board(heard) -> Leaderboard:
    held = graph()
    trainer = Trainer(epochs=3)
    return run_board(held, Stratified()(held), ["mlp", "gcn"], trainer=trainer, seeds=2, begins=heard.append)


def test_every_contender_has_a_row(board):
    mine = {f"{name}{more}" for name in ("mlp", "gcn") for more in ("", " + correct & smooth")}
    assert {row.name for row in board.rows} == mine | set(BASELINES)
    assert all(len(row.val) == len(row.test) == (2 if row.name in mine else 1) for row in board.rows)


def test_every_training_is_told(board, heard):
    assert heard == ["mlp, seed 0", "mlp, seed 1", "gcn, seed 0", "gcn, seed 1"]


def test_a_perceptron_sees_no_links_until_it_is_smoothed(board):
    sees = {row.name: row.sees for row in board.rows}
    assert sees["mlp"] == "features" and sees["mlp + correct & smooth"] == sees["gcn"] == "both"


def test_the_same_seeds_give_the_same_rows(board):
    held = graph()
    again = run_board(held, Stratified()(held), ["mlp", "gcn"], trainer=Trainer(epochs=3), seeds=2)
    assert [(row.name, row.val, row.test) for row in again.rows] == [(row.name, row.val, row.test) for row in board.rows]


def test_the_study_holds_every_encoder():
    study = read_study("cora-board")
    assert study.name == "cora_board" and sorted(study.encoders) == encoders()
    assert study == read_study("cora_board")


def test_an_encoder_that_does_not_exist():
    held = graph()
    with pytest.raises(WeftValueError, match="Did you mean 'gcn'"):
        run_board(held, Stratified()(held), ["gnc"], trainer=Trainer(epochs=1), seeds=1)


def test_a_result_is_read_as_it_was_written(board, tmp_path, monkeypatch):
    found = Outcome("x", tuple(100 * each for each in board.rows[0].test), 1.0, "2026-01-01", "a machine", {}, board.rows)
    save(found, tmp_path / "x.json")
    monkeypatch.setattr("weft.reproduce.runner.RESULTS", tmp_path)
    assert kept("x") == found


def test_the_verdict_names_who_leads():
    rows = (Row("gat", "both", (0.8, 0.9), (0.7, 0.9), 1.0), Row("mlp", "features", (0.5,), (0.5,), 1.0))
    found = Outcome("cora_board", (70.0, 90.0), 1.0, "2026-01-01", "a machine", {}, rows)
    assert found.verdict(read_study("cora_board")) == (
        "gat leads; the graph helps: gat is 35.0 points above mlp, which sees no links"
    )


def test_the_shipped_board_is_whole():
    study, found = read_study("cora_board"), kept("cora_board")
    assert found is not None
    rows = {row.name: row for row in found.rows}
    assert set(rows) >= {f"{name}{more}" for name in study.encoders for more in ("", " + correct & smooth")}
    assert all(len(rows[name].val) == len(rows[name].test) == study.seeds for name in study.encoders)
    assert found.values == tuple(100 * each for each in found.rows[0].test)
    assert sum(rows["gcn"].test) / study.seeds > sum(rows["mlp"].test) / study.seeds + 0.15


@pytest.mark.skipif("WEFT_DATA" not in os.environ, reason="needs the published files of Cora: set WEFT_DATA")
def test_a_short_board_runs():
    """One seed of a board with a single encoder: rows, and the percents of the first."""
    from dataclasses import replace

    study = replace(read_study("cora_board"), encoders=("gcn",), trainer={"epochs": 20, "lr": 0.01})
    found = reproduce(study, seeds=1)
    assert found.values == (100 * found.rows[0].test[0],) and {"gcn", "label propagation"} <= {row.name for row in found.rows}
