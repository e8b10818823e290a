"""Sampling: the definition exactly, every set equally likely, and with every edge kept the same answers as the whole graph."""

import gc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from torch import Tensor

from weft import errors, explain
from weft.nn import SAGE
from weft.ops import aggregate
from weft.ops.sample import Sample, marks, reference, sample, take_rows
from weft.structure import Causal, Sparse
from weft.structure.compress import Rows

edges = Sparse.from_edges


def same(found: Sample, expected: Sample) -> bool:
    """Equal in every number and every type."""
    if found.sizes != expected.sizes or found.over.normalization != expected.over.normalization:
        return False
    ours, theirs = parts(found), parts(expected)
    return all(
        a is b or (a is not None and b is not None and a.dtype == b.dtype and torch.equal(a, b))
        for a, b in zip(ours, theirs, strict=True)
    )


def parts(piece: Sample) -> list[Tensor | None]:
    over = piece.over
    return [piece.nodes, over.rows.pointer, over.rows.index, over.weight, over.scale_target, over.scale_source]


def drawn(piece: Sample) -> list[list[int]]:
    """The sources drawn for each node of the piece, in the numbers of the graph."""
    pointer, ends = piece.over.rows.pointer.tolist(), piece.nodes[piece.over.rows.index.long()].tolist()
    return [ends[begin:end] for begin, end in pairwise(pointer)]


PATH = edges([1, 2, 3, 4, 4], [0, 1, 2, 3, 0], 6)  # 4 → 3 → 2 → 1 → 0, and 4 → 0


def test_hops_go_against_the_edges_and_count_what_is_known():
    piece = sample(PATH, [0], (-1, -1), seed=0)
    assert piece.nodes.tolist() == [0, 1, 4, 2] and piece.sizes == (1, 3, 4)
    assert drawn(piece) == [[1, 4], [2], [], []]
    assert piece.over.ends()[0].tolist() == [1, 2, 3] and piece.over.num_targets == piece.over.num_sources == 4


def test_seeds_keep_their_order_and_nodes_their_number():
    piece = sample(PATH, torch.tensor([3, 0, 5], dtype=torch.int32), [-1], seed=9)
    assert piece.nodes.tolist() == [3, 0, 5, 4, 1] and piece.sizes == (3, 5)
    assert drawn(piece) == [[4], [1, 4], [], [], []]


def test_a_node_is_drawn_once_though_many_lead_to_it():
    round_about = edges([1, 0, 0, 0], [0, 1, 0, 0], 2)  # a loop twice, and a circle of two
    piece = sample(round_about, [0], (-1, -1, -1), seed=0)
    assert drawn(piece) == [[1, 0, 0], [0]] and piece.sizes == (1, 2, 2, 2)


def test_nothing_asked_nothing_drawn():
    assert drawn(sample(PATH, [0, 1], (0, 3), seed=0)) == [[], []]
    empty = sample(PATH, [], (3,), seed=0)
    assert empty.sizes == (0, 0) and empty.over.num_targets == empty.over.num_edges == 0
    assert sample(edges([], [], 0), [], (2,), seed=0).nodes.dtype == torch.int64


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Sparse, list[int]]:
    """Small graphs with loops, doubled edges, nodes without any, a hub, weights or not, normalised or not; and seeds."""
    nodes = draw(st.integers(1, 30))
    ends = st.lists(st.integers(0, nodes - 1), min_size=2, max_size=2)
    listed = draw(st.lists(ends, max_size=60))
    listed += [[each, 0] for each in range(nodes)] * draw(st.integers(0, 4))
    weight = torch.rand(len(listed)) + 0.5 if draw(st.booleans()) else None
    over = edges([a for a, _ in listed], [b for _, b in listed], nodes, weight=weight)
    how = draw(st.sampled_from([None, "row", "symmetric"]))
    seeds = draw(st.lists(st.integers(0, nodes - 1), unique=True))
    return over if how is None else over.normalized(how), seeds


FANOUTS = st.lists(st.one_of(st.integers(-1, 5), st.integers(30, 40)), min_size=1, max_size=3)


@given(graph=graphs(), fanouts=FANOUTS, seed=st.integers(0, 2**70))
def test_the_definition(graph, fanouts, seed):
    over, seeds = graph
    piece = sample(over, seeds, fanouts, seed=seed)
    assert same(piece, reference.sample(over, torch.tensor(seeds, dtype=torch.int64), fanouts, seed=seed & reference.MASK))


@given(graph=graphs(), fanouts=FANOUTS, seed=st.integers(0, 100))
def test_what_is_drawn_is_there_and_no_more_than_asked(graph, fanouts, seed):
    over, seeds = graph
    piece = sample(over, seeds, fanouts, seed=seed)
    source, target = over.ends()
    there = {node: Counter(source[target == node].tolist()) for node in range(over.num_targets)}
    hop = [-1, *(np.repeat(range(len(piece.sizes)), np.diff([0, *piece.sizes])).tolist())][1:]
    assert piece.nodes[: len(seeds)].tolist() == seeds and piece.nodes.unique().numel() == len(piece.nodes)
    for node, sources, met in zip(piece.nodes.tolist(), drawn(piece), hop, strict=True):
        most = 0 if met == len(fanouts) else fanouts[met]
        degree = there[node].total()
        assert len(sources) == (degree if most == -1 else min(degree, most))
        assert Counter(sources) <= there[node], "an edge that is not there, or twice"


def test_large_fan_outs_are_hashed_and_the_same():
    over = edges(torch.arange(3000) % 2500, torch.zeros(3000, dtype=torch.long), 2500, weight=torch.rand(3000))
    for fanout in (31, 32, 33, 63, 64, 65, 1000, 2999, 3000, 2**70):
        assert same(sample(over, [0], [fanout], seed=3), reference.sample(over, torch.tensor([0]), [fanout], seed=3))


def test_wide_numbers_are_the_same():
    rows = PATH.rows
    wide = Sparse(num_targets=6, num_sources=6, rows=Rows(rows.pointer, rows.index.long(), None), weight=torch.arange(5.0))
    piece = sample(wide, torch.tensor([0]), (-1, 1, 1), seed=2)
    assert piece.over.rows.index.dtype == torch.int64
    assert same(piece, reference.sample(wide, torch.tensor([0]), (-1, 1, 1), seed=2))


def test_another_seed_draws_otherwise():
    hub = edges(range(1, 101), [0] * 100, 101)
    assert len({tuple(sample(hub, [0], [5], seed=seed).nodes.tolist()) for seed in range(10)}) == 10


def uniform(observed: np.ndarray, spread: float = 1.0) -> float:
    """The chance of a chi-square this large if all are equally likely; `spread` shrinks the variance of each."""
    expected = observed.mean()
    return float(chi2.sf(((observed - expected) ** 2).sum() / (expected * spread), len(observed) - 1))


def test_every_set_is_equally_likely_over_nodes():
    nodes, degree, fanout = 30_000, 9, 3
    over = edges(torch.arange(degree).repeat(nodes), torch.arange(nodes).repeat_interleave(degree), nodes)
    rows = sample(over, torch.arange(nodes), [fanout], seed=1).over.rows.index.reshape(nodes, fanout)
    found = Counter(tuple(sorted(row)) for row in rows.tolist())
    assert uniform(np.array([found[each] for each in combinations(range(degree), fanout)])) > 1e-3


def test_every_set_is_equally_likely_over_seeds():
    over = edges(range(7), [0] * 7, 7)
    found = Counter(tuple(sorted(drawn(sample(over, [0], [2], seed=seed))[0])) for seed in range(4000))
    assert uniform(np.array([found[each] for each in combinations(range(7), 2)])) > 1e-3


@pytest.mark.parametrize(("degree", "fanout"), [(100, 15), (60, 40), (200, 33)])
@pytest.mark.parametrize("hop", [0, 1])
def test_every_edge_is_equally_likely(degree, fanout, hop):
    nodes = 4000
    source, target = torch.arange(degree).repeat(nodes), torch.arange(degree, degree + nodes).repeat_interleave(degree)
    start = torch.arange(nodes) + degree
    over = edges(torch.cat([source, start]), torch.cat([target, start + nodes]), degree + 2 * nodes)
    piece = sample(over, start + hop * nodes, (-1,) * hop + (fanout,), seed=4)
    ends = piece.nodes[piece.over.rows.index.long()]
    observed = torch.bincount(ends[ends < degree], minlength=degree).numpy()
    assert observed.sum() == nodes * fanout
    assert uniform(observed, (degree - fanout) / (degree - 1)) > 1e-3


def test_the_law_of_sampling():
    """Two layers on a sample of two hops that keeps every edge give the seeds what the whole graph gives them."""
    over = edges(*torch.randint(200, (2, 1200)), 200, weight=torch.rand(1200))
    x, seeds = torch.randn(200, 6, dtype=torch.float64), torch.randperm(200)[:9]
    first, second = SAGE(6, 5).double(), SAGE(5, 4).double()
    piece = sample(over, seeds, (-1, -1), seed=0)
    whole = second(first(x, over).relu(), over)[seeds]
    there = second(first(take_rows(x, piece.nodes), piece.over).relu(), piece.over)[: len(seeds)]
    assert len(piece.nodes) < 200 and torch.allclose(there, whole, atol=1e-12)


@pytest.mark.parametrize("how", ["row", "symmetric"])
def test_factors_are_those_of_the_whole_graph(how):
    over = edges(*torch.randint(100, (2, 700)), 100, weight=torch.rand(700)).with_self_loops().normalized(how)
    x, seeds = torch.randn(100, 3), torch.arange(4)
    piece = sample(over, seeds, (-1, -1), seed=0)
    twice = aggregate(aggregate(x[piece.nodes], piece.over), piece.over)[:4]
    assert piece.over.normalization == how and torch.allclose(twice, aggregate(aggregate(x, over), over)[:4], atol=1e-6)


def test_gradients_flow_through_a_sample(agree):
    over = edges(*torch.randint(50, (2, 400)), 50, weight=torch.rand(400))
    piece = sample(over, range(5), (3, 2), seed=0)
    source, target = piece.over.ends()
    dense = torch.zeros(len(piece.nodes), len(piece.nodes), dtype=torch.float64)
    dense.index_put_((target, source), piece.over.weight.double(), accumulate=True)
    agree(lambda x: aggregate(x, piece.over), lambda x: dense @ x, {"x": torch.randn(len(piece.nodes), 4)})


def test_the_same_on_any_number_of_threads():
    over = edges(*torch.randint(2000, (2, 30_000)), 2000)
    seeds = [torch.randperm(2000)[:50] for _ in range(24)]
    expected = [sample(over, some, (5, 4, 40), seed=number) for number, some in enumerate(seeds)]
    for threads in (1, 2, 4):
        with ThreadPoolExecutor(threads) as executor:
            found = executor.map(lambda job: sample(over, job[1], (5, 4, 40), seed=job[0]), enumerate(seeds))
            assert all(same(a, b) for a, b in zip(found, expected, strict=True))


def test_marks_are_used_again_and_go_with_their_graph():
    gc.collect()
    before = len(marks._free)
    over = edges([1, 2], [0, 1], 3)
    for _ in range(3):
        sample(over, [0], (1,), seed=0)
        with pytest.raises(errors.WeftValueError):
            sample(over, [2, 2], (1,), seed=0)
    assert [len(each.marks) for each in marks._free[over]] == [3] and marks._free[over][0].turn == 6
    del over
    gc.collect()
    assert len(marks._free) == before


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.uint8])
@pytest.mark.parametrize("shape", [(7,), (7, 1), (7, 3), (7, 16), (7, 2, 5), (7, 0)], ids=str)
def test_rows_are_picked(dtype, shape):
    x = (torch.randn(shape) * 100).to(dtype)
    for where in (torch.tensor([6, 0, 0, 3]), torch.tensor([], dtype=torch.int64), torch.tensor([5], dtype=torch.int32)):
        assert torch.equal(take_rows(x, where), x[where.long()])


def test_rows_of_columns_and_of_what_learns_are_picked():
    x = torch.randn(4, 6, requires_grad=True)
    assert torch.equal(take_rows(x.T, torch.tensor([5, 1])), x.T[[5, 1]]) and not take_rows(x, torch.tensor([0])).requires_grad
    odd = torch.arange(25.0)[1:].reshape(6, 4)  # rows of 16 bytes that begin 4 bytes late
    assert torch.equal(take_rows(odd, torch.tensor([2])), odd[[2]])


def test_explain_tells_of_it():
    with explain() as plan:
        sample(PATH, [0], (1,), seed=0)
    assert str(plan) == "sample → cpu\n    gpu: sampling takes place on a CPU"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sample(PATH, [0, 9], (1,), seed=0), errors.WeftValueError, ["seeds[1] is 9", "0 … 5"]),
        (lambda: sample(PATH, [0, 1, -1], (1,), seed=0), errors.WeftValueError, ["seeds[2] is -1", "0 … 5"]),
        (lambda: sample(PATH, [3, 0, 3], (1,), seed=0), errors.WeftValueError, ["seeds[2] is 3", "seeds[0]", "seeds.unique()"]),
        (lambda: sample(PATH, [0.5], (1,), seed=0), errors.DtypeError, ["seeds", "0.5", "seeds.long()"]),
        (lambda: sample(PATH, 3, (1,), seed=0), errors.WeftValueError, ["seeds", "one axis", "()"]),
        (lambda: sample(PATH, torch.tensor([0], device="meta"), (1,), seed=0), errors.DeviceError, ["seeds are on meta"]),
        (
            lambda: sample(PATH.to("meta"), [0], (1,), seed=0),
            errors.DeviceError,
            ["the structure is on meta", "over.to('cpu')"],
        ),
        (lambda: sample(PATH, [0], (1, -2), seed=0), errors.WeftValueError, ["fanouts[1]", "at least -1", "-2"]),
        (lambda: sample(PATH, [0], (1.5,), seed=0), errors.WeftTypeError, ["fanouts[0]", "1.5", "float"]),
        (lambda: sample(PATH, [0], (), seed=0), errors.WeftValueError, ["fanouts is empty", "(15, 10)", "-1"]),
        (lambda: sample(PATH, [0], 15, seed=0), errors.WeftTypeError, ["fanouts", "one per hop", "15"]),
        (lambda: sample(PATH, [0], (1,), seed=0.5), errors.WeftTypeError, ["seed", "0.5"]),
        (lambda: sample(PATH, [0], (1,), seed=-1), errors.WeftValueError, ["seed", "at least 0", "-1"]),
        (lambda: sample(Causal(3), [0], (1,), seed=0), errors.WeftTypeError, ["over", "Sparse", "Causal"]),
        (lambda: sample(edges([4], [0], 2, 5), [0], (1,), seed=0), errors.StructureError, ["Sparse(5 → 2", "one set of nodes"]),
    ],
)
def test_is_refused_and_named(call, error, words):
    with pytest.raises(errors.WeftError) as caught:
        call()
    assert type(caught.value) is error
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
    assert str(caught.value).endswith((".", ")"))
