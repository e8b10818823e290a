"""One of several classes."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from weft.data.batch import Batch
from weft.encoders import Encoder
from weft.errors import ShapeError
from weft.objectives.base import Loss, Objective


class Classify(Objective):
    """Cross-entropy over classes; answers are probabilities.

        loss = - Σ_i w_(y_i) log softmax(f(x_i) / T)_(y_i) / Σ_i w_(y_i)

    `class_weight` (classes) makes rare classes count more; the temperature T is 1 while training and set by
    `calibrate` afterwards (Guo et al. 2017).
    """

    metric, tie = "accuracy", "log_loss_error"
    class_weight: Tensor | None
    temperature: Tensor

    def __init__(self, classes: int, *, class_weight: Tensor | None = None):
        super().__init__()
        if class_weight is not None and class_weight.shape != (classes,):
            raise ShapeError(f"Classify: {classes} classes need as many weights, but got {tuple(class_weight.shape)}.")
        self.out_dim = classes
        self.register_buffer("class_weight", class_weight)
        self.register_buffer("temperature", torch.ones(()))

    def loss(self, encoder: Encoder, batch: Batch) -> Loss:
        assert batch.y is not None
        return Loss(cross_entropy(batch.pick(encoder(batch.x, batch.over)), batch.y, self.class_weight))

    def predict(self, encoder: Encoder, batch: Batch) -> Tensor:
        return (batch.pick(encoder(batch.x, batch.over)) / self.temperature).softmax(-1)

    def metrics(self, prediction: Tensor, y: Tensor) -> Mapping[str, float]:
        right = (prediction.argmax(-1) == y).double().mean()
        surprise = -prediction.gather(-1, y[:, None]).clamp(min=1e-12).log().double().mean()
        return {"accuracy": float(right), "log_loss_error": float(surprise)}

    def calibrate(self, logits: Tensor, y: Tensor) -> None:
        """The temperature under which held-out answers are the least surprising, found by Newton's method on 1 / T."""
        logits, inverse = logits.double(), torch.ones((), dtype=torch.float64)
        for _ in range(50):
            share = (inverse * logits).softmax(-1)
            mean = (share * logits).sum(-1)
            slope = (mean - logits.gather(-1, y[:, None])[:, 0]).mean()
            bend = ((share * logits.square()).sum(-1) - mean.square()).mean()
            inverse = (inverse - slope / bend.clamp(min=1e-12)).clamp(inverse / 2, inverse * 2)
        self.temperature.copy_(1 / inverse.clamp(1e-2, 1e2))
