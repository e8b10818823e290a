"""How good answers are, in every way somebody asks for; larger is better unless a name ends in `_error`."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from weft.data import Split

BINS = 15


def class_scores(probability: Tensor, y: Tensor) -> dict[str, float]:
    """Of probabilities (nodes, classes) and true classes; what needs two classes is left out where only one occurs.

    >>> found = class_scores(torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), torch.tensor([0, 1, 1]))
    >>> round(found["accuracy"], 3), round(found["f1_macro"], 3), found["auc"]
    (0.667, 0.667, 1.0)
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    said, true, many = probability.argmax(1), y.numpy(), probability.shape[1]
    occurs, answered = (torch.bincount(each, minlength=many).double() for each in (y, said))
    hits = torch.bincount(y[said == y], minlength=many).double()
    here = occurs > 0  # classes that occur are those that count
    found = {
        "accuracy": float((said == y).double().mean()),
        "balanced_accuracy": float((hits[here] / occurs[here]).mean()),
        "f1_macro": float((2 * hits[here] / (occurs + answered)[here]).mean()),
    }
    share = probability.double()
    share = (share / share.sum(1, keepdim=True)).numpy()
    classes = share.shape[1]
    if len(np.unique(true)) == classes:
        if classes == 2:
            found["auc"] = float(roc_auc_score(true, share[:, 1]))
            found["average_precision"] = float(average_precision_score(true, share[:, 1]))
        else:
            found["auc"] = float(roc_auc_score(true, share, multi_class="ovr", labels=np.arange(classes)))
            one_hot = np.eye(classes)[true]
            found["average_precision"] = float(average_precision_score(one_hot, share, average="macro"))
    surprise = -np.log(np.maximum(share[np.arange(len(true)), true], 1e-12))
    return found | {"log_loss_error": float(surprise.mean()), "calibration_error": calibration_error(probability, y)}


def calibration_error(probability: Tensor, y: Tensor) -> float:
    """How far confidence is from accuracy: the mean distance over bins of equal width, weighted by their counts.

    >>> calibration_error(torch.tensor([[0.75, 0.25]] * 4), torch.tensor([0, 0, 0, 1]))
    0.0
    """
    confidence, said = probability.double().max(1)
    right = (said == y).double()
    place = (confidence * BINS).long().clamp(max=BINS - 1)
    sums = torch.zeros(2, BINS, dtype=torch.float64)
    sums[0].index_add_(0, place, confidence)
    sums[1].index_add_(0, place, right)
    return float((sums[0] - sums[1]).abs().sum() / len(y))


def part_scores(probability: Tensor, y: Tensor, split: Split) -> dict[str, Mapping[str, float]]:
    """The scores of each part that is not empty."""
    return {name: class_scores(probability[part], y[part]) for name, part in split if len(part)}
