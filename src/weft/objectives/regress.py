"""A number."""

from collections.abc import Mapping

import torch
from torch import Tensor

from weft.data.batch import Batch
from weft.encoders import Encoder
from weft.objectives.base import Loss, Objective


class Regress(Objective):
    """Squared distance, in standard deviations of the training answers; answers are in their own unit.

    loss = mean_i (f(x_i) - (y_i - mean) / spread)²
    """

    metric, tie = "root_mean_square_error", "mean_absolute_error"
    out_dim = 1
    mean: Tensor
    spread: Tensor

    def __init__(self, mean: float = 0.0, spread: float = 1.0):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("spread", torch.tensor(spread, dtype=torch.float64))

    def loss(self, encoder: Encoder, batch: Batch) -> Loss:
        assert batch.y is not None
        wanted = ((batch.y - self.mean) / self.spread).float()
        return Loss((batch.pick(encoder(batch.x, batch.over))[:, 0] - wanted).square().mean())

    def predict(self, encoder: Encoder, batch: Batch) -> Tensor:
        return batch.pick(encoder(batch.x, batch.over))[:, 0] * self.spread + self.mean

    def metrics(self, prediction: Tensor, y: Tensor) -> Mapping[str, float]:
        away = prediction.double() - y.double()
        scatter = (y.double() - y.double().mean()).square().mean()
        return {
            "root_mean_square_error": float(away.square().mean().sqrt()),
            "mean_absolute_error": float(away.abs().mean()),
            "r2": float(1 - away.square().mean() / scatter) if scatter > 0 else float("nan"),
        }
