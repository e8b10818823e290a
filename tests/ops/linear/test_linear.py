"""Linear maps: torch's own where nothing is gained, the way of a CPU, and the kernels of a GPU in Triton's interpreter."""

import os
import subprocess
import sys

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the kernels are defined; 0 runs these tests on a GPU

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

from weft.ops import linear as verbs
from weft.ops.linear import added, linears, shifted

interpreter = pytest.importorskip("triton.runtime.interpreter")
gpu = pytest.importorskip("weft.ops.linear.gpu")

INTERPRETED = os.environ["TRITON_INTERPRET"] == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
every_way = pytest.mark.parametrize("way", ["matrix units", "torch's product", "cpu"])


def take(monkeypatch, way: str) -> None:
    """Take the way of a CPU, or of a GPU with the kernel for float32 or without, whatever the number of rows."""
    monkeypatch.setattr(verbs, "_gains", lambda *_: True)
    if way == "cpu":
        if not INTERPRETED:
            pytest.skip("what is on a GPU does not take the way of a CPU")
        return
    monkeypatch.setattr(verbs, "_on_gpu", lambda _: True)
    monkeypatch.setattr(verbs, "_exact", lambda _: way == "matrix units")
    monkeypatch.setattr(gpu, "PIECES", 3)
    patch = interpreter._patch_lang_tensor

    def patch_bounds(tensor, scope):  # NumPy 2.4 no longer takes arrays of one number for whole numbers
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_bounds)


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape)


def given(rows: int, dim: int, *widths: int) -> dict[str, Tensor]:
    weights = {f"w{nth}": numbers(wide, dim) for nth, wide in enumerate(widths)}
    return {"x": numbers(rows, dim)} | weights | {f"b{nth}": numbers(wide) for nth, wide in enumerate(widths)}


def several(x: Tensor, **parts: Tensor) -> Tensor:
    """The maps of one x, side by side; every second one without a bias."""
    many = len(parts) // 2
    maps = [(parts[f"w{nth}"], parts[f"b{nth}"] if nth % 2 == 0 else None) for nth in range(many)]
    moved = [(weight.to(DEVICE), bias if bias is None else bias.to(DEVICE)) for weight, bias in maps]
    return torch.cat(linears(x.to(DEVICE), *moved), 1).cpu()


def plainly(x: Tensor, **parts: Tensor) -> Tensor:
    many = len(parts) // 2
    return torch.cat([linear(x, parts[f"w{nth}"], parts[f"b{nth}"] if nth % 2 == 0 else None) for nth in range(many)], 1)


@every_way
@pytest.mark.parametrize("widths", [(3,), (70, 4), (5, 130, 1, 64)], ids=str)
@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (65, 33), (200, 128)], ids=str)
def test_several_maps_of_one_x(monkeypatch, agree, rows, dim, widths, way):
    take(monkeypatch, way)
    agree(several, plainly, given(rows, dim, *widths))


@every_way
def test_a_bias_has_the_sum_of_its_columns(monkeypatch, agree, way):
    take(monkeypatch, way)
    inputs = {"x": numbers(1300, 300), "bias": numbers(300)}
    agree(lambda x, bias: shifted(x.to(DEVICE), bias.to(DEVICE)).cpu(), lambda x, bias: x + bias, inputs)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_columns_of_half_precision_are_summed_in_float32(monkeypatch, dtype):
    take(monkeypatch, "matrix units")
    x = torch.ones(4096, 3, dtype=dtype, device=DEVICE)
    assert gpu.column_sums([x, x[:, :1].contiguous()])[1].tolist() == [4096]


def test_the_same_bits_again(monkeypatch):
    take(monkeypatch, "matrix units")
    x, weight = numbers(300, 40).to(DEVICE), numbers(50, 40).to(DEVICE)

    def once():
        return [*gpu.linears(x, [weight], [None]), gpu.linear_sum([x, x], [weight] * 2, None), *gpu.column_sums([x])]

    results = once(), once()
    for first, second in zip(*results, strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("way", ["torch's product", "cpu"])
def test_derivatives_of_both_orders(monkeypatch, way):
    take(monkeypatch, way)
    inputs = [numbers(4, 3), numbers(2, 3), numbers(5, 3), numbers(2)]
    x, v, w, bias = (part.double().requires_grad_() for part in inputs)
    for call in (
        lambda x, v, w, bias: torch.cat(linears(x, (v, bias), (w, None)), 1).sin(),
        lambda x, v, w, bias: shifted(x @ v.T, bias).sin(),
        lambda x, v, w, bias: added(x @ v.T, x[:, :2] * bias).sin(),
    ):
        assert torch.autograd.gradgradcheck(call, (x, v, w, bias), check_undefined_grad=False)


@every_way
def test_only_what_is_needed(monkeypatch, way):
    take(monkeypatch, way)
    x, weight, bias = numbers(9, 3).to(DEVICE), numbers(2, 3).to(DEVICE).requires_grad_(), numbers(2).to(DEVICE)
    linears(x, (weight, bias))[0].sum().backward()
    assert x.grad is None and bias.grad is None and weight.grad is not None


@pytest.mark.parametrize("rows", [2708, 50_000])
def test_the_same_bits_for_any_number_of_threads(rows):
    """What training of one seed is made of: the weights' gradients sum over all rows."""
    x, weight, bias = numbers(rows, 40).cpu(), numbers(50, 40).cpu().requires_grad_(), numbers(50).cpu().requires_grad_()
    towards = numbers(rows, 100).cpu()

    def once(threads: int) -> list[Tensor]:
        torch.set_num_threads(threads)
        out = torch.cat(linears(x, (weight, bias), (weight, None)), 1).relu()
        return [out, *torch.autograd.grad(out, [weight, bias], towards)]

    before = torch.get_num_threads()
    try:
        found = {threads: once(threads) for threads in (1, 2, 3, 8)}
    finally:
        torch.set_num_threads(before)
    for threads in (2, 3, 8):
        for mine, alone in zip(found[threads], found[1], strict=True):
            assert torch.equal(mine, alone), threads


@pytest.mark.skipif(not INTERPRETED, reason="the other tests compile")
def test_kernels_compile_for_a_gpu():
    """What the interpreter lets pass may not compile; the compiler needs no GPU."""
    settings = os.environ | {"TRITON_INTERPRET": "0"}
    done = subprocess.run([sys.executable, __file__], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def compile_kernels():
    import triton
    from triton.backends.compiler import GPUTarget

    class Hopper:
        get_current_device = get_current_stream = staticmethod(lambda *_: 0)
        get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))

    triton.runtime.driver.set_active(Hopper())
    gpu.launch = lambda kernel, grid, *args, **meta: kernel.run(*args, grid=grid, warmup=True, **meta)
    x, weight, bias = numbers(4096, 128), numbers(64, 128), numbers(64)
    gpu.linears(x, [weight, weight[:4]], [bias, None])
    gpu.linear_sum([x, x], [weight, weight], bias)
    gpu.column_sums([x, x.bfloat16()])


if __name__ == "__main__":
    compile_kernels()
