"""The law, where a rule stands for the edges: a verb is what the reference makes of the edges, were they listed."""

import pytest
import torch
from torch import Tensor

from weft.ops import Activated, Additive, Dot, aggregate, attend
from weft.ops.aggregate import reference as plain
from weft.ops.attend import reference as plain_attend
from weft.structure import Causal, Chain, Dense, Grid, Regular, Sparse, Window

hows = pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "std"])
scores = pytest.mark.parametrize("score", ["dot", "additive", "activated"])
full = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
half = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])

REGULAR = [
    Dense(5),
    Dense(3, 5),
    Dense(5, lengths=[4, 0]),
    Dense(3, 5, lengths=[5, 2]),
    Causal(5),
    Causal(2, 5),
    Causal(1, 4),
    Causal(5, lengths=[3, 5]),
    Causal(1, 4, lengths=[1, 3]),
    Window(6, 2, 1),
    Window(4, 9, 9),
    Window(6, 2, lengths=[6, 3]),
    Window(300, 3, 2),
    Window(300, 40, lengths=[300, 70]),
    Window(450, 9, 150),
    Chain(5),
    Chain(5, reverse=True),
    Chain(5, lengths=[1, 4]),
    Grid((5,)),
    Grid((3, 4)),
    Grid((3, 4), radius=2),
    Grid((2, 3, 2)),
    Dense(0),
    Chain(1),
]
regular = pytest.mark.parametrize("over", REGULAR, ids=repr)


def draw(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def score_of(name: str, vector: Tensor | None) -> Dot | Additive | Activated:
    return {"dot": Dot(), "additive": Additive()}[name] if vector is None else Activated(vector)


def by_edges(compute, over: Regular, *batched: Tensor) -> Tensor:
    """A batch as its edges see it: block by block where lengths differ, item by item otherwise."""
    sparse = over.to_sparse()
    if over.lengths is not None:
        return compute(*(x.flatten(0, 1) for x in batched), sparse).unflatten(0, (len(over.lengths), over.num_targets))
    return torch.stack([compute(*items, sparse) for items in zip(*batched, strict=True)])


@full
@hows
@regular
def test_aggregate_by_rule(agree, over, how, dtype):
    agree(
        lambda x: aggregate(x, over, how=how),
        lambda x: by_edges(lambda item, sparse: plain.aggregate(item, sparse, how), over, x),
        {"x": draw(2, over.num_sources, 3, dtype=dtype)},
    )


@hows
@regular
def test_aggregate_by_rule_gives_ties_to_the_first(agree, over, how):
    agree(
        lambda x: aggregate(x, over, how=how),
        lambda x: by_edges(lambda item, sparse: plain.aggregate(item, sparse, how), over, x),
        {"x": torch.randint(3, (2, over.num_sources, 2)).double()},
    )


@half
@hows
@pytest.mark.parametrize("over", [over for over in REGULAR if over.num_sources > 1], ids=repr)
def test_aggregate_by_rule_in_half_precision(agree, over, how, dtype):
    agree(
        lambda x: aggregate(x, over, how=how),
        lambda x: by_edges(lambda item, sparse: plain.aggregate(item, sparse, how), over, x),
        {"x": draw(2, over.num_sources, 3, dtype=dtype)},
    )


def hold_attend_by_rule(agree, over: Regular, score: str, dtype: torch.dtype, bias: str) -> None:
    key = (2,) if score == "additive" else (2, 5)
    shapes = {"q": (2, over.num_targets, *key), "k": (2, over.num_sources, *key), "v": (2, over.num_sources, 2, 3)}
    shapes |= {"vector": key} if score == "activated" else {}
    pairs = (over.num_targets, over.num_sources)
    shapes |= {"plain": {}, "bias": {"bias": (2, *pairs)}, "bias per item": {"bias": (2, 2, *pairs)}}[bias]
    inputs = {name: draw(*shape, dtype=dtype) for name, shape in shapes.items()}

    def slow(q: Tensor, k: Tensor, v: Tensor, vector: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        whole = None if bias is None else bias.expand(2, 2, *pairs)
        turn = iter(range(2))

        def compute(q: Tensor, k: Tensor, v: Tensor, sparse: Sparse) -> Tensor:
            source, target = sparse.ends()
            item = target // over.num_targets if over.lengths is not None else torch.full_like(target, next(turn))
            per_edge = None if whole is None else whole[item, :, target % over.num_targets, source % over.num_sources]
            return plain_attend.attend(q, k, v, sparse, score_of(score, vector), bias=per_edge)

        return by_edges(compute, over, q, k, v)

    def fast(q: Tensor, k: Tensor, v: Tensor, vector: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        return attend(q, k, v, over, score=score_of(score, vector), bias=bias)

    agree(fast, slow, inputs)


@full
@pytest.mark.parametrize("bias", ["plain", "bias", "bias per item"])
@scores
@pytest.mark.parametrize("over", [over for over in REGULAR if over.num_sources > 0], ids=repr)
def test_attend_by_rule(agree, over, score, bias, dtype):
    hold_attend_by_rule(agree, over, score, dtype, bias)


@half
@pytest.mark.parametrize("over", [over for over in REGULAR if over.num_sources > 0], ids=repr)
def test_attend_by_rule_in_half_precision(agree, over, dtype):
    hold_attend_by_rule(agree, over, "dot", dtype, "plain")


@pytest.mark.parametrize("over", [Dense(4), Causal(4), Window(200, 2), Chain(4), Grid((2, 2))], ids=repr)
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,)], ids=str)
@scores
def test_batch_axes_stand_in_front(over, batch, score):
    n, key = over.num_sources, (2,) if score == "additive" else (2, 5)
    q, k, v = torch.randn(*batch, n, *key), torch.randn(*batch, n, *key), torch.randn(*batch, n, 2, 5)
    match = score_of(score, torch.randn(2, 5) if score == "activated" else None)
    out = attend(q, k, v, over, score=match)
    assert out.shape == (*batch, n, 2, 5)
    flat = [x.reshape(-1, *x.shape[len(batch) :]) for x in (q, k, v)]
    each = [attend(*(x[item] for x in flat), over, score=match) for item in range(flat[0].shape[0])]
    torch.testing.assert_close(out.reshape(-1, n, 2, 5), torch.stack(each) if each else torch.zeros(0, n, 2, 5))
    total = aggregate(v.flatten(-2), over)
    assert total.shape == (*batch, n, 10)


BEYOND = [
    Dense(4, lengths=[2]),
    Causal(4, lengths=[2]),
    Window(4, 1, lengths=[2]),
    Window(300, 1, lengths=[2]),
    Chain(4, lengths=[2]),
]


@pytest.mark.parametrize("over", BEYOND, ids=repr)
def test_what_stands_beyond_a_length_does_not_exist(over):
    x = torch.randn(1, over.num_sources, 2, 5)
    for fill in (7.0, torch.inf, torch.nan):
        padded = x.clone()
        padded[0, 2:] = fill
        padded.requires_grad_()
        out = attend(padded, padded, padded, over)
        (grad,) = torch.autograd.grad(out.sum(), padded)
        flat = aggregate(padded.flatten(2), over)
        (flat_grad,) = torch.autograd.grad(flat.sum(), padded)
        for result in (out, grad, flat, flat_grad):
            assert result.isfinite().all() and not result[0, 2:].any(), fill
