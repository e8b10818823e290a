"""The same bytes every time: over repeated runs and any number of threads, in values and gradients."""

from collections.abc import Iterator

import pytest
import torch

from weft.ops import Activated, Additive, aggregate, attend, gather, reduce, softmax
from weft.ops.parallel import SMALL
from weft.structure import Sparse

NODES, EDGES, HEADS, DIM = 600, 8000, 2, 15
RUNS, THREADS = 20, (1, 2, 4)


@pytest.fixture(scope="module")
def over() -> Sparse:
    """Large enough for threads, with a hub at each end."""
    torch.manual_seed(1)
    source, target = torch.randint(NODES, (2, EDGES))
    target[:1500], source[-1500:] = 7, 9
    return Sparse.from_edges(source, target, NODES, weight=torch.rand(EDGES)).normalized("symmetric")


@pytest.fixture
def same_again() -> Iterator[None]:
    yield
    torch.set_num_threads(2)


def attention(q, k, v, over, **settings):
    return attend(q, k, v, over, dropout=0.2, seed=torch.tensor(5), **settings)


FULL, PAIR, ALONG = (NODES, HEADS, DIM), (NODES, HEADS), (EDGES, HEADS, DIM)
KERNELS = {
    **{
        f"aggregate {how}": (lambda over, x, how=how: aggregate(x, over, how=how), [FULL])
        for how in ("sum", "mean", "max", "min", "std")
    },
    "aggregate with weights": (lambda over, x, w: aggregate(x, over, weight=w), [FULL, (EDGES, HEADS)]),
    "attend dot": (lambda over, q, k, v: attention(q, k, v, over), [FULL, FULL, FULL]),
    "attend additive": (lambda over, q, k, v: attention(q, k, v, over, score=Additive()), [PAIR, PAIR, FULL]),
    "attend activated": (
        lambda over, q, k, v, vector: attention(q, k, v, over, score=Activated(vector)),
        [FULL, FULL, FULL, (HEADS, DIM)],
    ),
    "attend with extras": (
        lambda over, q, k, v, b, ek, ev: attention(q, k, v, over, bias=b, edge_k=ek, edge_v=ev),
        [FULL, FULL, FULL, (EDGES, HEADS), ALONG, ALONG],
    ),
    "gather": (lambda over, x: gather(x, over, "source"), [FULL]),
    "reduce": (lambda over, x: reduce(x, over), [ALONG]),
    "reduce max": (lambda over, x: reduce(x, over, how="max"), [ALONG]),
    "softmax": (lambda over, x: softmax(x, over), [ALONG]),
}


@pytest.mark.parametrize(("call", "shapes"), KERNELS.values(), ids=KERNELS)
@pytest.mark.usefixtures("same_again")
def test_the_same_bytes(over, call, shapes):
    assert EDGES * HEADS * DIM > SMALL
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    towards = torch.randn(call(over, *inputs).shape)
    first: list[torch.Tensor] = []
    for run in range(RUNS):
        torch.set_num_threads(THREADS[run % len(THREADS)])
        out = call(over, *inputs)
        results = [out, *torch.autograd.grad(out, inputs, towards)]
        first = first or results
        for result, expected in zip(results, first, strict=True):
            assert torch.equal(result.view(torch.int32), expected.view(torch.int32)), f"run {run}"
