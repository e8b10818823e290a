"""Orders: levels of trees and acyclic graphs, and cycles called by their names."""

import re
from itertools import pairwise

import pytest
import torch

from weft.errors import OrderError
from weft.structure import Acyclic, Sparse, Tree

DIAMOND = Sparse.from_edges([0, 0, 1, 2], [1, 2, 3, 3], 4)


@pytest.mark.parametrize(
    ("over", "levels"),
    [
        (DIAMOND, [[0], [1, 2], [3]]),
        (Sparse.from_edges([0, 1, 0], [1, 2, 2], 3), [[0], [1], [2]]),  # the longest path counts
        (Sparse.from_edges([0, 0], [1, 1], 2), [[0], [1]]),  # one pair twice
        (Sparse.from_edges([], [], 3), [[0, 1, 2]]),
        (Sparse.from_edges([], [], 0), []),
        (Sparse.from_edges([2, 1], [1, 0], 3), [[2], [1], [0]]),
    ],
)
def test_levels(over, levels):
    order = over.topological()
    assert [level.tolist() for level in order.order()] == levels
    assert order.to_sparse() is over


def test_random_graphs_are_ordered_predecessors_first():
    for nodes in (1, 5, 40):
        late, early = torch.randint(nodes, (2, 3 * nodes)).sort(0, descending=True).values
        forward = late > early
        over = Sparse.from_edges(early[forward], late[forward], nodes)
        level = torch.empty(nodes, dtype=torch.int64)
        for number, members in enumerate(over.topological().order()):
            level[members] = number
        source, target = over.ends()
        assert bool((level[source] < level[target]).all())
        reached = torch.zeros(nodes, dtype=torch.int64).scatter_reduce(0, target, level[source] + 1, "amax")
        assert torch.equal(level, reached), "each as early as it can be"


@pytest.mark.parametrize(
    ("source", "target", "nodes", "cycle"),
    [
        ([0], [0], 1, "0 → 0"),
        ([0, 1], [1, 0], 2, "0 → 1 → 0"),
        ([0, 1, 2, 3], [1, 2, 3, 1], 5, "1 → 2 → 3 → 1"),
        ([3, 1, 1], [1, 3, 0], 4, "1 → 3 → 1"),  # node 0 waits for the cycle and is not of it
    ],
)
def test_a_cycle_is_named_in_the_direction_of_its_edges(source, target, nodes, cycle):
    with pytest.raises(OrderError) as caught:
        Sparse.from_edges(source, target, nodes).topological()
    named = re.search(r"this one has (.*)\.", str(caught.value))
    assert named is not None
    steps = [int(node) for node in named[1].split(" → ")]
    assert set(pairwise(steps)) <= set(zip(source, target, strict=True)), "every step is an edge"
    assert steps[0] == steps[-1] and sorted(steps[1:]) == sorted(int(node) for node in cycle.split(" → ")[1:])


@pytest.mark.parametrize(
    ("parent", "levels"),
    [
        ([2, 2, -1], [[0, 1], [2]]),
        ([-1, 0, 1], [[2], [1], [0]]),
        ([-1, -1], [[0, 1]]),
        ([3, 3, 4, 4, -1], [[0, 1, 2], [3], [4]]),
        ([], []),
    ],
    ids=str,
)
def test_tree(parent, levels):
    over = Tree(parent)
    assert [level.tolist() for level in over.order()] == levels
    child = [node for node, above in enumerate(parent) if above >= 0]
    source, target = over.to_sparse().ends()
    assert source.tolist() == child and target.tolist() == [parent[node] for node in child]


def test_steps_hold_the_edges_that_reach_each_level():
    steps = [(level.tolist(), [end.tolist() for end in over.ends()]) for level, over in DIAMOND.topological().steps]
    assert steps == [([0], [[], []]), ([1, 2], [[0, 0], [0, 1]]), ([3], [[1, 2], [0, 0]])]


def test_to_and_repr():
    assert repr(DIAMOND.topological().to("cpu")) == "Acyclic(Sparse(4 → 4, 4 edges), 3 levels)"
    assert repr(Tree([2, 2, -1]).to("cpu")) == "Tree(3 nodes, 2 levels)"
    assert isinstance(DIAMOND.topological(), Acyclic)
