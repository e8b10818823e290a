"""Random numbers by counting, against SplitMix64 in whole numbers of any size."""

import pytest
import torch

from weft.ops.random import GOLDEN, MIX_1, MIX_2, kept, new_seed, threshold

MASK = 2**64 - 1


def splitmix(seed: int, number: int) -> int:
    mixed = (seed + number * GOLDEN) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * MIX_1) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * MIX_2) & MASK
    return mixed ^ (mixed >> 31)


def test_the_published_first_number():
    assert splitmix(0, 1) == 0xE220A8397B1DCDAF  # of the generator seeded with 0


@pytest.mark.parametrize("seed", [0, 1, -1, 2**62, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("dropout", [0.1, 0.5, 0.9])
def test_kept_is_splitmix(seed, dropout):
    number = torch.tensor([0, 1, 2, 1000, 2**31, 2**40])
    expected = [splitmix(seed, n) >> 40 >= threshold(dropout) for n in number.tolist()]
    assert kept(torch.tensor(seed), number, dropout).tolist() == expected


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.5, 0.9])
def test_drops_its_share(dropout):
    share = 1 - kept(torch.tensor(7), torch.arange(100_000), dropout).double().mean()
    assert float(share) == pytest.approx(dropout, abs=0.005)


def test_new_seed_follows_torch():
    torch.manual_seed(1)
    first, second = new_seed(torch.device("cpu")), new_seed(torch.device("cpu"))
    torch.manual_seed(1)
    assert new_seed(torch.device("cpu")) == first != second
