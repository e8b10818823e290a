"""The numbers behind the page, held against scikit-learn and against counting by hand."""

import numpy as np
import pytest
import torch
from sklearn import metrics
from sklearn.decomposition import PCA

from weft.report.figures import (
    calibration,
    class_scores,
    confusion,
    degrees,
    interval,
    neighbours,
    project,
    sample,
    surest_mistakes,
    worst_pairs,
)
from weft.structure import Sparse


def answers(count: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    dice = np.random.default_rng(seed)
    found = dice.dirichlet(np.ones(classes) / 2, count)
    y = np.where(dice.random(count) < 0.6, found.argmax(1), dice.integers(0, classes, count))
    return found, y


@pytest.mark.parametrize(("count", "classes"), [(1, 2), (50, 2), (400, 7), (60, 40)])
def test_confusion_and_scores_as_scikit_learn_has_them(count, classes):
    found, y = answers(count, classes)
    said = found.argmax(1)
    matrix = confusion(y, said, classes)
    labels = range(classes)
    assert np.array_equal(matrix, metrics.confusion_matrix(y, said, labels=labels))
    ours = class_scores(matrix)
    theirs = metrics.precision_recall_fscore_support(y, said, labels=labels, zero_division=np.nan)
    for one, other in zip((ours.precision, ours.recall, ours.f1, ours.support), theirs, strict=True):
        np.testing.assert_allclose(one, other)


def test_the_worst_pairs_come_first_and_right_answers_never():
    matrix = np.array([[50, 3, 0], [7, 20, 1], [0, 3, 9]])
    assert worst_pairs(matrix, 3) == [(1, 0, 7), (0, 1, 3), (2, 1, 3)]
    assert worst_pairs(np.diag([4, 5])) == []


def test_calibration_counted_by_hand():
    found = np.array([[0.95, 0.05], [0.92, 0.08], [0.3, 0.7], [0.35, 0.65]])
    bins, error = calibration(found, np.array([0, 1, 1, 1]))
    assert [(each.low, each.count, each.right) for each in bins] == [(0.6, 2, 1.0), (0.9, 2, 0.5)]
    assert error == pytest.approx((2 * (1 - 0.675) + 2 * (0.935 - 0.5)) / 4)


def test_calibration_curve_as_scikit_learn_has_it():
    from sklearn.calibration import calibration_curve

    found, y = answers(500, 5)
    bins, _ = calibration(found, y)
    right, sure = calibration_curve(found.argmax(1) == y, found.max(1), n_bins=10)
    np.testing.assert_allclose([each.right for each in bins], right)
    np.testing.assert_allclose([each.confidence for each in bins], sure)


def test_answers_that_are_certain_stand_in_the_last_bin():
    bins, error = calibration(np.array([[1.0, 0.0]]), np.array([0]))
    assert [(each.low, each.high, each.count) for each in bins] == [(0.9, 1.0, 1)] and error == 0


def test_the_map_is_the_one_of_scikit_learn_up_to_signs():
    x = np.random.default_rng(0).normal(size=(80, 9)) * np.arange(9, 0, -1)
    points, shares = project(x)
    pca = PCA(2).fit(x)
    np.testing.assert_allclose(np.abs(points), np.abs(pca.transform(x)), atol=1e-9)
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_)


def test_the_map_does_not_flip():
    x = np.random.default_rng(0).normal(size=(30, 4))
    points, _ = project(x)
    np.testing.assert_allclose(project(-x)[0], -points, atol=1e-12)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    assert np.array_equal(project(x)[0], points)
    torch.set_num_threads(before)


@pytest.mark.parametrize("x", [np.ones((1, 3)), np.ones((5, 3)), np.arange(4.0)[:, None], np.full((3, 3), np.nan)])
def test_a_map_of_hardly_anything(x):
    points, shares = project(x)
    assert points.shape == (len(x), 2) and shares.shape == (2,) and np.isfinite(points).all() and np.isfinite(shares).all()


def test_a_sample_is_the_same_every_time():
    assert np.array_equal(sample(1000, 30), sample(1000, 30)) and len(set(sample(1000, 30))) == 30
    assert np.all(np.diff(sample(1000, 30)) > 0)


def test_the_surest_mistakes():
    found = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.99, 0.01]])
    y = np.array([1, 0, 0, 1])
    assert surest_mistakes(found, y, np.array([0, 1, 2])).tolist() == [0, 2]
    assert surest_mistakes(found, y, np.array([0, 1, 2, 3]), most=1).tolist() == [3]
    assert surest_mistakes(found, y, np.array([1])).tolist() == []


@pytest.mark.parametrize(("share", "count"), [(0.0, 5), (1.0, 5), (0.4, 30)])
def test_an_interval_stays_within_all_and_nothing(share, count):
    low, high = interval(share, count)
    assert 0 <= low <= share <= high <= 1 and high - low > 0.1


def test_degrees_and_neighbours_leave_out_oneself():
    both = Sparse.from_edges([0, 1, 1, 2, 2], [1, 0, 2, 1, 2], 4)
    assert degrees(both, directed=False).tolist() == [1, 2, 1, 0]
    assert [neighbours(both, at).tolist() for at in range(4)] == [[1], [0, 2], [1], []]
    assert degrees(Sparse.from_edges([0, 0], [1, 2], 3), directed=True).tolist() == [2, 1, 1]
