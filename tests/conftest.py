"""What every test runs under: poisoned memory, few threads, generated cases that repeat, and one way to compare.

`WEFT_DEVICE=cuda` makes new tensors on the GPU: the contracts then hold its kernels against the same definitions.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
import torch
from torch import Tensor

from weft.ops import buffers

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # before anyone imports a Triton kernel

CASES = 60
"""Generated cases of each property; thousands with WEFT_DEEP=1."""

_quiet: dict[str, Any] = {"deadline": None, "derandomize": True, "database": None, "print_blob": False}
hypothesis.settings.register_profile("default", max_examples=CASES, **_quiet)
hypothesis.settings.register_profile("deep", max_examples=2000, **_quiet)
hypothesis.settings.load_profile("deep" if os.environ.get("WEFT_DEEP") == "1" else "default")


torch.set_default_device(os.environ.get("WEFT_DEVICE", "cpu"))


@pytest.fixture(scope="session", autouse=True)
def few_threads() -> None:
    torch.set_num_threads(2)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def poisoned_memory() -> Iterator[None]:
    """Uninitialised memory holds NaN, or the most negative whole number: what nobody wrote cannot pass for a result."""
    with pytest.MonkeyPatch.context() as patch:
        for home, name in ((torch, "empty"), (torch, "empty_like"), (Tensor, "new_empty")):
            patch.setattr(home, name, poisoned(getattr(home, name)))
        patch.setattr(buffers.Free, "take", poisoned_bytes(buffers.Free.take))
        yield


def poisoned(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def wrapper(*args: Any, **settings: Any) -> Tensor:
        out = make(*args, **settings)
        if torch.compiler.is_compiling() or out.is_meta:
            return out
        if out.is_floating_point() or out.is_complex():
            out.detach().fill_(torch.nan)
        elif out.dtype != torch.bool:
            out.fill_(torch.iinfo(out.dtype).min if out.dtype.is_signed else torch.iinfo(out.dtype).max)
        return out

    return wrapper


def poisoned_bytes(take: Callable[..., Any]) -> Callable[..., Any]:
    """All bits set: NaN in every floating-point type, -1 in every whole one."""

    def wrapper(*args: Any) -> Any:
        block = take(*args)
        block.fill(0xFF)
        return block

    return wrapper


Compute = Callable[..., Tensor]
Agree = Callable[..., None]


@pytest.fixture(scope="session")
def agree() -> Agree:
    """Hold two ways to compute the same against each other: the values, and the gradient of every input.

    What is expected is what `slow` makes of the same numbers in float64; errors are relative to its norm.
    """

    def check(fast: Compute, slow: Compute, inputs: dict[str, Tensor], *, within: float | None = None) -> None:
        dtype = next(iter(inputs.values())).dtype
        within = within or {torch.float64: 1e-10, torch.float32: 1e-5}.get(dtype, 2e-2)
        left = {name: x.detach().clone().requires_grad_() for name, x in inputs.items()}
        right = {name: x.double().detach().clone().requires_grad_() for name, x in inputs.items()}
        got, expected = fast(**left), slow(**right)
        assert got.dtype == dtype
        near(got, expected, within, "values")
        towards = torch.randn(got.shape, dtype=torch.float64).to(dtype)
        got.backward(towards)
        expected.backward(towards.to(expected.dtype))
        for name, x in left.items():
            if x.grad is not None or right[name].grad is not None:
                assert x.grad is not None and right[name].grad is not None, name
                assert x.grad.dtype == x.dtype, name
                near(x.grad, right[name].grad, within, f"gradient of {name}")

    return check


def near(got: Tensor, expected: Tensor | None, within: float, what: str) -> None:
    assert expected is not None and got.shape == expected.shape, what
    assert not got.isnan().any(), f"{what}: NaN"
    error = (got.detach() - expected.detach()).norm()
    scale = max(float(expected.detach().norm()), 0.5 * expected.numel() ** 0.5)  # zeros are what is left of ones
    assert error <= within * scale, f"{what}: off by {float(error):.3g} where the norm is {scale:.3g}"


@pytest.fixture(scope="session")
def pyg() -> Any:
    """PyTorch Geometric, as an oracle; its own warnings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("torch_geometric")
        pytest.importorskip("torch_geometric.nn")
    return library
