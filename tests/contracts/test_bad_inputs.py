"""What cannot be right is refused with a sentence that names the culprit: the call, the error, words it must say."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from weft import errors
from weft.errors import (
    DeviceError,
    DtypeError,
    EdgeError,
    OrderError,
    ShapeError,
    SizeError,
    StructureError,
    WeftTypeError,
    WeftValueError,
)
from weft.ops import Activated, Additive, aggregate, attend, gather, reduce, softmax
from weft.structure import (
    Acyclic,
    Causal,
    Chain,
    Dense,
    Grid,
    Partition,
    Sparse,
    Tree,
    Window,
    blocks,
    dilated,
    global_tokens,
    random_pattern,
)

OVER = Sparse.from_edges([0, 1, 2, 0], [1, 2, 1, 0], 3)  # 3 → 3, 4 edges
CROSS = Sparse.from_edges([0, 4], [1, 0], 2, 5)
X, Q, LONG = torch.ones(3, 2, 5), torch.ones(3, 2, 5), torch.ones(2, 6, 2, 5)
META = torch.ones(3, 2, 5, device="meta")
edges, batch = Sparse.from_edges, Sparse.batch

Row = tuple[Callable[[], object], type[errors.WeftError], list[str]]

EDGES: list[Row] = [
    (lambda: edges([0, 1, 7], [1, 2, 0], 3), EdgeError, ["edge 2", "source 7", "target 0", "0 … 2"]),
    (lambda: edges([0, 1], [1, 3], 3), EdgeError, ["edge 1", "target 3", "num_targets"]),
    (lambda: edges([0, -1], [1, 1], 3), EdgeError, ["edge 1", "source -1"]),
    (lambda: edges([9, 8, 0], [0, 0, 0], 3), EdgeError, ["edge 0", "2 edges are like this"]),
    (lambda: edges([4, 5], [0, 0], 2, 5), EdgeError, ["edge 1", "source 5", "sources are 0 … 4", "targets 0 … 1"]),
    (lambda: edges([0], [0], 0), EdgeError, ["edge 0", "sources are none", "targets none"]),
    (lambda: edges(torch.tensor([2**40]), [0], 3), EdgeError, [str(2**40)]),
    (lambda: edges([0, 1], [1], 2), ShapeError, ["source names 2", "target 1"]),
    (lambda: edges([0.5, 1.0], [1, 0], 2), DtypeError, ["source", "float32", "0.5", "source.long()"]),
    (lambda: edges([0], [float("nan")], 2), DtypeError, ["target", "nan"]),
    (lambda: edges([True], [0], 2), DtypeError, ["source", "bool"]),
    (lambda: edges(torch.zeros(2, 3, dtype=torch.long), [0], 2), WeftValueError, ["source", "one axis", "(2, 3)"]),
    (lambda: edges(["a", "b"], [0, 1], 2), WeftTypeError, ["source", "list", "whole numbers"]),
    (lambda: edges([0], None, 2), WeftTypeError, ["target", "NoneType"]),
    (lambda: edges([2**70], [0], 2), WeftTypeError, ["source", "Overflow"]),
    (lambda: edges([0], [0], -1), WeftValueError, ["num_targets", "at least 0", "-1"]),
    (lambda: edges([0], [0], 2.0), WeftTypeError, ["num_targets", "2.0", "float"]),
    (lambda: edges([0], [0], np.float32(2)), WeftTypeError, ["num_targets", "float32"]),
    (lambda: edges([0], [0], True), WeftTypeError, ["num_targets", "bool"]),
    (lambda: edges([0], [0], 2, "three"), WeftTypeError, ["num_sources", "'three'", "str"]),
    (
        lambda: edges(torch.tensor([0]), torch.tensor([0], device="meta"), 2),
        DeviceError,
        ["source is on cpu", "target on meta"],
    ),
    (lambda: edges([0], [0], 2, weight=[1.0]), WeftTypeError, ["weight", "list"]),
    (lambda: edges([0], [0], 2, weight=torch.tensor([1])), DtypeError, ["weight", "int64", "weight.float()"]),
    (lambda: edges([0], [0], 2, weight=torch.ones(3)), ShapeError, ["1 edges", "(1,)", "(3,)"]),
    (lambda: edges([0], [0], 2, weight=torch.ones(1, device="meta")), DeviceError, ["cpu", "meta"]),
    (
        lambda: edges([0], [0], 2, weight=torch.ones(1, requires_grad=True)),
        WeftValueError,
        ["fixed", "aggregate(..., weight=...)"],
    ),
]

VIEWS: list[Row] = [
    (lambda: OVER.normalized("sym"), WeftValueError, ["'symmetric' or 'row'", "'sym'"]),
    (lambda: OVER.normalized("row").normalized("symmetric"), WeftValueError, ["already", "'row'", "'symmetric'"]),
    (lambda: edges([0], [1], 2, weight=torch.tensor([-1.0])).normalized("row"), WeftValueError, ["node 1", "-1", "below zero"]),
    (lambda: CROSS.with_self_loops(), StructureError, ["Sparse(5 → 2", "different things"]),
    (lambda: OVER.normalized("row").with_self_loops(), WeftValueError, ["before normalising"]),
    (lambda: OVER.with_self_loops("heavy"), WeftTypeError, ["weight", "'heavy'"]),
    (lambda: OVER.with_self_loops(torch.ones(3)), WeftTypeError, ["one number for all"]),
    (lambda: CROSS.topological(), StructureError, ["Sparse(5 → 2", "one set of nodes"]),
    (lambda: Acyclic(OVER), OrderError, ["0 → 0", "cycle"]),
    (lambda: edges([0, 1, 2], [1, 2, 0], 3).topological(), OrderError, ["without cycles", " → ", "2"]),
    (lambda: batch([OVER, CROSS]), WeftValueError, ["item 1", "Sparse(5 → 2"]),
    (lambda: batch([OVER, OVER.normalized("row")]), WeftValueError, ["item 1", "normalise after batching"]),
    (lambda: batch([OVER, Dense(3)]), WeftTypeError, ["item 1", "Dense"]),
    (lambda: batch([OVER, OVER.with_self_loops(2.0)]), WeftValueError, ["item 1", "weighted"]),
    (lambda: batch([OVER, OVER.to("meta")]), DeviceError, ["item 1", "meta", "cpu"]),
    (lambda: batch(OVER), WeftTypeError, ["list of Sparse", "Sparse"]),
    (lambda: batch(3), WeftTypeError, ["list of Sparse", "int"]),
]

OTHERS: list[Row] = [
    (lambda: Dense(-1), WeftValueError, ["Dense", "num_targets", "-1"]),
    (lambda: Dense(3, 1.5), WeftTypeError, ["Dense", "num_sources", "1.5"]),
    (lambda: Dense(3, lengths=[1, 4]), WeftValueError, ["lengths[1] is 4", "0 … 3"]),
    (lambda: Dense(3, lengths=[-1]), WeftValueError, ["lengths[0] is -1"]),
    (lambda: Dense(3, lengths=[1.5]), DtypeError, ["lengths", "1.5"]),
    (lambda: Dense(3, lengths=3), WeftValueError, ["lengths", "one axis", "()"]),
    (lambda: Causal(5, 3), WeftValueError, ["5 targets", "3 sources"]),
    (lambda: Window(4, -1), WeftValueError, ["Window", "left", "-1"]),
    (lambda: Window(4, 1, None), WeftTypeError, ["Window", "right", "None"]),
    (lambda: Chain("4"), WeftTypeError, ["Chain", "length", "'4'"]),
    (lambda: Grid([3, 3]), WeftTypeError, ["Grid", "tuple", "[3, 3]"]),
    (lambda: Grid(()), WeftTypeError, ["Grid", "()"]),
    (lambda: Grid((3, -2)), WeftValueError, ["shape[1]", "-2"]),
    (lambda: Grid((3,), radius=-1), WeftValueError, ["radius", "-1"]),
    (lambda: Dense(1 << 20).to_sparse(), SizeError, ["Dense", "1,099,511,627,776", "67,108,864"]),
    (lambda: Tree([1, 0]), OrderError, ["0", "1", " → "]),
    (lambda: Tree([3, -1]), EdgeError, ["node 0 is 3", "0 … 1", "-1 for a root"]),
    (lambda: Tree([-2]), EdgeError, ["node 0 is -2"]),
    (lambda: Tree([0.5]), DtypeError, ["parent", "0.5"]),
    (lambda: Partition([1, 2]), WeftValueError, ["start with 0", "1"]),
    (lambda: Partition([]), WeftValueError, ["start with 0", "nothing"]),
    (lambda: Partition([0, 3, 2]), WeftValueError, ["boundaries[2] is 2", "after 3"]),
    (lambda: Partition.from_lengths([2, -1]), WeftValueError, ["lengths[1] is -1"]),
    (lambda: Partition([0, 2]).pad(torch.ones(3)), ShapeError, ["2 members", "(3,)"]),
    (lambda: Partition([0, 2]).pad([1.0, 2.0]), WeftTypeError, ["x", "list"]),
    (lambda: Partition([0, 2]).unpad(torch.ones(2, 2)), ShapeError, ["1 groups", "(2, 2)"]),
    (lambda: Partition([0, 2]).unpad(torch.ones(1, 1)), ShapeError, ["up to 2 members", "(1, 1)"]),
    (lambda: Partition([0, 2]).unpad([[1.0, 2.0]]), WeftTypeError, ["padded", "list"]),
    (lambda: dilated(4, 1, step=0), WeftValueError, ["dilated", "step", "at least 1"]),
    (lambda: blocks(4, 0), WeftValueError, ["blocks", "size", "at least 1"]),
    (lambda: global_tokens(4, -1), WeftValueError, ["global_tokens", "count"]),
    (lambda: random_pattern(4, 1.5, seed=0), WeftTypeError, ["random_pattern", "count", "1.5"]),
]

AGGREGATE: list[Row] = [
    (lambda: aggregate(X, torch.ones(3, 3)), WeftTypeError, ["over", "structure", "Tensor"]),
    (lambda: aggregate(X, OVER, how="median"), WeftValueError, ["sum, mean, max, min, std", "'median'"]),
    (lambda: aggregate([1.0], OVER), WeftTypeError, ["x", "list"]),
    (lambda: aggregate(X.long(), OVER), DtypeError, ["x", "int64", "x.float()"]),
    (lambda: aggregate(X.to(torch.complex64), OVER), DtypeError, ["x", "complex64"]),
    (lambda: aggregate(X[:2], OVER), ShapeError, ["3 sources", "(2, 2, 5)"]),
    (lambda: aggregate(torch.tensor(1.0), OVER), ShapeError, ["3 sources", "()"]),
    (lambda: aggregate(META, OVER), DeviceError, ["meta", "cpu", "over.to('meta')"]),
    (lambda: aggregate(X, OVER, weight=torch.ones(3)), ShapeError, ["4 edges", "(4,)", "(3,)"]),
    (lambda: aggregate(X, OVER, weight=torch.ones(4, 3)), ShapeError, ["4 edges", "(3, 2, 5)", "(4, 3)"]),
    (lambda: aggregate(X, OVER, weight=torch.ones(4).long()), DtypeError, ["weight", "int64"]),
    (lambda: aggregate(X, OVER, weight=2.0), WeftTypeError, ["weight", "float"]),
    (lambda: aggregate(X, Dense(3), weight=torch.ones(9)), StructureError, ["Dense", "no edges", "to_sparse()"]),
    (lambda: aggregate(X, Window(4, 1)), ShapeError, ["4 positions", "(…, positions, dim)", "(3, 2, 5)"]),
    (lambda: aggregate(X, Dense(2, lengths=[1, 2])), ShapeError, ["2 lengths", "(3, 2, 5)"]),
]

ATTEND: list[Row] = [
    (lambda: attend(Q, Q, Q, "dense"), WeftTypeError, ["over", "structure", "str"]),
    (lambda: attend(Q, Q, Q, OVER, score="dot"), WeftTypeError, ["score", "Dot", "'dot'"]),
    (lambda: attend(Q, Q, Q, OVER, dropout=1.0), WeftValueError, ["dropout", "1.0", "below 1"]),
    (lambda: attend(Q, Q, Q, OVER, dropout=float("nan")), WeftValueError, ["dropout", "nan"]),
    (lambda: attend(Q, Q, Q, OVER, dropout="half"), WeftTypeError, ["dropout", "'half'"]),
    (lambda: attend(Q, Q, Q, OVER, dropout=0.5, seed=7), WeftTypeError, ["seed", "7", "torch.tensor(7)"]),
    (lambda: attend(Q, Q, Q, OVER, dropout=0.5, seed=torch.tensor([1, 2])), WeftTypeError, ["seed", "[1, 2]"]),
    (lambda: attend(Q, Q, Q, OVER, dropout=0.5, seed=torch.tensor(0.5)), WeftTypeError, ["seed", "0.5"]),
    (lambda: attend([Q], Q, Q, OVER), WeftTypeError, ["q", "list"]),
    (lambda: attend(Q, Q.int(), Q, OVER), DtypeError, ["k", "int32"]),
    (lambda: attend(Q, Q, Q.double(), OVER), WeftTypeError, ["q is torch.float32", "v is torch.float64"]),
    (lambda: attend(Q, META, Q, OVER), DeviceError, ["k is on meta", "cpu"]),
    (lambda: attend(Q[0], Q, Q, OVER), ShapeError, ["q must be (positions, heads, dim)", "Dot", "(2, 5)"]),
    (lambda: attend(Q, Q, Q, OVER, score=Additive()), ShapeError, ["q must be (positions, heads)", "Additive"]),
    (lambda: attend(Q, Q, Q, CROSS), ShapeError, ["2 targets to 5 sources", "q has 3", "k has 3"]),
    (lambda: attend(Q, Q[..., :4], Q, OVER), ShapeError, ["(3, 2, 5)", "(3, 2, 4)", "dim"]),
    (lambda: attend(Q, Q, Q[:, :1], OVER), ShapeError, ["(3, 1, 5)", "heads"]),
    (lambda: attend(Q, Q, Q, OVER, score=Activated(torch.ones(5))), ShapeError, ["vector", "(2, 5)", "(5,)"]),
    (lambda: attend(Q, Q, Q, OVER, score=Activated([1.0])), WeftTypeError, ["vector", "list"]),
    (lambda: attend(Q, Q, Q, OVER, score=Activated(torch.ones(2, 5).double())), WeftTypeError, ["vector", "float64"]),
    (lambda: attend(Q, Q, Q, OVER, score=Activated(torch.ones(2, 5, device="meta"))), DeviceError, ["vector", "meta"]),
    (lambda: attend(Q, Q, Q, OVER, bias=torch.ones(4)), ShapeError, ["bias", "(4, 2)", "(4,)"]),
    (lambda: attend(Q, Q, Q, OVER, bias=torch.ones(3, 2)), ShapeError, ["bias", "per edge", "(3, 2)"]),
    (lambda: attend(Q, Q, Q, OVER, bias=torch.ones(4, 2, dtype=torch.bool)), DtypeError, ["bias", "bool"]),
    (lambda: attend(Q, Q, Q, OVER, edge_k=torch.ones(4, 2, 4)), ShapeError, ["edge_k", "(4, 2, 5)", "(4, 2, 4)"]),
    (lambda: attend(Q, Q, Q, OVER, edge_v=torch.ones(4, 2, 5).double()), WeftTypeError, ["edge_v", "float64", "float32"]),
    (lambda: attend(Q, Q, Q, Dense(3), edge_k=torch.ones(9, 2, 5)), StructureError, ["Dense", "edge_k", "to_sparse()"]),
    (lambda: attend(LONG, LONG, LONG, Dense(6), dropout=0.5, seed=torch.tensor(1)), WeftValueError, ["seed", "leave seed out"]),
    (lambda: attend(LONG, LONG, LONG, Dense(6, 9)), ShapeError, ["6 targets to 9 sources", "k needs 9", "(2, 6, 2, 5)"]),
    (lambda: attend(LONG, LONG[:1], LONG, Chain(6)), ShapeError, ["batch axes", "(1, 6, 2, 5)"]),
    (lambda: attend(LONG, LONG, LONG, Chain(6), score=Activated(torch.ones(1, 5))), ShapeError, ["vector", "(1, 5)"]),
    (lambda: attend(LONG, LONG, LONG, Chain(6), score=Additive()), ShapeError, ["q needs 6", "(…, positions, heads)"]),
    (lambda: attend(LONG, LONG, LONG, Dense(6), bias=torch.ones(6, 5)), ShapeError, ["bias", "(2, 2, 6, 6)", "(6, 5)"]),
    (lambda: attend(LONG, LONG, LONG, Grid((6,)), bias=torch.ones(3, 6, 6)), ShapeError, ["bias", "(3, 6, 6)"]),
    (lambda: attend(LONG, LONG, LONG, Dense(6, lengths=[1])), ShapeError, ["1 lengths", "(2, 6, 2, 5)"]),
]

PRIMITIVES: list[Row] = [
    (lambda: gather(X, OVER, "row"), WeftValueError, ["'source' or 'target'", "'row'"]),
    (lambda: gather(X, None, "source"), WeftTypeError, ["gather", "NoneType"]),
    (lambda: gather(X, CROSS, "source"), ShapeError, ["5 sources", "(3, 2, 5)"]),
    (lambda: gather(X, CROSS, "target"), ShapeError, ["2 targets", "(3, 2, 5)"]),
    (lambda: gather(X.long(), OVER, "source"), DtypeError, ["gather", "int64"]),
    (lambda: reduce(torch.ones(3), OVER), ShapeError, ["4 edges", "messages", "(3,)"]),
    (lambda: reduce(torch.ones(4), OVER, how="prod"), WeftValueError, ["reduce", "'prod'", "sum, mean"]),
    (lambda: reduce(1.0, OVER), WeftTypeError, ["messages", "float"]),
    (lambda: softmax(torch.ones(5), OVER), ShapeError, ["4 edges", "scores", "(5,)"]),
    (lambda: softmax(torch.ones(4, device="meta"), OVER), DeviceError, ["scores", "meta"]),
    (lambda: softmax(torch.ones(4), Dense(1 << 20)), SizeError, ["Dense", "limit"]),
]

TABLE = [*EDGES, *VIEWS, *OTHERS, *AGGREGATE, *ATTEND, *PRIMITIVES]


@pytest.mark.parametrize(
    ("call", "error", "words"), TABLE, ids=[" ".join([error.__name__, *words]) for _, error, words in TABLE]
)
def test_is_refused_and_named(call, error, words):
    with pytest.raises(errors.WeftError) as caught:
        call()
    assert type(caught.value) is error
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert message.endswith((".", ")")), "a sentence"
