"""What is known spreads along edges: label propagation, and Correct & Smooth. Nothing is learnt."""

import torch
from jaxtyping import Float
from torch import Tensor

from weft.ops import aggregate
from weft.structure import Sparse
from weft.types import Index


def spread(
    start: Float[Tensor, "n k"], over: Sparse, *, share: float, steps: int, keep: Index | None = None
) -> Float[Tensor, "n k"]:
    r"""Each step takes a `share` of the neighbours' values and the rest of one's own start; `keep` positions never move.

        H_(t+1) = (1 - share) H_0 + share · D^(-1/2) A D^(-1/2) H_t

    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> spread(torch.tensor([[1.0], [0.0]]), over, share=0.5, steps=1).flatten().tolist()
    [0.5, 0.5]
    """
    over, h = over.normalized("symmetric"), start
    for _ in range(steps):
        h = (1 - share) * start + share * aggregate(h, over)
        if keep is not None:
            h[keep] = start[keep]
    return h


def label_propagation(
    known: Float[Tensor, "labelled k"], where: Index, over: Sparse, *, steps: int = 50
) -> Float[Tensor, "n k"]:
    r"""Harmonic functions (Zhu & Ghahramani 2002): every unknown answer is the mean of its neighbours', known ones stay.

        Y ← D^(-1) A Y,      Y_known ← known

    Rows are scaled to sum to 1 where anything arrived; where nothing did, all answers are equally likely.
    """
    y = known.new_zeros(over.num_targets, known.shape[1])
    y[where] = known
    over = over.normalized("row")
    for _ in range(steps):
        y = aggregate(y, over)
        y[where] = known
    mass = y.sum(1, keepdim=True)
    return torch.where(mass > 0, y / mass.clamp(min=1e-12), 1 / y.shape[1])


def correct_and_smooth(
    guess: Float[Tensor, "n k"],
    known: Float[Tensor, "labelled k"],
    where: Index,
    over: Sparse,
    *,
    correct: float = 0.8,
    smooth: float = 0.8,
    steps: int = 50,
) -> Float[Tensor, "n k"]:
    r"""Correct & Smooth (Huang et al. 2021, https://arxiv.org/abs/2010.13993, eq. 2 to 6).

    The errors on what is known spread and are taken off the guess, scaled to the size of the known errors; then known
    and corrected answers spread.
    """
    error = torch.zeros_like(guess)
    error[where] = known - guess[where]
    size = error[where].abs().sum(1).mean()
    wrong = spread(error, over, share=correct, steps=steps)
    length = wrong.abs().sum(1, keepdim=True)
    better = guess + torch.where(length > 0, wrong * (size / length.clamp(min=1e-12)), 0)
    better[where] = known
    found = spread(better, over, share=smooth, steps=steps).clamp(min=0)
    mass = found.sum(1, keepdim=True)
    return torch.where(mass > 0, found / mass.clamp(min=1e-12), guess)
