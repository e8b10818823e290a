"""Which kernel runs, why the others declined, and what every verb checks first."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from weft.errors import DeviceError, DtypeError, WeftTypeError
from weft.structure import Sparse
from weft.structure.compress import MAX_INT32, Rows

KERNEL_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
"""Element types every verb accepts."""


@dataclass(frozen=True)
class Choice:
    """One call: the verb, the kernel that ran, and why each other kernel did not."""

    verb: str
    kernel: str
    declined: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        reasons = "".join(f"\n    {kernel}: {reason}" for kernel, reason in self.declined)
        return f"{self.verb} → {self.kernel}{reasons}"


@dataclass
class Plan:
    """The calls recorded by `explain`, in order."""

    choices: list[Choice] = field(default_factory=list[Choice])

    def __str__(self) -> str:
        return "\n".join(str(choice) for choice in self.choices) or "no verb ran"


_plan: ContextVar[Plan | None] = ContextVar("weft_plan", default=None)


@contextmanager
def explain() -> Generator[Plan]:
    """Record which kernels ran inside, and why the others declined.

    >>> import torch, weft
    >>> with explain() as plan:
    ...     y = weft.aggregate(torch.ones(3, 2), weft.Sparse.from_edges([0, 1], [1, 2], 3))
    >>> print(plan)
    aggregate[sum] → cpu
        gpu: x is on cpu
    """
    plan = Plan()
    token = _plan.set(plan)
    try:
        yield plan
    finally:
        _plan.reset(token)


def record(verb: str, kernel: str, *declined: tuple[str, str]) -> None:
    """Tell `explain`, if it listens (never while a graph is compiled)."""
    if torch.compiler.is_compiling():
        return
    plan = _plan.get()
    if plan is not None:
        plan.choices.append(Choice(verb, kernel, declined))


@cache
def has_module(name: str) -> bool:
    return find_spec(name) is not None


def choose(verb: str, x: Tensor, over: Sparse) -> str:
    """The kernel for edges listed one by one: `cpu` (Numba), `gpu` (Triton) or `reference` (plain torch)."""
    declined: list[tuple[str, str]] = []
    kernel = "reference"
    if x.device.type == "cpu":
        declined.append(("gpu", "x is on cpu"))
        kernel = "cpu"
    elif x.device.type == "cuda":
        declined.append(("cpu", f"x is on {x.device}"))
        if x.dtype == torch.float64:
            declined.append(("gpu", "float64 is computed by the reference"))
        elif not has_module("triton"):
            declined.append(("gpu", "triton is not installed"))
        else:
            kernel = "gpu"
    else:
        declined += [("cpu", f"x is on {x.device}"), ("gpu", f"x is on {x.device}")]
    if kernel != "reference" and over.num_edges > MAX_INT32:
        declined.append((kernel, f"{over.num_edges:,} edges are more than 2^31 - 1"))
        kernel = "reference"
    record(verb, kernel, *declined)
    return kernel


def check_tensor(x: object, caller: str, name: str, over_device: torch.device | None) -> Tensor:
    """A floating-point tensor on the device of the structure, or a sentence about why it is not."""
    if not isinstance(x, Tensor):
        raise WeftTypeError(f"{caller}: {name} must be a tensor, but got {type(x).__name__}.")
    if x.dtype not in KERNEL_DTYPES:
        raise DtypeError(
            f"{caller}: {name} must be float32, float64, bfloat16 or float16, but holds {str(x.dtype).removeprefix('torch.')}. "
            f"Convert it with {name}.float()."
        )
    if over_device is not None and x.device != over_device:
        raise DeviceError(
            f"{caller}: {name} is on {x.device} and the structure on {over_device}. Use over.to({str(x.device)!r})."
        )
    return x


Relation = list[Tensor | None]
"""What kernels need of a `Sparse`: twice pointer, index, position, scale, schedule; by target, then by source."""


SCALE_TARGET, SCALE_SOURCE = 3, 8
"""Where the factors of the weights stand in a `Relation`."""


def relation(over: Sparse, both_ways: bool) -> Relation:
    """The tensors of a structure for an operator; by source only where gradients will ask for it."""
    back: Relation = _side(over.columns, over.scale_source) if both_ways else [None, None, None, over.scale_source, None]
    return [*_side(over.rows, over.scale_target), *back]


def transpose(tensors: Relation) -> Relation:
    """The same relation seen from its sources."""
    return [*tensors[5:], *tensors[:5]]


def _side(rows: Rows, scale: Tensor | None) -> Relation:
    return [rows.pointer, rows.index, rows.position, scale, rows.schedule]
