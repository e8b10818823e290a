"""The law, where edges are listed: a verb is what the reference makes of the edges, in values and in every gradient."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from weft.ops import Activated, Additive, Dot, aggregate, attend, gather, reduce, softmax
from weft.ops.aggregate import reference as plain
from weft.ops.attend import reference as plain_attend
from weft.structure import Partition, Sparse, Structure, Tree

HOWS = ["sum", "mean", "max", "min", "std"]
SCORES = ["dot", "additive", "activated"]
hows = pytest.mark.parametrize("how", HOWS)
scores = pytest.mark.parametrize("score", SCORES)
full = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
half = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])


def graph(
    targets: int = 9, sources: int = 9, edges: int = 30, *, weight: torch.dtype | None = None, ordered: bool = False
) -> Sparse:
    source, target = torch.randint(sources, (edges,)), torch.randint(targets, (edges,))
    target = target.sort().values if ordered else target
    weights = None if weight is None else torch.rand(edges, dtype=weight) + 0.1
    return Sparse.from_edges(source, target, targets, sources, weight=weights)


def hub(weight: torch.dtype | None = None) -> Sparse:
    spokes = torch.arange(1100)
    source, target = torch.cat([spokes, torch.tensor([0, 5])]), torch.cat([torch.full_like(spokes, 2), torch.tensor([1, 0])])
    return Sparse.from_edges(source, target, 4, 1100, weight=None if weight is None else torch.rand(1102, dtype=weight))


def empty(targets: int, sources: int, weight: torch.dtype) -> Sparse:
    return Sparse.from_edges([], [], targets, sources, weight=torch.zeros(0, dtype=weight))


LISTED = {
    "unsorted": lambda dtype: graph(),
    "sorted": lambda dtype: graph(ordered=True),
    "sparse": lambda dtype: graph(40, 40, 15),
    "weighted": lambda dtype: graph(weight=dtype),
    "symmetric": lambda dtype: graph(weight=dtype).with_self_loops().normalized("symmetric"),
    "row": lambda dtype: graph(weight=dtype, ordered=True).normalized("row"),
    "few targets": lambda dtype: graph(3, 11),
    "few sources": lambda dtype: graph(11, 3, weight=dtype).normalized("symmetric"),
    "reversed": lambda dtype: graph(5, 9, weight=dtype).normalized("row").reversed(),
    "hub": lambda dtype: hub(),
    "weighted hub": hub,
    "hub of sources": lambda dtype: hub().reversed(),
    "no edges": lambda dtype: graph(3, 2, 0),
    "no nodes": lambda dtype: empty(0, 0, dtype),
    "no sources": lambda dtype: empty(3, 0, dtype),
    "batch": lambda dtype: Sparse.batch([graph(4, 4, 7), graph(1, 1, 0), graph(3, 3, 9)])[0],
    "partition": lambda dtype: Partition([0, 3, 3, 7]),
    "tree": lambda dtype: Tree([4, 4, 5, 5, 6, 6, -1]),
    "acyclic": lambda dtype: Sparse.from_edges([0, 0, 1, 2, 0], [1, 2, 3, 3, 3], 4).topological(),
}
listed = pytest.mark.parametrize("make", LISTED.values(), ids=LISTED)


def draw(*shape: int, dtype: torch.dtype, contiguous: bool = True) -> Tensor:
    """Random numbers; otherwise with the first axis running fastest."""
    if contiguous:
        return torch.randn(shape, dtype=torch.float64).to(dtype)
    return torch.randn(shape[::-1], dtype=torch.float64).to(dtype).permute(*range(len(shape) - 1, -1, -1))


def hold_aggregate(agree, over: Structure, how: str, inputs: dict[str, Tensor]) -> None:
    agree(
        lambda x, weight=None: aggregate(x, over, how=how, weight=weight),
        lambda x, weight=None: plain.aggregate(x, over.to_sparse(), how, weight),
        inputs,
    )


@full
@hows
@listed
@pytest.mark.parametrize("weights", ["plain", "edges", "heads"])
def test_aggregate(agree, make, how, dtype, weights):
    over = make(dtype)
    inputs = {"x": draw(over.num_sources, 2, 5, dtype=dtype)}
    if weights != "plain":
        inputs["weight"] = draw(over.to_sparse().num_edges, *([2] if weights == "heads" else []), dtype=dtype)
    hold_aggregate(agree, over, how, inputs)


@pytest.mark.parametrize("shape", [(), (1,), (31,), (33,), (160,), (300,), (3, 1), (2, 2, 7), (0,)], ids=str)
@hows
def test_aggregate_of_any_width(agree, shape, how):
    hold_aggregate(agree, graph(), how, {"x": draw(9, *shape, dtype=torch.float64)})


@pytest.mark.parametrize(
    ("over", "how"), [("unsorted", how) for how in HOWS] + [("symmetric", "sum"), ("weighted", "mean"), ("hub", "mean")]
)
@half
def test_aggregate_in_half_precision(agree, over, how, dtype):
    over = LISTED[over](torch.float32)
    hold_aggregate(agree, over, how, {"x": draw(over.num_sources, 2, 5, dtype=dtype)})


@half
def test_weighted_aggregate_in_half_precision(agree, dtype):
    over = graph(weight=torch.float32)
    hold_aggregate(agree, over, "sum", {"x": draw(9, 2, 5, dtype=dtype), "weight": draw(30, 2, dtype=dtype)})


EXTRAS = {"plain": (), "bias": ("bias",), "edge_k": ("edge_k",), "edge_v": ("edge_v",), "all": ("bias", "edge_k", "edge_v")}


def attention(
    over: Sparse, score: str, extras: str, dtype: torch.dtype, *, dim=5, wide=3, heads=2, contiguous=True
) -> dict[str, Tensor]:
    """The arguments of one call."""
    key = (heads,) if score == "additive" else (heads, dim)
    shapes = {"q": (over.num_targets, *key), "k": (over.num_sources, *key), "v": (over.num_sources, heads, wide)}
    per_edge = {"bias": (heads,), "edge_k": key, "edge_v": (heads, wide)}
    shapes |= {name: (over.num_edges, *per_edge[name]) for name in EXTRAS[extras]}
    shapes |= {"vector": key} if score == "activated" else {}
    return {name: draw(*shape, dtype=dtype, contiguous=contiguous) for name, shape in shapes.items()}


def score_of(name: str, vector: Tensor | None) -> Dot | Additive | Activated:
    return {"dot": Dot(), "additive": Additive()}[name] if vector is None else Activated(vector)


def hold_attend(agree, over: Structure, score: str, inputs: dict[str, Tensor], dropout: float = 0.0, **settings) -> None:
    seed = torch.tensor(1234)
    settings |= {"dropout": dropout, "seed": seed}
    agree(
        lambda q, k, v, vector=None, **extras: attend(q, k, v, over, score=score_of(score, vector), **extras, **settings),
        lambda q, k, v, vector=None, **extras: plain_attend.attend(
            q, k, v, over.to_sparse(), score_of(score, vector), **extras, **settings
        ),
        inputs,
    )


@full
@pytest.mark.parametrize("extras", ["plain", "all"])
@scores
@listed
def test_attend(agree, make, score, extras, dtype):
    over = make(dtype)
    dropout = 0.4 if extras == "all" else 0.0
    hold_attend(agree, over, score, attention(over.to_sparse(), score, extras, dtype), dropout)


@pytest.mark.parametrize("extras", ["bias", "edge_k", "edge_v"])
@scores
def test_attend_with_one_extra(agree, score, extras):
    over = graph()
    hold_attend(agree, over, score, attention(over, score, extras, torch.float32))


WIDTHS = [("dot", 16, 130), ("dot", 130, 16), ("activated", 130, 20)]


@pytest.mark.parametrize(("score", "dim", "wide"), WIDTHS, ids=lambda part: str(part))
def test_attend_of_wide_features(agree, score, dim, wide):
    over = graph()
    hold_attend(agree, over, score, attention(over, score, "plain", torch.float32, dim=dim, wide=wide))


@scores
@half
def test_attend_in_half_precision(agree, score, dtype):
    over = graph()
    hold_attend(agree, over, score, attention(over, score, "all", dtype), 0.4)


@full
@listed
@pytest.mark.parametrize("side", ["source", "target"])
def test_gather(agree, make, side, dtype):
    over = make(dtype)
    ends = dict(zip(("source", "target"), over.to_sparse().ends(), strict=True))
    size = over.num_sources if side == "source" else over.num_targets
    agree(lambda x: gather(x, over, side), lambda x: x[ends[side]], {"x": draw(size, 3, dtype=dtype)})


@full
@hows
@listed
def test_reduce(agree, make, how, dtype):
    over = make(dtype)
    messages = draw(over.to_sparse().num_edges, 3, dtype=dtype)
    agree(lambda x: reduce(x, over, how=how), lambda x: plain.reduce(x, over.to_sparse(), how), {"x": messages})


@full
@listed
def test_softmax(agree, make, dtype):
    over = make(dtype)
    values = draw(over.to_sparse().num_edges, 3, dtype=dtype)
    agree(lambda x: softmax(x, over), lambda x: plain_attend.softmax(x, over.to_sparse()), {"x": values})


@half
def test_primitives_in_half_precision(agree, dtype):
    over = graph()
    source, _ = over.ends()
    agree(lambda x: gather(x, over, "source"), lambda x: x[source], {"x": draw(9, 3, dtype=dtype)})
    values = draw(30, 3, dtype=dtype)
    agree(lambda x: softmax(x, over), lambda x: plain_attend.softmax(x, over), {"x": values})
    for how in HOWS:
        agree(lambda x, how=how: reduce(x, over, how=how), lambda x, how=how: plain.reduce(x, over, how), {"x": values})


@st.composite
def relations(draw, dtype: torch.dtype) -> Sparse:
    """Graphs with every trouble: empty rows, isolated nodes, hubs, duplicates, loops, nothing at all."""
    targets = draw(st.integers(0, 12))
    sources = draw(st.one_of(st.just(targets), st.integers(0, 12)))
    pairs: list[tuple[int, int]] = []
    if targets * sources > 0:
        pairs = draw(st.lists(st.tuples(st.integers(0, sources - 1), st.integers(0, targets - 1)), max_size=40))
        if draw(st.sampled_from([False, False, False, True])):
            hub = draw(st.integers(0, targets - 1))
            pairs += [(sources + spoke, hub) for spoke in range(1030)]
            sources += 1030
    if draw(st.booleans()):
        pairs.sort(key=lambda pair: pair[1])
    weights = draw(st.sampled_from(["none", "own", "symmetric", "row"]))
    source, target = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    weight = None if weights == "none" else torch.rand(len(pairs), dtype=dtype) + 0.1
    over = Sparse.from_edges(source, target, targets, sources, weight=weight)
    return over.normalized(weights) if weights in ("symmetric", "row") else over


VERBS = ["aggregate", "weighted aggregate", "attend", "reduce", "softmax"]


def hold_generated(agree, verb: str, data: st.DataObject) -> None:
    torch.manual_seed(data.draw(st.integers(0, 999), label="seed"))
    dtype = data.draw(st.sampled_from([torch.float64, torch.float32]), label="dtype")
    over = data.draw(relations(dtype), label="over")
    how = data.draw(st.sampled_from(HOWS), label="how")
    heads, dim = data.draw(st.integers(1, 3), label="heads"), data.draw(st.sampled_from([1, 5, 7, 15]), label="dim")
    contiguous = data.draw(st.booleans(), label="contiguous")
    layout = {"dtype": dtype, "contiguous": contiguous}
    if verb == "attend":
        score = data.draw(st.sampled_from(SCORES), label="score")
        extras = data.draw(st.sampled_from(["plain", "all"]), label="extras")
        dropout = data.draw(st.sampled_from([0.0, 0.3]), label="dropout")
        hold_attend(agree, over, score, attention(over, score, extras, dim=dim, wide=7, heads=heads, **layout), dropout)
    elif verb == "reduce":
        messages = draw(over.num_edges, dim, **layout)
        agree(lambda x: reduce(x, over, how=how), lambda x: plain.reduce(x, over, how), {"x": messages})
    elif verb == "softmax":
        values = draw(over.num_edges, heads, **layout)
        agree(lambda x: softmax(x, over), lambda x: plain_attend.softmax(x, over), {"x": values})
    else:
        inputs = {"x": draw(over.num_sources, heads, dim, **layout)}
        if verb == "weighted aggregate":
            inputs["weight"] = draw(over.num_edges, *data.draw(st.sampled_from([(), (heads,)]), label="per head"), **layout)
        hold_aggregate(agree, over, how, inputs)


@pytest.mark.parametrize("verb", VERBS)
@given(data=st.data())
def test_generated_structures(agree, verb, data):
    hold_generated(agree, verb, data)


@pytest.mark.deep
@pytest.mark.parametrize("verb", VERBS)
@settings(max_examples=2000)
@given(data=st.data())
def test_thousands_of_generated_structures(agree, verb, data):
    hold_generated(agree, verb, data)
