"""Classes: the loss is torch's, the temperature is the best there is."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from weft import Sparse
from weft.data import Batch
from weft.encoders import mlp
from weft.errors import ShapeError
from weft.objectives import Classify
from weft.objectives.base import better

OVER = Sparse.from_edges([0, 1], [1, 0], 4)


def test_the_loss_is_cross_entropy_of_the_supervised():
    encoder, x = mlp(3, 2, dropout=0.0), torch.randn(4, 3)
    where, y = torch.tensor([1, 3]), torch.tensor([0, 1])
    loss = Classify(2, class_weight=torch.tensor([1.0, 3.0])).loss(encoder, Batch(x, OVER, y, where)).total
    expected = cross_entropy(encoder(x, OVER)[where], y, torch.tensor([1.0, 3.0]))
    assert torch.equal(loss, expected)


def test_answers_are_probabilities():
    objective = Classify(3)
    out = objective.predict(mlp(3, 3), Batch(torch.randn(4, 3), OVER))
    assert out.shape == (4, 3) and torch.allclose(out.sum(1), torch.ones(4))


def test_metrics_of_a_case_one_can_see():
    found = Classify(2).metrics(torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), torch.tensor([0, 1, 1]))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["log_loss_error"] == pytest.approx(-(math.log(0.9) + math.log(0.8) + math.log(0.4)) / 3)


@pytest.mark.parametrize("true", [0.3, 1.0, 4.0])
def test_the_temperature_is_found(true):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(20_000, 4, generator=generator) * 2
    y = torch.multinomial((logits / true).softmax(1), 1, generator=generator)[:, 0]
    objective = Classify(4)
    objective.calibrate(logits, y)
    assert float(objective.temperature) == pytest.approx(true, rel=0.05)


def test_a_perfect_classifier_keeps_a_finite_temperature():
    objective = Classify(2)
    objective.calibrate(torch.tensor([[5.0, -5.0], [-5.0, 5.0]]), torch.tensor([0, 1]))
    assert 0 < float(objective.temperature) <= 1


def test_weights_must_fit():
    with pytest.raises(ShapeError, match="3 classes need as many weights"):
        Classify(3, class_weight=torch.ones(2))


def test_errors_are_better_when_small():
    assert better("accuracy", 0.9, 0.8) and better("log_loss_error", 0.1, 0.2)
    assert Classify(2).prefers({"accuracy": 0.8, "log_loss_error": 0.2}, {"accuracy": 0.8, "log_loss_error": 0.3})
    assert not Classify(2).prefers({"accuracy": 0.7, "log_loss_error": 0.2}, {"accuracy": 0.8, "log_loss_error": 0.3})
    assert not better("accuracy", 0.8, 0.8) and not better("log_loss_error", 0.2, 0.2)
