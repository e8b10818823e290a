"""How a study tells where it is: to nobody, to a file, to a terminal."""

import io

import pytest
from rich.console import Console

from weft.cli import trainings
from weft.cli.trainings import Trainings


def run(*, quiet: bool = False, lines_at_begin: bool = False) -> Trainings:
    with Trainings(2, quiet=quiet, lines_at_begin=lines_at_begin) as told:
        for seed in (0, 1):
            told.begins(f"gcn, seed {seed}")
            told.heard(seed, 80.0 + seed)
    return told


def test_lines_where_nobody_looks(capsys):
    run()
    assert capsys.readouterr() == ("  seed 0: 80.00\n  seed 1: 81.00\n", "")


def test_a_board_says_what_begins(capsys):
    with Trainings(1, quiet=False, lines_at_begin=True) as told:
        told.begins("gat, seed 0")
    assert capsys.readouterr() == ("  gat, seed 0\n", "")


def test_quiet_is_quiet(capsys):
    run(quiet=True, lines_at_begin=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("lines_at_begin", [False, True])
def test_a_terminal_gets_a_bar_and_no_lines(capsys, monkeypatch, lines_at_begin):
    seen = io.StringIO()
    monkeypatch.setattr(trainings, "Console", lambda **_: Console(file=seen, force_terminal=True, width=100))
    told = run(lines_at_begin=lines_at_begin)
    assert told.progress.finished and "gcn, seed 1" in seen.getvalue() and "last 81.00" in seen.getvalue()
    assert capsys.readouterr() == ("", "")
