"""Operators: the short way and torch's own way to the same kernel."""

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from weft.ops import Additive, aggregate, attend
from weft.structure import Sparse

OVER = Sparse.from_edges([0, 1, 2, 0], [1, 2, 0, 0], 3)
CALLS = {
    "sum": lambda x: aggregate(x, OVER),
    "max": lambda x: aggregate(x, OVER, how="max"),
    "std": lambda x: aggregate(x, OVER, how="std"),
    "dot": lambda x: attend(x, x, x, OVER),
    "additive": lambda x: attend(x.sum(-1), x.mean(-1), x, OVER, score=Additive()),
}
calls = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


class Watching(TorchDispatchMode):
    """Notes the names of the operators that torch sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


@calls
def test_a_mode_sees_the_operator_and_the_same_numbers(call):
    x = torch.randn(3, 2, 4, requires_grad=True)
    with Watching() as mode:
        watched = call(x)
        (grad,) = torch.autograd.grad(watched.sin().sum(), x)
    assert any(name.startswith("weft.") for name in mode.seen)
    plain = call(x)
    assert torch.equal(watched, plain)
    assert torch.equal(grad, torch.autograd.grad(plain.sin().sum(), x)[0])


@calls
def test_function_transforms_find_the_same_gradient(call):
    x = torch.randn(3, 2, 4, requires_grad=True)
    (expected,) = torch.autograd.grad(call(x).sin().sum(), x)
    torch.testing.assert_close(torch.func.grad(lambda x: call(x).sin().sum())(x.detach()), expected)


def test_tensors_without_numbers_have_shapes():
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        x = mode.from_tensor(torch.randn(3, 2, 4))
        assert aggregate(x, OVER).shape == (3, 2, 4)


def test_nothing_is_kept_where_nothing_learns():
    x = torch.randn(3, 2, 4, requires_grad=True)
    assert aggregate(x.detach(), OVER).grad_fn is None
    with torch.no_grad():
        assert aggregate(x, OVER).grad_fn is None
