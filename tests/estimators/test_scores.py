"""Scores beside scikit-learn's, and cases one can see."""

import pytest
import torch
from sklearn import metrics

from weft.data import Split
from weft.estimators.scores import calibration_error, class_scores, part_scores


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_scikit_learns(classes):
    generator = torch.Generator().manual_seed(0)
    share = torch.rand(300, classes, generator=generator, dtype=torch.float64).softmax(1)
    y = torch.randint(classes, (300,), generator=generator)
    found, said = class_scores(share, y), share.argmax(1)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, said))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, said))
    assert found["f1_macro"] == pytest.approx(metrics.f1_score(y, said, average="macro"))
    assert found["log_loss_error"] == pytest.approx(metrics.log_loss(y, share))
    auc = metrics.roc_auc_score(y, share[:, 1]) if classes == 2 else metrics.roc_auc_score(y, share, multi_class="ovr")
    assert found["auc"] == pytest.approx(auc)


def test_a_class_that_does_not_occur_leaves_out_what_needs_it():
    found = class_scores(torch.tensor([[0.7, 0.3], [0.6, 0.4]]), torch.tensor([0, 0]))
    assert found["accuracy"] == 1 and "auc" not in found and "average_precision" not in found


def test_confidence_without_ground_is_a_calibration_error():
    sure = torch.tensor([[1.0, 0.0]]).expand(10, -1)
    assert calibration_error(sure, torch.tensor([0] * 5 + [1] * 5)) == 0.5


def test_parts_that_are_empty_have_no_scores():
    split = Split.of([0, 1], [], [2, 3], how="by hand")
    share = torch.tensor([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    found = part_scores(share, torch.tensor([0, 1, 1, 1]), split)
    assert list(found) == ["train", "test"] and found["train"]["accuracy"] == 1 and found["test"]["accuracy"] == 0.5
