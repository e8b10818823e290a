"""The numbers behind the page, from arrays to arrays: confusion, scores, calibration, a map, mistakes, neighbours."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import torch

from weft.ops.parallel import repeatable
from weft.structure import Sparse

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Scores:
    """Precision, recall, F1 and support of each class; NaN where there is nothing to divide by."""

    precision: Numbers
    recall: Numbers
    f1: Numbers
    support: Numbers


@dataclass(frozen=True)
class Bin:
    """Answers of about the same confidence: how many, how sure on average, and how often right."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


def confusion(y: Numbers, said: Numbers, classes: int) -> Numbers:
    """How often each class (row) was called each class (column).

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    return np.bincount(y * classes + said, minlength=classes * classes).reshape(classes, classes)


def class_scores(matrix: Numbers) -> Scores:
    """What a confusion matrix says of each class."""
    right, called, support = np.diag(matrix), matrix.sum(0), matrix.sum(1)
    return Scores(_share(right, called), _share(right, support), _share(2 * right, called + support), support)


def worst_pairs(matrix: Numbers, most: int = 5) -> list[tuple[int, int, int]]:
    """The most frequent confusions: truth, what was said, how often."""
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [(int(at) // len(matrix), int(at) % len(matrix), int(wrong.flat[at])) for at in order]
    return [pair for pair in pairs if pair[2]]


def calibration(found: Numbers, y: Numbers, bins: int = 10) -> tuple[list[Bin], float]:
    """Answers by the probability of what was said, and the expected calibration error (Naeini et al. 2015)."""
    confidence, right = found.max(1).astype(np.float64), found.argmax(1) == y
    which = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)  # a bin holds its upper end
    counts = np.bincount(which, minlength=bins)
    sure = _share(np.bincount(which, confidence, bins), counts)
    hits = _share(np.bincount(which, right, bins), counts)
    told = [
        Bin(at / bins, (at + 1) / bins, int(counts[at]), float(sure[at]), float(hits[at])) for at in range(bins) if counts[at]
    ]
    return told, sum(each.count * abs(each.confidence - each.right) for each in told) / max(len(y), 1)


def project(vectors: Numbers) -> tuple[Numbers, Numbers]:
    """The two directions of largest spread: points (n, 2), and the share of the spread that each holds.

    A direction and its opposite are equally good: the one is taken whose largest entry is above zero.
    """
    x = torch.from_numpy(np.nan_to_num(vectors.astype(np.float64)))
    with repeatable():
        x = x - x.mean(0)
        _, spread, directions = torch.linalg.svd(x, full_matrices=False)
        two = directions[:2]
        signs = two.gather(1, two.abs().argmax(1, keepdim=True)).sign()
        points = x @ (two * torch.where(signs == 0, 1.0, signs)).T
    whole = spread.square()
    shares = (whole / whole.sum().clamp(min=1e-300))[:2].numpy()
    gap = 2 - points.shape[1]  # vectors of a single number, or a single node
    return np.pad(points.numpy(), ((0, 0), (0, gap))), np.pad(shares, (0, gap))


def sample(count: int, most: int) -> Numbers:
    """Some positions in order, the same ones every time.

    >>> sample(4, 9).tolist(), len(sample(100, 9))
    ([0, 1, 2, 3], 9)
    """
    dice = np.random.RandomState(0)  # the one generator of NumPy that is promised to stay the same
    return np.arange(count) if count <= most else np.sort(dice.permutation(count)[:most])


def surest_mistakes(found: Numbers, y: Numbers, where: Numbers, most: int = 10) -> Numbers:
    """Positions among `where` that are answered wrongly, the most confident first."""
    wrong = where[found[where].argmax(1) != y[where]]
    return wrong[np.argsort(-found[wrong].max(1), kind="stable")][:most]


def interval(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval (1927) of a share that was seen in `count` independent trials.

    >>> low, high = interval(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def degrees(over: Sparse, directed: bool) -> Numbers:
    """How many links each node has to others; where links lead one way, those that leave and those that arrive."""
    source, target = (end.numpy() for end in over.ends())
    apart = source != target
    ends = [target[apart], source[apart]] if directed else [target[apart]]
    return np.bincount(np.concatenate(ends), minlength=over.num_targets)


def neighbours(over: Sparse, at: int) -> Numbers:
    """The others that a node hears from, in order."""
    begin, end = (int(over.rows.pointer[each]) for each in (at, at + 1))
    found = np.unique(over.rows.index[begin:end].numpy())
    return found[found != at]


def _share(part: Numbers, whole: Numbers) -> Numbers:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
