"""Random numbers by counting: the n-th number of a seed is a pure function, so that nothing need be stored.

SplitMix64 (Steele, Lea & Flood 2014) over seed + n · golden ratio; its highest 24 bits decide.
"""

import torch
from torch import Tensor

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
BITS = 24


def threshold(dropout: float) -> int:
    """Numbers of `BITS` bits below this are dropped."""
    return round(dropout * 2**BITS)


def kept(seed: Tensor, number: Tensor, dropout: float) -> Tensor:
    """Which of the numbered things survive dropout (the definition; kernels compute the same)."""
    mixed = seed + number * _signed(GOLDEN)
    mixed = (mixed ^ _shift(mixed, 30)) * _signed(MIX_1)
    mixed = (mixed ^ _shift(mixed, 27)) * _signed(MIX_2)
    return _shift(mixed ^ _shift(mixed, 31), 64 - BITS) >= threshold(dropout)


def mixed(*numbers: int) -> int:
    """One seed from several numbers; all of its bits depend on all of theirs (torch's generator looks at 32 of them).

    >>> mixed(0, 1) == mixed(0, 1), mixed(0, 1) == mixed(1, 0), mixed(0, 1) % 2**32 == mixed(0, 2) % 2**32
    (True, False, False)
    """
    state = 0
    for number in numbers:
        state = scrambled((state + number + GOLDEN) % 2**64)
    return state >> 1


def scrambled(state: int) -> int:
    """What SplitMix64 makes of a state of 64 bits."""
    state = ((state ^ (state >> 30)) * MIX_1) % 2**64
    state = ((state ^ (state >> 27)) * MIX_2) % 2**64
    return state ^ (state >> 31)


def new_seed(device: torch.device) -> Tensor:
    """A seed drawn from torch's own generator, so that `torch.manual_seed` governs it."""
    return torch.randint(2**62, (), device=device)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _shift(number: Tensor, by: int) -> Tensor:
    """A shift that fills with zeros, whatever the sign."""
    return (number >> by) & ((1 << (64 - by)) - 1)
