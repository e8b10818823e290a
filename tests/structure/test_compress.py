"""From lists of edges to rows: sorting, cutting work, and how much memory it takes."""

import subprocess
import sys

import pytest
import torch

from weft.structure import Sparse
from weft.structure.compress import MAX_INT32, Rows, cut_rows, group, index_dtype, inverse, split_heavy


@pytest.mark.parametrize(
    ("key", "rows", "pointer", "order"),
    [
        ([1, 0, 1, 0], 2, [0, 2, 4], [1, 3, 0, 2]),
        ([0, 0, 2], 4, [0, 2, 2, 3, 3], None),
        ([], 2, [0, 0, 0], None),
        ([], 0, [0], None),
        ([1, 1, 1], 2, [0, 0, 3], None),
    ],
)
def test_group_sorts_stably_or_not_at_all(key, rows, pointer, order):
    found, permutation = group(torch.tensor(key, dtype=torch.int64), rows)
    assert found.tolist() == pointer
    assert (None if permutation is None else permutation.tolist()) == order


def test_inverse_undoes():
    order = torch.randperm(20)
    assert inverse(order)[order].tolist() == list(range(20))


@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [((), torch.int32), ((MAX_INT32,), torch.int32), ((3, MAX_INT32 + 1), torch.int64)],
)
def test_index_dtype(sizes, dtype):
    assert index_dtype(*sizes) == dtype


def rows_of(*degrees: int) -> Rows:
    pointer = torch.tensor([0, *degrees]).cumsum(0)
    return Rows(pointer, torch.zeros(int(pointer[-1]), dtype=torch.int32), None)


@pytest.mark.parametrize(
    "degrees", [[], [0], [0, 0, 0], [1] * 200, [5000, *[1] * 300], [0] * 500], ids=lambda d: f"{len(d)} rows"
)
def test_cuts_cover_every_row_once(degrees):
    cuts = cut_rows(rows_of(*degrees)).tolist()
    assert cuts[0] == 0 and cuts[-1] == len(degrees) and cuts == sorted(cuts)


def test_cuts_share_the_work():
    cuts = cut_rows(rows_of(*[3] * 6400))
    assert cuts.diff().tolist() == [100] * 64


def test_heavy_rows_are_split_into_chunks():
    assert split_heavy(rows_of(1, 5, 2, 4), limit=2).tolist() == [
        [1, 1, 3, 3],
        [1, 3, 5, 0],
        [1, 5, 6, 0],
        [3, 8, 10, 2],
        [3, 10, 12, 0],
    ]


def test_share_is_one_over_the_degree():
    assert rows_of(2, 0, 4).share.tolist() == [0.5, 1.0, 0.25]


MEASURE = """
import resource, sys, torch
from weft.structure import Sparse
edges = int(sys.argv[1])
torch.set_num_threads(1)
Sparse.from_edges(torch.randint(9, (99,)), torch.randint(9, (99,)), 9)  # what is loaded once
source, target = torch.randint(edges // 10, (2, edges))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
over = Sparse.from_edges(source, target, edges // 10)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / (16 * edges))
"""


def extra_memory(edges: int) -> float:
    """What `from_edges` takes at its peak beside its input, as a multiple of the input."""
    out = subprocess.run([sys.executable, "-c", MEASURE, str(edges)], capture_output=True, text=True, check=True)
    return float(out.stdout)


def test_the_peak_of_from_edges_is_at_most_three_times_its_input():
    assert 1 + extra_memory(2_000_000) <= 3


@pytest.mark.deep
def test_the_peak_of_from_edges_for_ten_million_edges():
    assert 1 + extra_memory(10_000_000) <= 3


def test_ends_of_a_large_random_graph_come_back():
    source, target = torch.randint(1000, (2, 20_000))
    over = Sparse.from_edges(source, target, 1000)
    assert all(map(torch.equal, over.ends(), (source, target)))
