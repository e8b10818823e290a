"""`torch.compile` sees through every verb over a prepared structure, without a break, and gives the same numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from weft.ops import Activated, Additive, aggregate, attend, gather, reduce, softmax
from weft.ops.aggregate.extreme import extreme_rows, won_rows
from weft.ops.aggregate.operator import dot_edges, sum_rows
from weft.ops.aggregate.spread import spread_rows, unspread_rows
from weft.ops.attend.operator import ACTIVATED, ADDITIVE, DOT, attend_backward, attend_rows
from weft.ops.dispatch import relation, transpose
from weft.structure import Causal, Chain, Dense, Sparse, Window

X, PAIR, ALONG, EACH = (4, 2, 5), (4, 2), (5, 2, 5), (5, 2)
SEED = torch.tensor(3)


def graph() -> Sparse:
    return Sparse.from_edges([0, 1, 2, 0, 3], [1, 2, 1, 0, 1], 4, weight=torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))


CALLS: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    **{
        f"aggregate {how}": (lambda over, x, how=how: aggregate(x, over, how=how), [X]) for how in ("sum", "mean", "max", "std")
    },
    "aggregate with weights": (lambda over, x, w: aggregate(x, over, weight=w), [X, EACH]),
    "convolution": (lambda over, x: aggregate(x.relu(), over.with_self_loops().normalized("symmetric")), [X]),
    "attend": (lambda over, q, k, v: attend(q, k, v, over), [X, X, X]),
    "attend additive": (lambda over, q, k, v: attend(q, k, v, over, score=Additive()), [PAIR, PAIR, X]),
    "attend activated": (lambda over, q, k, v, a: attend(q, k, v, over, score=Activated(a)), [X, X, X, (2, 5)]),
    "attend with extras": (
        lambda over, q, k, v, b, ek, ev: attend(q, k, v, over, bias=b, edge_k=ek, edge_v=ev, dropout=0.3, seed=SEED),
        [X, X, X, EACH, ALONG, ALONG],
    ),
    "gather": (lambda over, x: gather(x, over, "source").relu(), [X]),
    "reduce": (lambda over, x: reduce(x * 2, over, how="mean"), [EACH]),
    "softmax": (lambda over, x: softmax(x, over), [EACH]),
    "aggregate by rule": (lambda over, x: aggregate(x.flatten(1), Window(4, 1), how="max"), [X]),
    "attend by rule": (lambda over, x: attend(x, x, x, Causal(4)) + attend(x, x, x, Dense(4)), [X]),
}


def results(call: Callable[..., Tensor], over: Sparse, inputs: list[Tensor]) -> list[Tensor]:
    out = call(over, *inputs)
    return [out, *torch.autograd.grad(out.sin().sum(), inputs)]


def compare(call: Callable[..., Tensor], shapes: list[tuple[int, ...]], over: Sparse, *, fullgraph: bool) -> None:
    torch.compiler.reset()
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    expected = results(call, graph(), inputs)
    found = results(torch.compile(call, fullgraph=fullgraph, backend="aot_eager"), over, inputs)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("call", "shapes"), CALLS.values(), ids=CALLS)
def test_a_used_structure_compiles_without_a_break(call, shapes):
    over = graph()
    results(call, over, [torch.randn(shape, requires_grad=True) for shape in shapes])
    compare(call, shapes, over, fullgraph=True)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch's own, after a break
@pytest.mark.parametrize("name", ["aggregate sum", "convolution", "attend", "softmax"])
def test_a_fresh_structure_compiles(name):
    compare(*CALLS[name], graph(), fullgraph=False)


def test_attend_over_a_chain_compiles():
    over = Chain(4)
    call = lambda _, x: attend(x, x, x, over)  # noqa: E731
    call(None, torch.randn(X, requires_grad=True))
    compare(call, [X], graph(), fullgraph=True)


def test_compiled_once_serves_another_graph():
    torch.compiler.reset()
    compiled = torch.compile(lambda x, over: aggregate(x, over), backend="aot_eager")
    x = torch.randn(4, 3)
    for over in (graph(), graph().reversed(), Sparse.from_edges([0, 0], [1, 2], 4)):
        torch.testing.assert_close(compiled(x, over), aggregate(x, over))


# the operators, by torch's own checks


def leaf(*shape: int) -> Tensor:
    return torch.randn(shape, requires_grad=True)


def over() -> list[Tensor | None]:
    return relation(graph().normalized("symmetric"), both_ways=True)


WINNER = torch.tensor([[3, 3, -1], [0, 1, 2], [4, 0, 1], [-1, -1, -1]], dtype=torch.int32)
DOTS = (leaf(*X), leaf(*X), leaf(*X), None, None, None, None, None, over(), DOT, 0.4, 0.0, 0.0)
SUMS = (leaf(*PAIR), leaf(*PAIR), leaf(*X), None, leaf(*EACH), leaf(*EACH), leaf(*ALONG), None, over(), ADDITIVE, 1.0, 0.2, 0.0)
BENT = (leaf(*X), leaf(*X), leaf(*X), leaf(2, 5), None, leaf(*ALONG), None, SEED, over(), ACTIVATED, 1.0, 0.2, 0.3)


def detached(arguments: tuple) -> tuple:
    return tuple(part.detach() if isinstance(part, Tensor) else part for part in arguments)


def on_the_way_back(arguments: tuple, needs: list[bool]) -> tuple:
    arguments = detached(arguments)
    out, lse = attend_rows(*arguments)
    return (*arguments, out, lse, torch.randn(out.shape), needs)


OPERATORS = {
    "sum_rows": (sum_rows, lambda: (leaf(*X), leaf(*EACH), over())),
    "sum_rows without weights": (sum_rows, lambda: (leaf(*X), None, over())),
    "dot_edges": (dot_edges, lambda: (leaf(*X), leaf(*X), over())),
    "extreme_rows": (extreme_rows, lambda: (leaf(4, 3), over(), True)),
    "won_rows": (won_rows, lambda: (leaf(4, 3), WINNER, transpose(over()))),
    "spread_rows": (spread_rows, lambda: (leaf(4, 3), over())),
    "unspread_rows": (unspread_rows, lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), transpose(over()))),
    "attend_rows dot": (attend_rows, lambda: DOTS),
    "attend_rows additive": (attend_rows, lambda: SUMS),
    "attend_rows activated": (attend_rows, lambda: BENT),
    "attend_backward dot": (attend_backward, lambda: on_the_way_back(DOTS, [True, True, True, False, False, False, False])),
    "attend_backward of nothing": (attend_backward, lambda: on_the_way_back(BENT, [False] * 7)),
    "attend_backward of all": (attend_backward, lambda: on_the_way_back(SUMS, [True, True, True, False, True, True, True])),
}


@pytest.mark.parametrize(("operator", "arguments"), OPERATORS.values(), ids=OPERATORS)
def test_operator(operator, arguments):
    torch.library.opcheck(operator.known, arguments())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("operator", [sum_rows, extreme_rows, spread_rows], ids=["sum_rows", "extreme_rows", "spread_rows"])
def test_operators_announce_the_element_type_they_give(operator, dtype):
    x = torch.randn(4, 2, 5, dtype=dtype)
    tensors = relation(graph(), both_ways=False)
    arguments = {
        sum_rows: (x, None, tensors),
        extreme_rows: (x[:, 0].contiguous(), tensors, True),
        spread_rows: (x[:, 0].contiguous(), tensors),
    }
    torch.library.opcheck(operator.known, arguments[operator], test_utils=("test_schema", "test_faketensor"))
