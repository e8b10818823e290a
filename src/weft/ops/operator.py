"""Operators: kernels that torch.compile sees as one thing, reached by the shortest way when nothing is compiled."""

from collections.abc import Callable
from typing import Any

import torch

Save = Callable[[Any, tuple[Any, ...], Any], None]
"""Keeps, of inputs and output, what the way back needs."""


class Operator:
    """A kernel per device, its shapes and its derivative, under one name in torch's library.

    torch's own way to a Python operator unpacks every list and checks every result, which takes longer than a kernel
    on a small graph. So it is taken only where torch must see the operator (while it compiles, or under a mode that
    watches operators); otherwise the same kernels and the same derivative are called directly.

    `known` is what torch's library holds; the first argument is always a tensor, and says the device.
    """

    def __init__(self, name: str, kernel: Callable[..., Any]):
        self.known = torch.library.custom_op(name, kernel, mutates_args=(), device_types="cpu")
        self.name, self.kernels = name, {"cpu": kernel}
        self.direct, self.transformed = self._functions(self._refuse, lambda ctx, inputs, output: None)

    def __call__(self, *args: Any) -> Any:
        if watched():
            return self.known(*args)
        if not torch.is_grad_enabled():
            return self.run(*args)
        return (self.transformed if transforms_active() else self.direct).apply(*args)

    def run(self, *args: Any) -> Any:
        """The kernel for the device of the first argument, without derivatives."""
        return self.kernels[args[0].device.type](*args)

    def on_gpu(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Use this kernel on a GPU."""
        self.kernels["cuda"] = kernel
        self.known.register_kernel("cuda", kernel)
        return kernel

    def shapes(self, fake: Callable[..., Any]) -> Callable[..., Any]:
        """Results of the right shapes and types, without numbers in them."""
        self.known.register_fake(fake)
        return fake

    def derivative(self, backward: Callable[..., Any], save: Save) -> None:
        """The way back; `save` keeps what it needs."""
        self.direct, self.transformed = self._functions(backward, save)
        self.known.register_autograd(backward, setup_context=save)

    def _functions(self, backward: Callable[..., Any], save: Save) -> list[type[torch.autograd.Function]]:
        """The kernel and its derivative for tensors, and the same in the form that torch.func asks for."""

        def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.set_materialize_grads(False)
            save(ctx, inputs, output)

        def forward(ctx: Any, *args: Any) -> Any:
            output = self.run(*args)
            keep(ctx, args, output)
            return output

        def back(ctx: Any, *grads: Any) -> Any:  # only the first result has a gradient
            return backward(ctx, *grads) if grads[0] is not None else (None,) * len(ctx.needs_input_grad)

        ways: list[dict[str, Any]] = [{"forward": forward}, {"forward": self.run, "setup_context": keep}]
        return [
            type("Operator", (torch.autograd.Function,), {k: staticmethod(v) for k, v in (way | {"backward": back}).items()})
            for way in ways
        ]

    def _refuse(self, ctx: Any, *grads: Any) -> None:
        raise RuntimeError(f"{self.name} has no derivative; compute what is differentiated once more by the primitives.")


def watched() -> bool:
    """Whether torch is compiling, or a mode looks at every operator (fake tensors, tracing)."""
    return torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0  # pyright: ignore


def transforms_active() -> bool:
    """Whether a transform of torch.func is at work."""
    return torch._C._are_functorch_transforms_active()  # pyright: ignore


def operator(name: str) -> Callable[[Callable[..., Any]], Operator]:
    """A function as an operator's kernel on a CPU."""
    return lambda kernel: Operator(name, kernel)
