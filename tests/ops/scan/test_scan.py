"""The law of scan: fused, parallel and level-wise paths equal one step after the other; gradients; orders; refusals."""

import pytest
import torch
from torch import Tensor

from weft import explain, scan
from weft.errors import ShapeError, StructureError, WeftTypeError
from weft.ops import Gates, GRUStep, LinearStep, LSTMStep, RNNStep
from weft.ops.scan.linear import by_doubling
from weft.ops.scan.reference import scan_chain
from weft.structure import Chain, Sparse, Tree

LENGTHS = [3, 0, 6, 5]
CHAINS = {
    "forward": Chain(6),
    "reverse": Chain(6, reverse=True),
    "lengths": Chain(6, lengths=LENGTHS),
    "lengths reverse": Chain(6, lengths=LENGTHS, reverse=True),
    "empty": Chain(0),
}
GATED = {"RNN": (RNNStep, 1), "GRU": (GRUStep, 3), "LSTM": (LSTMStep, 4)}
along = pytest.mark.parametrize("over", CHAINS.values(), ids=CHAINS)
gated = pytest.mark.parametrize(("kind", "gates"), GATED.values(), ids=GATED)


def step_of(kind, gates: int, bias: bool = True):
    torch.manual_seed(0)
    shapes = [(gates * 5, 4), (gates * 5, 5), *([(gates * 5,), (gates * 5,)] if bias else [])]
    return kind(Gates(*[torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]))


def assert_same_with_gradients(found: tuple[Tensor, ...], expected: tuple[Tensor, ...], inputs: list[Tensor]) -> None:
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
    a, b = (
        torch.autograd.grad(sum(part.sin().sum() for part in parts), inputs, allow_unused=True) for parts in (found, expected)
    )
    for one, other, x in zip(a, b, inputs, strict=True):
        torch.testing.assert_close(*(torch.zeros_like(x) if grad is None else grad for grad in (one, other)))


@gated
@along
@pytest.mark.parametrize("bias", [True, False])
def test_fused_equals_one_step_after_the_other(kind, gates, over, bias):
    step = step_of(kind, gates, bias)
    x = torch.randn(4, over.length, 4, dtype=torch.float64, requires_grad=True)
    state = tuple(torch.randn(4, 5, dtype=torch.float64, requires_grad=True) for _ in step.widths)
    found, expected = scan(step, x, over, state=state), scan_chain(step, x, over, state)
    assert_same_with_gradients((found[0], *found[1]), (expected[0], *expected[1]), [x, *state, *step.gates.flat()])


@along
def test_linear_equals_one_step_after_the_other(over):
    shape = (4, over.length, 3)
    x, decay = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(2))
    start = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    step = LinearStep(decay)
    found = scan(step, x, over, state=(start,))
    expected = scan_chain(step, torch.cat([x, decay], -1), over, (start,))
    assert_same_with_gradients((found[0], *found[1]), (expected[0], *expected[1]), [x, decay, start])


def test_linear_derivatives_of_both_orders():
    x, decay = (torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    start = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)

    def out(x, decay, start):
        return scan(LinearStep(decay), x, Chain(4), state=(start,))[0]

    assert torch.autograd.gradcheck(out, (x, decay, start))
    assert torch.autograd.gradgradcheck(out, (x, decay, start))


@pytest.mark.parametrize("length", [0, 1, 2, 7, 64])
def test_doubling_equals_the_kernel(length):
    x, decay, start = torch.randn(2, length, 3), torch.rand(2, length, 3), torch.randn(2, 3)
    torch.testing.assert_close(by_doubling(x, decay, start), scan(LinearStep(decay), x, Chain(length), state=(start,))[0])


def test_a_linear_scan_is_a_sum_of_the_past_with_decaying_weights():
    x = torch.randn(5, 2, dtype=torch.float64)
    powers = torch.tensor([[0.5 ** (t - s) if s <= t else 0.0 for s in range(5)] for t in range(5)], dtype=torch.float64)
    torch.testing.assert_close(scan(LinearStep(torch.full_like(x, 0.5)), x, Chain(5))[0], powers @ x)


@gated
def test_gradients_through_a_tree(kind, gates):
    step, tree = step_of(kind, gates), Tree([2, 2, 4, 4, 5, -1])
    x = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: scan(step, x, tree)[0], (x,))


@gated
def test_an_acyclic_graph_is_computed_node_by_node(kind, gates):
    """A diamond 0 → 1, 0 → 2, 1 → 3, 2 → 3, each node by hand from the states of its predecessors."""
    step, x = step_of(kind, gates), torch.randn(4, 4, dtype=torch.float64)
    over = Sparse.from_edges([0, 0, 1, 2], [1, 2, 3, 3], 4).topological()
    states = {}
    for node, before in ((0, []), (1, [0]), (2, [0]), (3, [1, 2])):
        parts = tuple(
            torch.stack([states[b][part] for b in before]) if before else x.new_zeros(0, width)
            for part, width in enumerate(step.widths)
        )
        relation = Sparse.from_edges(list(range(len(before))), [0] * len(before), 1, len(before))
        states[node] = tuple(part[0] for part in step(x[node][None], parts, relation))
    torch.testing.assert_close(scan(step, x, over)[0], torch.stack([states[node][0] for node in range(4)]))


def test_which_kernel_ran():
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    with explain() as plan:
        scan(step_of(LSTMStep, 4), x, Chain(3))
        scan(LinearStep(x), x, Chain(3))
        scan(step_of(LSTMStep, 4), x[0], Tree([1, 2, -1]))
    assert [choice.kernel for choice in plan.choices if choice.verb.startswith("scan")] == [
        "torch's fused kernel",
        "parallel",
        "levels",
    ]


BAD = {
    "no order": (
        lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), Sparse.from_edges([0], [1], 3)),
        StructureError,
        "has none",
    ),
    "not a structure": (lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), [0, 1]), StructureError, "list"),
    "length": (lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), Chain(4)), ShapeError, r"\(…, 4, dim\)"),
    "items": (lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), Chain(3, lengths=[1, 2])), ShapeError, "2 lengths"),
    "nodes": (lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), Tree([1, -1])), ShapeError, "2 nodes"),
    "decay": (lambda: scan(LinearStep(torch.ones(2, 1)), torch.ones(3, 1), Chain(3)), ShapeError, "decay"),
    "state": (
        lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1), Chain(3), state=(torch.ones(2),)),
        ShapeError,
        r"\(2,\)",
    ),
    "state of a tree": (
        lambda: scan(LinearStep(torch.ones(2, 1)), torch.ones(2, 1), Tree([1, -1]), state=(torch.ones(1),)),
        WeftTypeError,
        "only a Chain",
    ),
    "whole numbers": (lambda: scan(LinearStep(torch.ones(3, 1)), torch.ones(3, 1).long(), Chain(3)), WeftTypeError, "int64"),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
