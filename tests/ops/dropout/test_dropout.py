"""Dropout: what survives is a function of the seed and the place, on every device."""

import os
import subprocess
import sys

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the kernels are defined; 0 runs these tests on a GPU

import pytest
import torch
from torch import Tensor

from weft import errors
from weft.ops import dropout
from weft.ops.dropout import drop, reference
from weft.ops.parallel import SMALL

gpu = pytest.importorskip("weft.ops.dropout.gpu")

INTERPRETED = os.environ["TRITON_INTERPRET"] == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
SEED = torch.tensor(77)
every_way = pytest.mark.parametrize("way", ["cpu", "triton"])


def take(monkeypatch, way: str) -> None:
    if way == "triton":
        monkeypatch.setitem(drop.kernels, DEVICE, gpu.drop)


@every_way
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 0, 2), (5, 411)], ids=str)
def test_the_definition(monkeypatch, agree, way, shape):
    take(monkeypatch, way)
    agree(
        lambda x: dropout(x.to(DEVICE), 0.3, seed=SEED.to(DEVICE)).cpu(),
        lambda x: reference.dropout(x, 0.3, SEED),
        {"x": torch.randn(shape)},
    )


@every_way
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_numbers(monkeypatch, way, dtype):
    take(monkeypatch, way)
    x = torch.randn(50, 3).to(dtype).to(DEVICE)
    out = dropout(x, 0.5, seed=SEED.to(DEVICE))
    assert out.dtype == dtype and torch.equal(out.cpu(), reference.dropout(x.cpu(), 0.5, SEED))


def test_twice_derived():
    x = torch.randn(6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: dropout(x, 0.4, seed=SEED) ** 3, (x,))


def test_torch_compiles_it_whole():
    def twice(x: Tensor, seed: Tensor) -> Tensor:
        return dropout(2 * x, 0.25, seed=seed)

    x = torch.randn(40)
    assert torch.equal(torch.compile(twice, fullgraph=True, backend="aot_eager")(x, SEED), twice(x, SEED))


def test_the_same_for_any_number_of_threads():
    x, found = torch.randn(SMALL), {}
    before = torch.get_num_threads()
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        found[threads] = dropout(x, 0.5, seed=SEED)
    torch.set_num_threads(before)
    assert torch.equal(found[1], found[2]) and torch.equal(found[1], found[4])


def test_the_share_is_kept_and_the_seed_is_torchs():
    x = torch.ones(100_000)
    torch.manual_seed(3)
    first, second = dropout(x, 0.2), dropout(x, 0.2)
    torch.manual_seed(3)
    assert torch.equal(first, dropout(x, 0.2)) and not torch.equal(first, second)
    assert abs(float((first == 0).float().mean()) - 0.2) < 0.005
    assert abs(float(first.mean()) - 1) < 0.01


def test_nothing_is_dropped_of_nothing():
    x = torch.randn(5)
    assert dropout(x, 0.0) is x


@pytest.mark.parametrize("share", [-0.1, 1.0, 2])
def test_a_share_that_cannot_be(share):
    with pytest.raises(errors.WeftValueError, match=f"share must be at least 0 and below 1, but got {share}"):
        dropout(torch.ones(3), share)


def test_whole_numbers_are_refused():
    with pytest.raises(errors.DtypeError, match="int64"):
        dropout(torch.arange(3), 0.5)


@pytest.mark.skipif(not INTERPRETED, reason="the other tests compile")
def test_it_compiles_for_a_gpu():
    done = subprocess.run(
        [sys.executable, __file__], env=os.environ | {"TRITON_INTERPRET": "0"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


def compile_kernel():
    import triton
    from triton.backends.compiler import GPUTarget

    class Hopper:
        get_current_device = get_current_stream = staticmethod(lambda *_: 0)
        get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))

    triton.runtime.driver.set_active(Hopper())
    gpu.launch = lambda kernel, grid, *args, **meta: kernel.run(*args, grid=grid, warmup=True, **meta)
    for dtype in (torch.float32, torch.bfloat16):
        gpu.drop(torch.ones(4096, dtype=dtype), SEED, 0.5)


if __name__ == "__main__":
    compile_kernel()
