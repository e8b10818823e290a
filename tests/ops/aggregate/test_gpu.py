"""The Triton kernels behind `aggregate`, run by Triton's interpreter where no GPU is, with hubs of a few edges."""

import os
import subprocess
import sys
from functools import partial
from itertools import pairwise

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the kernels are defined; 0 runs these tests on a GPU

import pytest
import torch
from torch import Tensor

from weft import Sparse, aggregate
from weft.ops.aggregate import extreme, operator, reference, spread
from weft.ops.dispatch import Relation, relation, transpose
from weft.structure.compress import Rows, split_heavy

interpreter = pytest.importorskip("triton.runtime.interpreter")
gpu = pytest.importorskip("weft.ops.aggregate.gpu")

INTERPRETED = os.environ["TRITON_INTERPRET"] == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
LIMIT = 9
"""Rows of more edges than this count as heavy here."""

OPERATORS = (operator.sum_rows, operator.dot_edges, extreme.extreme_rows, extreme.won_rows, spread.spread_rows)
OPERATORS += (spread.unspread_rows,)


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """The operators run the Triton kernels whatever the device, and more than LIMIT edges are heavy."""
    for op in OPERATORS:
        kernel = partial(getattr(gpu, op.name.removeprefix("weft::")), heavy=LIMIT)
        monkeypatch.setitem(op.kernels, DEVICE, kernel)
    monkeypatch.setattr(Rows, "schedule", property(lambda rows: split_heavy(rows, LIMIT)))
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


def sides(over: Sparse) -> Relation:
    return relation(over.to(DEVICE), True)


def compare(agree, over: Sparse, inputs: dict[str, Tensor], how: str = "sum", within: float | None = None):
    agree(
        lambda x, weight=None: aggregate(x.to(DEVICE), over.to(DEVICE), how=how, weight=move(weight)).cpu(),
        lambda x, weight=None: reference.aggregate(x.double(), over, how, weight if weight is None else weight.double()).to(
            torch.float64 if x.dtype == torch.float64 else torch.float32
        ),
        inputs,
        within=within,
    )


def move(x: Tensor | None) -> Tensor | None:
    return None if x is None else x.to(DEVICE)


@pytest.mark.parametrize("name", ["mixed", "sorted", "edgeless", "empty"])
@pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "std"])
def test_every_reduction(agree, name, how):
    over = graph(name)
    compare(agree, over, {"x": torch.randn(over.num_sources, 3, 13)}, how)


@pytest.mark.parametrize("name", ["mixed", "sorted", "edgeless", "empty"])
@pytest.mark.parametrize(("heads", "dim"), [(3, 5), (1, 33)])
def test_weights(agree, name, heads, dim):
    over = graph(name)
    compare(agree, over, {"x": torch.randn(over.num_sources, heads, dim), "weight": torch.randn(over.num_edges, heads)})


@pytest.mark.parametrize("norm", ["symmetric", "row"])
def test_scales(agree, norm):
    over = graph("mixed").normalized(norm)
    compare(agree, over, {"x": torch.randn(10, 2, 5)})
    compare(agree, graph("star").normalized(norm), {"x": torch.randn(3, 2, 5), "weight": torch.randn(25, 2)})


def test_widths_of_several_programs(agree):
    over = graph("star")
    for heads, dim in ((1, 600), (20, 40)):
        compare(agree, over, {"x": torch.randn(3, heads, dim), "weight": torch.randn(25, heads)})
    for how in ("sum", "max", "std"):
        compare(agree, over, {"x": torch.randn(3, 600)}, how)


@pytest.mark.parametrize("how", ["sum", "max", "std"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64] if INTERPRETED else [torch.float16, torch.bfloat16])
def test_types(agree, how, dtype):
    within = {torch.float16: 2e-3, torch.bfloat16: 1e-2, torch.float64: 1e-10}[dtype]
    compare(agree, graph("mixed"), {"x": torch.randn(10, 3, 5).to(dtype)}, how, within)


@pytest.mark.parametrize("largest", [True, False])
def test_first_of_equals_wins(largest):
    over = graph("mixed")
    x = torch.randint(3, (10, 300)).float()  # wide, so that few edges are looked at together
    x[:, 0] = -torch.inf if largest else torch.inf  # no better than where a running extreme starts
    x[torch.rand(x.shape) < 0.1] = torch.nan
    out, winner = gpu.extreme_rows(x.to(DEVICE), sides(over), largest, heavy=LIMIT)
    pointer = over.rows.pointer.tolist()
    for row, (begin, end) in enumerate(pairwise(pointer)):
        numbers = x[over.rows.index[begin:end].long()]
        for column in range(300):
            best, first = first_extreme(numbers[:, column].tolist(), largest)
            assert int(winner[row, column]) == (-1 if first is None else begin + first)
            assert float(out[row, column]) == best or bool(out[row, column].isnan() and best != best)


def first_extreme(numbers: list[float], largest: bool) -> tuple[float, int | None]:
    spoilt = [place for place, number in enumerate(numbers) if number != number]
    if spoilt:
        return numbers[spoilt[0]], spoilt[0]
    best = (max if largest else min)(numbers, default=0.0)
    return best, numbers.index(best) if numbers else None


def test_equal_numbers_have_no_spread():
    over = graph("mixed")
    variance, mean = gpu.spread_rows(torch.full((10, 3), 0.1).to(DEVICE), sides(over), heavy=LIMIT)
    assert not variance.any()
    assert torch.equal(mean.cpu(), torch.where(over.rows.degree > 0, 0.1, 0.0)[:, None].expand(10, 3))


def test_the_same_bits_again():
    over, x, weight = sides(graph("star")), torch.randn(3, 2, 5).to(DEVICE), torch.randn(25, 2).to(DEVICE)
    for op, inputs in ((gpu.sum_rows, (x, weight)), (gpu.dot_edges, (x, x)), (gpu.spread_rows, (x.flatten(1),))):
        first, second = (op(*inputs, over, heavy=LIMIT) for _ in range(2))
        for a, b in zip(*((y,) if isinstance(y, Tensor) else y for y in (first, second)), strict=True):
            assert torch.equal(a, b)


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
    shared.launch = gpu.launch = lambda kernel, grid, *args, **meta: kernel.run(*args, grid=grid, warmup=True, **meta)
    Rows.schedule = property(lambda rows: split_heavy(rows, LIMIT))  # pyright: ignore
    over = relation(graph("mixed").normalized("symmetric"), True)
    x, weight = torch.randn(10, 4, 32), torch.randn(113, 4)
    gpu.sum_rows(x.bfloat16(), weight, over)
    gpu.sum_rows(x, None, over)
    gpu.dot_edges(x, x, over)
    _, winner = gpu.extreme_rows(x.flatten(1), over, True)
    gpu.won_rows(x.flatten(1), winner, transpose(over))
    variance, mean = gpu.spread_rows(x.flatten(1), over)
    gpu.unspread_rows(x.flatten(1), mean, variance, transpose(over))


if __name__ == "__main__":
    compile_kernels()
