"""How the learning rate changes: a factor for each share of the way."""

from dataclasses import dataclass
from math import cos, pi
from typing import Protocol


class Schedule(Protocol):
    """A factor of the learning rate."""

    def factor(self, step: int, steps: int) -> float:
        """At `step` of `steps`, counted from 0."""
        ...


@dataclass(frozen=True)
class Constant:
    """The same rate throughout."""

    def factor(self, step: int, steps: int) -> float:
        return 1.0


@dataclass(frozen=True)
class Cosine:
    """Half a cosine from 1 down to `least`, after a straight rise during the first `warmup` share of the way.

    >>> [round(Cosine().factor(step, 4), 2) for step in range(5)]
    [1.0, 0.85, 0.5, 0.15, 0.0]
    """

    warmup: float = 0.0
    least: float = 0.0

    def factor(self, step: int, steps: int) -> float:
        rise = self.warmup * steps
        if step < rise:
            return (step + 1) / (rise + 1)
        way = (step - rise) / max(steps - rise, 1)
        return self.least + (1 - self.least) * (1 + cos(pi * min(way, 1.0))) / 2


@dataclass(frozen=True)
class Steps:
    """Times `factor_each` after each of the `at` shares of the way.

    >>> [Steps(at=(0.5,)).factor(step, 4) for step in range(4)]
    [1.0, 1.0, 0.1, 0.1]
    """

    at: tuple[float, ...]
    factor_each: float = 0.1

    def factor(self, step: int, steps: int) -> float:
        return self.factor_each ** sum(step >= share * steps for share in self.at)
