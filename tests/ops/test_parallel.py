"""Rows shared out among threads: each once, errors brought home, and no thread lost to a fork."""

import subprocess
import sys

import pytest
import torch

from weft.ops.parallel import SMALL, for_pieces, for_rows, take_turns

LARGE = SMALL + 1


@pytest.fixture
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 4], indirect=True)
@pytest.mark.parametrize("work", [1, LARGE], ids=["inline", "threads"])
@pytest.mark.parametrize(
    "cuts", [[0, 0], [0, 5], [0, 3, 3, 10], list(range(0, 650, 10))], ids=lambda cuts: f"{len(cuts) - 1} pieces"
)
def test_every_row_is_done_once(threads, work, cuts):
    rows, pieces = [], []
    for_rows(lambda first, last: rows.extend(range(first, last)), cuts, work)
    for_pieces(lambda first, last, piece: pieces.append((piece, first, last)), cuts, work)
    assert sorted(rows) == list(range(cuts[-1]))
    assert sorted(pieces) == [(piece, *cuts[piece : piece + 2]) for piece in range(len(cuts) - 1)]


def test_small_work_stays_in_one_call():
    calls = []
    for_rows(lambda first, last: calls.append((first, last)), [0, 3, 10], SMALL)
    assert calls == [(0, 10)]


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_an_error_comes_home(helpers):
    def fail(piece: int) -> None:
        if piece == 7:
            raise ValueError("piece 7")

    with pytest.raises(ValueError, match="piece 7"):
        take_turns(fail, 64, helpers)


FORK = """
import os, torch
from weft.ops.parallel import take_turns
done = []
take_turns(done.append, 64, 2)
child = os.fork()
if child == 0:
    take_turns(done.append, 64, 2)
    os._exit(0 if len(done) == 128 else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


def test_a_forked_child_has_threads_of_its_own():
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)
