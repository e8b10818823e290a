"""Numbers: learnt in standard deviations, answered in their own unit."""

import pytest
import torch

from weft import Sparse
from weft.data import Batch, NodeData, Split
from weft.encoders import mlp
from weft.objectives import Regress
from weft.training import Trainer

OVER = Sparse.from_edges([], [], 60)


def test_metrics_of_a_case_one_can_see():
    found = Regress().metrics(torch.tensor([1.0, 2.0, 6.0]), torch.tensor([1.0, 2.0, 3.0]))
    assert found["root_mean_square_error"] == pytest.approx(3**0.5)
    assert found["mean_absolute_error"] == 1
    assert found["r2"] == pytest.approx(1 - 9 / 2)


def test_a_line_is_learnt_in_its_own_unit():
    x = torch.linspace(-1, 1, 60)[:, None]
    y = 1000 + 50 * x[:, 0]
    split = Split.of(range(0, 60, 2), range(1, 60, 4), range(3, 60, 4), how="by turns")
    objective = Regress(float(y.mean()), float(y.std()))
    encoder = mlp(1, 1, depth=1, dropout=0.0)
    history = Trainer(epochs=300, lr=0.05, weight_decay=0).fit(encoder, objective, NodeData(x, OVER, y, split))
    assert history.end.metrics["root_mean_square_error"] < 0.5
    with torch.no_grad():
        answer = objective.predict(encoder, Batch(torch.tensor([[0.5]]), Sparse.from_edges([], [], 1)))
    assert float(answer) == pytest.approx(1025, abs=1)
