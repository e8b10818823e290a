"""How well a source matches a target: the closed family of scores that kernels know."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Dot:
    """scale · ⟨q, k⟩, by default with scale 1/√dim (Vaswani et al. 2017, eq. 1).

    q (targets, heads, dim), k (sources, heads, dim).
    """

    scale: float | None = None


@dataclass(frozen=True, eq=False)
class Additive:
    """leaky_relu(q + k) of one number per node and head (Veličković et al. 2018, eq. 3).

    q (targets, heads), k (sources, heads).
    """

    slope: float = 0.2


@dataclass(frozen=True, eq=False)
class Activated:
    """⟨vector, leaky_relu(q + k)⟩ with a learnt vector (heads, dim) (Brody et al. 2022, eq. 7).

    q (targets, heads, dim), k (sources, heads, dim).
    """

    vector: Tensor
    slope: float = 0.2


Score = Dot | Additive | Activated
