"""The Triton kernels behind `attend`, run by Triton's interpreter where no GPU is, with hubs of a few edges."""

import os
import subprocess
import sys
from functools import partial

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the kernels are defined; 0 runs these tests on a GPU

import pytest
import torch
from torch import Tensor

from weft import Activated, Additive, Dot, Sparse, attend
from weft.ops.attend import operator, reference
from weft.ops.attend.operator import ACTIVATED, ADDITIVE, DOT
from weft.ops.attend.score import Score
from weft.ops.dispatch import Relation, relation
from weft.structure.compress import split_heavy

interpreter = pytest.importorskip("triton.runtime.interpreter")
gpu = pytest.importorskip("weft.ops.attend.gpu")
gpu_backward = pytest.importorskip("weft.ops.attend.gpu_backward")

INTERPRETED = os.environ["TRITON_INTERPRET"] == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
LIMIT = 9
"""Rows of more edges than this count as heavy here."""


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """The operators run the Triton kernels whatever the device, and more than LIMIT edges are heavy."""
    monkeypatch.setitem(operator.attend_rows.kernels, DEVICE, partial(gpu.attend_rows, heavy=LIMIT))
    monkeypatch.setitem(operator.attend_backward.kernels, DEVICE, partial(gpu_backward.attend_backward, heavy=LIMIT))
    monkeypatch.setattr(sys.modules["weft.ops.attend"], "relation", heavy_relation)
    monkeypatch.setattr(gpu_backward, "LEARNERS", 4)  # so that each takes several rows
    mend_interpreter(monkeypatch)


def mend_interpreter(monkeypatch):
    """Bounds of loops are arrays of one number, which NumPy 2.4 no longer takes for whole numbers."""
    patch = interpreter._patch_lang_tensor

    def patch_bounds(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_bounds)


def graph(name: str) -> Sparse:
    """Small graphs with what kernels stumble over; "mixed" has unsorted edges, twins, loops, and a hub at either end."""
    if name == "empty":
        return Sparse.from_edges([], [], 0)
    if name == "edgeless":
        return Sparse.from_edges([], [], 3)
    if name == "sorted":
        return Sparse.from_edges([0, 0, 1, 2, 3], [0, 1, 1, 1, 3], 5, 4)
    if name == "star":
        return Sparse.from_edges(torch.arange(25) % 3, torch.zeros(25, dtype=torch.long), 3)
    chance = torch.Generator().manual_seed(1)
    source, target = torch.randint(8, (2, 30), generator=chance)
    many = torch.randint(8, (60,), generator=chance)
    source = torch.cat([source, source[:5], many, torch.full((18,), 5)])
    target = torch.cat([target, target[:5], torch.full((78,), 3)])
    return Sparse.from_edges(source, target, 10)


def heavy_relation(over: Sparse, both_ways: bool = True) -> Relation:
    tensors = relation(over, both_ways)
    tensors[4] = split_heavy(over.rows, LIMIT)
    tensors[9] = split_heavy(over.columns, LIMIT) if both_ways else None
    return tensors


def features(over: Sparse, kind: int, heads: int, dim: int, wide: int, edges: str = "") -> dict[str, Tensor]:
    """Queries, keys, values, and of what is per edge the names in `edges`."""
    rest = (heads,) if kind == ADDITIVE else (heads, dim)
    inputs = {
        "q": torch.randn(over.num_targets, *rest),
        "k": torch.randn(over.num_sources, *rest),
        "v": torch.randn(over.num_sources, heads, wide),
    }
    shapes = {"bias": (heads,), "edge_k": rest, "edge_v": (heads, wide)}
    inputs |= {name: torch.randn(over.num_edges, *shapes[name]) for name in edges.split()}
    return inputs | {"vector": torch.randn(heads, dim)} if kind == ACTIVATED else inputs


def score_of(kind: int, vector: Tensor | None) -> Score:
    return Dot(0.3) if kind == DOT else Additive(0.1) if kind == ADDITIVE else Activated(vector, 0.1)


def compare(agree, over: Sparse, inputs: dict[str, Tensor], kind: int, dropout: float = 0.0, within: float | None = None):
    seed = torch.tensor(2**61 + 12345)

    def fast(vector=None, **given):
        moved = {name: x.to(DEVICE) for name, x in given.items()}
        score = score_of(kind, vector if vector is None else vector.to(DEVICE))
        return attend(**moved, over=over.to(DEVICE), score=score, dropout=dropout, seed=seed.to(DEVICE)).cpu()

    def slow(vector=None, **given):
        exact = {name: x.double() for name, x in given.items()}
        score = score_of(kind, vector if vector is None else vector.double())
        out = reference.attend(**exact, over=over, score=score, dropout=dropout, seed=seed)
        return out.to(torch.promote_types(given["v"].dtype, torch.float32))

    agree(fast, slow, inputs, within=within)


@pytest.mark.parametrize("name", ["mixed", "sorted", "edgeless", "empty"])
@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
def test_every_score(agree, name, kind):
    compare(agree, over := graph(name), features(over, kind, 3, 5, 9), kind)


@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
def test_one_head(agree, kind):
    compare(agree, over := graph("star"), features(over, kind, 1, 8, 8), kind)


@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
@pytest.mark.parametrize(
    ("name", "edges", "dropout"),
    [("star", "bias", 0.4), ("star", "edge_k", 0), ("star", "edge_v", 0), ("mixed", "bias edge_k edge_v", 0.4)],
)
def test_what_edges_bring(agree, kind, name, edges, dropout):
    compare(agree, over := graph(name), features(over, kind, 2, 5, 3, edges), kind, dropout)


@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
def test_heads_of_several_programs(agree, kind):
    compare(agree, over := graph("star"), features(over, kind, 20, 40, 30), kind)


@pytest.mark.parametrize(("dim", "wide"), [(600, 3), (3, 300)])
def test_wide_heads(agree, dim, wide):
    compare(agree, over := graph("star"), features(over, DOT, 2, dim, wide), DOT)


@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64] if INTERPRETED else [torch.float16, torch.bfloat16])
def test_types(agree, kind, dtype):
    within = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float64: 1e-10}[dtype]
    over = graph("star")
    inputs = features(over, kind, 2, 5, 3, "bias edge_k")
    compare(agree, over, {name: x.to(dtype) for name, x in inputs.items()}, kind, 0.2, within)


def test_dropout_keeps_what_the_reference_keeps():
    over, heads, seed = graph("mixed"), 3, torch.tensor(2**62 - 1)
    q, edge_v = torch.zeros(10, heads, 1), torch.eye(over.num_edges)[:, None, :].expand(-1, heads, -1)
    v = torch.zeros(10, heads, over.num_edges)
    inputs = [x.to(DEVICE) for x in (q, q, v, edge_v)]
    out = attend(*inputs[:3], over.to(DEVICE), edge_v=inputs[3], dropout=0.5, seed=seed.to(DEVICE)).cpu()
    kept = reference.keep(over, heads, 0.5, seed)
    _, target = over.ends()
    assert torch.equal(out[target, :, torch.arange(over.num_edges)] > 0, kept)
    assert 0.4 < kept.float().mean() < 0.6


@pytest.mark.parametrize("kind", [DOT, ADDITIVE, ACTIVATED])
def test_rows_without_weight_are_zero(kind):
    over = graph("mixed")
    inputs = {name: x.to(DEVICE).requires_grad_() for name, x in features(over, kind, 2, 5, 3, "bias").items()}
    _, target = over.ends()
    silent = (target == 3) & (torch.arange(over.num_edges) < 60) | (target == 1)
    silenced = torch.where(silent.to(DEVICE)[:, None], -torch.inf, inputs["bias"])
    given = {name: x for name, x in inputs.items() if name not in ("vector", "bias")}
    score = score_of(kind, inputs.get("vector"))
    out = attend(**given, over=over.to(DEVICE), score=score, bias=silenced)
    expected = reference.attend(**given, over=over.to(DEVICE), score=score, bias=silenced)
    assert not out[[1, 8, 9]].any()
    assert (out - expected).abs().max() < 1e-5
    out.sum().backward()
    assert not any(x.grad.isnan().any() for x in inputs.values())
    assert not inputs["bias"].grad[silent].any()


@pytest.mark.filterwarnings("ignore:All-NaN slice encountered")  # the interpreter's
def test_nan_is_not_hidden():
    over = graph("mixed")
    inputs = {name: x.to(DEVICE) for name, x in features(over, DOT, 2, 5, 3).items()}
    inputs["q"][3, 0] = torch.nan
    spoilt = attend(**inputs, over=over.to(DEVICE)).isnan()
    assert spoilt[3, 0].all() and spoilt.sum() == 3


@pytest.mark.parametrize("kind", [DOT, ACTIVATED])
def test_the_same_bits_again(kind):
    over = graph("star")
    inputs = {name: x.to(DEVICE) for name, x in features(over, kind, 2, 5, 3, "bias").items()}
    given = [inputs.get(name) for name in ("q", "k", "v", "vector", "bias", "edge_k", "edge_v", "seed")]
    call = *given, heavy_relation(over.to(DEVICE)), kind, 0.3, 0.1, 0.0
    grad = torch.randn(3, 2, 3).to(DEVICE)
    results = []
    for _ in range(2):
        out, lse = gpu.attend_rows(*call, heavy=LIMIT)
        needs = [x is not None for x in given[:7]]
        results.append([out, lse, *gpu_backward.attend_backward(*call, out, lse, grad, needs, heavy=LIMIT)])
    for first, second in zip(*results, strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("needed", [0, 1, 2, 3])
def test_only_what_is_needed(needed):
    over = graph("sorted")
    inputs = features(over, ACTIVATED, 2, 5, 3)
    call = *[inputs[name].to(DEVICE) for name in ("q", "k", "v", "vector")], *[None] * 4, heavy_relation(over.to(DEVICE))
    settings = ACTIVATED, 1.0, 0.2, 0.0
    out, lse = gpu.attend_rows(*call, *settings)
    whole = gpu_backward.attend_backward(*call, *settings, out, lse, out, [True] * 4 + [False] * 3)
    one = gpu_backward.attend_backward(*call, *settings, out, lse, out, [place == needed for place in range(7)])
    assert torch.equal(one[needed], whole[needed])
    assert [x.numel() for place, x in enumerate(one) if place != needed] == [0] * 6


@pytest.mark.skipif(not INTERPRETED, reason="the other tests compile")
def test_kernels_compile_for_a_gpu():
    """What the interpreter lets pass may not compile; the compiler needs no GPU."""
    settings = os.environ | {"TRITON_INTERPRET": "0"}
    done = subprocess.run([sys.executable, __file__], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def compile_kernels():
    import triton
    from triton.backends.compiler import GPUTarget

    from weft.ops import gpu as shared

    class Hopper:
        get_current_device = get_current_stream = staticmethod(lambda *_: 0)
        get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))

    triton.runtime.driver.set_active(Hopper())
    for module in (shared, gpu, gpu_backward):
        module.launch = lambda kernel, grid, *args, **meta: kernel.run(*args, grid=grid, warmup=True, **meta)
    over = graph("mixed")
    for kind, edges, seed, dtype in (
        (DOT, "", None, torch.bfloat16),
        (ADDITIVE, "", None, torch.float32),
        (ACTIVATED, "bias edge_k edge_v", torch.tensor(1), torch.float32),
    ):
        inputs = {name: x.to(dtype) for name, x in features(over, kind, 4, 32, 32, edges).items()}
        given = [inputs.get(name) for name in ("q", "k", "v", "vector", "bias", "edge_k", "edge_v")]
        call = *given, seed, heavy_relation(over), kind, 0.3, 0.1, 0.0 if seed is None else 0.1
        out, lse = gpu.attend_rows(*call)
        gpu_backward.attend_backward(*call, out, lse, out, [x is not None for x in given])


if __name__ == "__main__":
    compile_kernels()
