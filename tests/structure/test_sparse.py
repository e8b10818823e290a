"""Explicit edges: what goes in comes out, and every view of a structure shows the same edges."""

import copy
import pickle

import pytest
import torch
from torch import Tensor

from weft.structure import Sparse

SOURCE = [0, 2, 1, 0, 2, 2]
TARGET = [1, 0, 1, 2, 0, 2]  # a pair twice, two self-loops, not sorted
WEIGHT = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

GRAPHS = {
    "unsorted": (SOURCE, TARGET, 3, 3),
    "sorted": ([0, 1, 2, 0], [0, 0, 1, 2], 3, 3),
    "sorted by source": ([0, 0, 1, 2], [2, 1, 0, 0], 3, 3),
    "rectangular": ([4, 0, 3, 3], [1, 1, 0, 0], 2, 5),
    "isolated": ([3, 3], [5, 0], 7, 7),
    "no edges": ([], [], 3, 2),
    "nothing": ([], [], 0, 0),
}
graphs = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def make(graph: tuple[list[int], list[int], int, int], weighted: bool = True) -> Sparse:
    source, target, num_targets, num_sources = graph
    weight = torch.arange(1.0, len(source) + 1) if weighted else None
    return Sparse.from_edges(source, target, num_targets, num_sources, weight=weight)


def edges(over: Sparse) -> list[tuple[int, int]]:
    source, target = over.ends()
    return list(zip(source.tolist(), target.tolist(), strict=True))


def matrix(over: Sparse) -> Tensor:
    """The weights as a (targets, sources) matrix of float64."""
    source, target = over.rows.index.long(), over.rows.row.long()
    weight = over.stored_weight()
    values = torch.ones(over.num_edges) if weight is None else weight
    dense = torch.zeros(over.num_targets, over.num_sources, dtype=torch.float64)
    return dense.index_put((target, source), values.double(), accumulate=True)


@graphs
def test_given_order_comes_back(graph):
    assert edges(make(graph)) == list(zip(graph[0], graph[1], strict=True))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.int64])
def test_any_whole_number_type_gives_the_same_edges(dtype):
    over = Sparse.from_edges(torch.tensor(SOURCE, dtype=dtype), torch.tensor(TARGET, dtype=dtype), 3)
    assert edges(over) == list(zip(SOURCE, TARGET, strict=True))
    assert over.rows.index.dtype == torch.int32 and over.rows.pointer.dtype == torch.int64


def test_lists_arrays_and_tensors_are_accepted():
    source, target = torch.tensor(SOURCE), torch.tensor(TARGET)
    for make_index in (torch.Tensor.tolist, torch.Tensor.numpy, lambda x: x):
        over = Sparse.from_edges(make_index(source), make_index(target), source.max() + 1)
        assert over.num_targets == 3 and over.num_edges == 6


def test_rows_hold_the_sources_of_each_target_in_given_order():
    over = Sparse.from_edges(SOURCE, TARGET, 3)
    assert over.rows.pointer.tolist() == [0, 2, 4, 6]
    assert over.rows.index.tolist() == [2, 2, 0, 1, 0, 2]
    assert over.edge is not None and over.edge.tolist() == [1, 4, 0, 2, 3, 5]


def test_a_sorted_list_needs_no_order():
    assert Sparse.from_edges([0, 1, 2], [0, 0, 1], 3).edge is None


def test_inputs_stay_as_they_are():
    source, target, weight = torch.tensor(SOURCE), torch.tensor(TARGET), WEIGHT.clone()
    over = Sparse.from_edges(source, target, 3, weight=weight).with_self_loops().normalized("symmetric")
    over.columns, over.incidence, over.storage, over.reversed()
    assert source.tolist() == SOURCE and target.tolist() == TARGET and torch.equal(weight, WEIGHT)


@graphs
def test_columns_are_the_same_edges_by_source(graph):
    over = make(graph)
    source, target = over.rows.index.long(), over.rows.row.long()
    place = torch.arange(over.num_edges) if over.columns.position is None else over.columns.position.long()
    assert torch.equal(over.columns.row.long(), source[place])
    assert torch.equal(over.columns.index.long(), target[place])
    assert place.sort().values.tolist() == list(range(over.num_edges))


@graphs
def test_reversed_swaps_the_ends_and_keeps_the_order(graph):
    over = make(graph)
    back = over.reversed()
    assert edges(back) == [(target, source) for source, target in edges(over)]
    assert torch.equal(matrix(back), matrix(over).T)
    assert back.reversed() is over


@graphs
def test_reversed_columns_are_the_rows(graph):
    back = make(graph).reversed()
    fresh = Sparse.from_edges(*back.ends(), back.num_targets, back.num_sources)
    assert torch.equal(back.columns.pointer, fresh.columns.pointer)
    where = torch.arange(back.num_edges) if back.columns.position is None else back.columns.position.long()
    assert torch.equal(back.columns.index, back.rows.row[where])


@graphs
def test_incidence_leads_each_given_edge_to_its_target(graph):
    over = make(graph)
    assert sorted(edges(over.incidence)) == list(enumerate(graph[1]))
    assert over.incidence.columns.index.tolist() == graph[1]


@graphs
def test_storage_leads_each_given_edge_to_where_it_is_stored(graph):
    over = make(graph)
    given = list(range(over.num_edges)) if over.edge is None else over.edge.tolist()
    assert edges(over.storage) == [(edge, place) for place, edge in enumerate(given)]
    places = list(range(over.num_edges)) if over.undo_edge is None else over.undo_edge.tolist()
    assert over.storage.columns.index.tolist() == places


def test_weights_follow_their_edges():
    over = Sparse.from_edges(SOURCE, TARGET, 3, weight=WEIGHT)
    assert matrix(over).tolist() == [[0, 0, 7], [1, 3, 0], [4, 0, 6]]


def test_self_loops_are_added_where_they_lack_and_numbered_last():
    over = Sparse.from_edges(SOURCE, TARGET, 3).with_self_loops()
    assert edges(over) == [*zip(SOURCE, TARGET, strict=True), (0, 0)]


def test_self_loops_that_exist_keep_their_weight():
    over = Sparse.from_edges(SOURCE, TARGET, 3, weight=WEIGHT).with_self_loops(weight=0.5)
    assert matrix(over).diagonal().tolist() == [0.5, 3.0, 6.0]


def test_self_loops_with_a_weight_make_the_graph_weighted():
    assert matrix(Sparse.from_edges([0], [1], 2).with_self_loops(weight=0.5)).tolist() == [[0.5, 0], [1, 0.5]]


@pytest.mark.parametrize("graph", [GRAPHS[name] for name in ("unsorted", "sorted", "isolated", "nothing")])
def test_self_loops_are_idempotent_and_cached(graph):
    over = make(graph)
    once = over.with_self_loops()
    assert once.with_self_loops() is once
    assert over.with_self_loops() is once
    assert torch.equal(once.rows.index[once.rows.row == once.rows.index].unique().long(), torch.arange(once.num_targets))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("how", ["symmetric", "row"])
@graphs
def test_normalized_is_the_dense_computation(graph, how, weighted):
    over = make(graph, weighted)
    dense = matrix(over)
    square = over.num_targets == over.num_sources
    reaching, leaving = dense.sum(1), dense.sum(1) if square else dense.sum(0)
    if how == "row":
        expected = dense / reaching.where(reaching > 0, 1.0)[:, None]
    else:
        expected = dense / (reaching.where(reaching > 0, 1.0)[:, None] * leaving.where(leaving > 0, 1.0)).sqrt()
        expected *= (reaching > 0)[:, None] & (leaving > 0)
    torch.testing.assert_close(matrix(over.normalized(how)), expected, rtol=1e-6, atol=1e-7)


def test_normalized_knows_the_kipf_and_welling_example():
    over = Sparse.from_edges([0, 1, 1, 2], [1, 0, 2, 1], 3).with_self_loops().normalized("symmetric")
    half, third, cross = 1 / 2, 1 / 3, 1 / 6**0.5
    expected = torch.tensor([[half, cross, 0], [cross, third, cross], [0, cross, half]], dtype=torch.float64)
    torch.testing.assert_close(matrix(over), expected, rtol=1e-6, atol=0)


def test_normalized_keeps_weights_of_float64_exact():
    weight = torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64)
    over = Sparse.from_edges([0, 1, 2], [0, 0, 0], 1, 3, weight=weight * 3).normalized("row")
    torch.testing.assert_close(over.stored_weight(), weight, rtol=1e-15, atol=0)


def test_normalized_is_idempotent_and_cached():
    over = make(GRAPHS["unsorted"])
    once = over.normalized("symmetric")
    assert once.normalized("symmetric") is once and over.normalized("symmetric") is once


def test_normalized_shares_what_is_known():
    over = make(GRAPHS["unsorted"])
    columns = over.columns
    assert over.normalized("row").columns is columns


@graphs
def test_reversed_of_a_normalised_graph_is_its_transpose(graph):
    over = make(graph).normalized("symmetric")
    torch.testing.assert_close(matrix(over.reversed()), matrix(over).T)


def test_to_the_same_device_is_the_same_structure():
    over = make(GRAPHS["unsorted"])
    assert over.to("cpu") is over


def test_to_another_device_takes_everything_along():
    over = Sparse.from_edges(SOURCE, TARGET, 3, weight=WEIGHT).normalized("symmetric").to("meta")
    parts = (over.rows.pointer, over.rows.index, over.edge, over.weight, over.scale_target, over.scale_source)
    assert all(part is not None and part.is_meta for part in parts)
    assert over.normalization == "symmetric" and over.device.type == "meta"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda over: pickle.loads(pickle.dumps(over))], ids=["copied", "pickled"])
def test_a_used_structure_can_be(again):
    over = make(GRAPHS["unsorted"])
    over.columns, over.incidence, over.reversed()
    other = again(over)
    assert edges(other) == edges(over) and edges(other.reversed()) == edges(over.reversed())


@pytest.mark.parametrize(
    ("over", "text"),
    [
        (Sparse.from_edges([0], [1], 2), "Sparse(2 → 2, 1 edges)"),
        (Sparse.from_edges([0], [1], 2, 3), "Sparse(3 → 2, 1 edges)"),
        (
            Sparse.from_edges([0], [1], 2, weight=torch.ones(1)).normalized("row"),
            "Sparse(2 → 2, 1 edges, weighted, row-normalised)",
        ),
    ],
)
def test_repr(over, text):
    assert repr(over) == text
