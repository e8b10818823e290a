"""Aggregation by rule: lines and images small enough to see."""

import pytest
import torch

from weft.ops import aggregate
from weft.structure import Causal, Chain, Dense, Grid, Window

LINE = torch.tensor([[1.0], [2.0], [4.0], [8.0]])

CASES = [
    (Dense(4), "sum", [15, 15, 15, 15]),
    (Dense(2, 4), "mean", [3.75, 3.75]),
    (Causal(4), "sum", [1, 3, 7, 15]),
    (Causal(2, 4), "mean", [7 / 3, 3.75]),
    (Causal(4), "max", [1, 2, 4, 8]),
    (Causal(4), "min", [1, 1, 1, 1]),
    (Window(4, 1), "sum", [1, 3, 6, 12]),
    (Window(4, 1, 1), "max", [2, 4, 8, 8]),
    (Window(4, 0, 1), "std", [0.5, 1, 2, 0]),
    (Chain(4), "sum", [0, 1, 2, 4]),
    (Chain(4, reverse=True), "sum", [2, 4, 8, 0]),
    (Chain(4), "std", [0, 0, 0, 0]),
    (Grid((2, 2)), "sum", [15, 15, 15, 15]),
    (Grid((4,)), "sum", [3, 7, 14, 12]),
    (Grid((4,), radius=0), "max", [1, 2, 4, 8]),
]


@pytest.mark.parametrize(("over", "how", "expected"), CASES, ids=[f"{how} over {over}" for over, how, _ in CASES])
def test_of_a_line(over, how, expected):
    torch.testing.assert_close(aggregate(LINE, over, how=how).flatten().tolist(), [float(number) for number in expected])


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        (Dense(4, lengths=[2, 4]), [3, 3, 0, 0, 15, 15, 15, 15]),
        (Causal(4, lengths=[3, 0]), [1, 3, 7, 0, 0, 0, 0, 0]),
        (Window(4, 1, lengths=[1, 2]), [1, 0, 0, 0, 1, 3, 0, 0]),
        (Chain(4, lengths=[4, 2]), [0, 1, 2, 4, 0, 1, 0, 0]),
        (Dense(1, 4, lengths=[2, 3]), [3, 7]),
    ],
    ids=repr,
)
def test_beyond_a_length_nobody_speaks_or_listens(over, expected):
    assert aggregate(LINE.expand(2, 4, 1), over).flatten().tolist() == expected


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "std"])
@pytest.mark.parametrize(
    "over", [Dense(4), Causal(4), Causal(2, 4), Window(4, 1), Chain(4), Grid((2, 2)), Grid((4,))], ids=repr
)
def test_nan_reaches_those_who_hear_it_and_nobody_else(over, how):
    x = LINE.clone()
    x[1] = torch.nan
    source, target = over.to_sparse().ends()
    expected = torch.zeros(over.num_targets, dtype=torch.bool)
    expected[target[source == 1]] = True
    assert aggregate(x, over, how=how).isnan().flatten().tolist() == expected.tolist()


def test_a_box_blur_is_a_mean_over_a_grid():
    image = torch.randn(1, 1, 6, 7, dtype=torch.float64)
    blurred = torch.nn.functional.avg_pool2d(image, 3, stride=1, padding=1, count_include_pad=False)
    out = aggregate(image.flatten()[:, None], Grid((6, 7)), how="mean")
    torch.testing.assert_close(out.view(6, 7), blurred[0, 0])


def test_the_future_does_not_change_the_past():
    x = torch.randn(10, 3)
    later = x.clone()
    later[6:] = 100.0
    for how in ("sum", "mean", "max", "std"):
        assert torch.equal(aggregate(x, Causal(10), how=how)[:6], aggregate(later, Causal(10), how=how)[:6])
