"""Splitters: parts that share nothing and cover what has a label, the same for the same seed."""

import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.data import ByGroup, ByTime, Graph, PerClass, Published, Random, Split, Stratified, folds


def graph(labels: list[Any], **columns: Any) -> Graph:
    """A graph with one node per label, and columns beside them."""
    nodes = {"id": list(range(len(labels))), "y": labels} | columns
    return Graph.from_tables(nodes, {"source": [], "target": []}, target="y")


def parts(split: Split) -> tuple[list[int], ...]:
    return tuple(part.tolist() for _, part in split)


LABELS = ["a"] * 60 + [None] * 10 + ["b"] * 30
MANY = graph(LABELS, day=list(range(100)), group=[f"g{at % 7}" for at in range(100)])
KNOWN = MANY.labelled.tolist()
SPLITTERS = [
    Random(),
    Random(train=0.5, val=0.5),
    Stratified(),
    PerClass(train=5, val=10),
    ByTime("day"),
    ByGroup("group"),
    ByGroup("group", val=0),
]
splitters = pytest.mark.parametrize("splitter", SPLITTERS, ids=str)


@splitters
def test_parts_are_disjoint_cover_the_labelled_and_repeat(splitter):
    train, val, test = parts(splitter(MANY))
    assert sorted([*train, *val, *test]) == KNOWN
    assert train and [sorted(part) for part in (train, val, test)] == [train, val, test]
    assert parts(splitter(MANY)) == (train, val, test)


@pytest.mark.parametrize(
    "kind", [Random, Stratified, lambda seed: PerClass(5, 10, seed), lambda seed: ByGroup("group", seed=seed)]
)
def test_another_seed_is_another_split(kind):
    assert parts(kind(seed=0)(MANY)) != parts(kind(seed=1)(MANY))


def test_shares_are_counts():
    assert [len(part) for part in parts(Random(train=0.5, val=0.1)(MANY))] == [45, 9, 36]
    assert [len(part) for part in parts(Random(train=1.0, val=0)(MANY))] == [90, 0, 0]
    assert repr(Random()(graph(["a"] * 5))) == "Split(3 train, 1 val, 1 test, at random: 60 % train, 20 % val, seed 0)"


def test_stratified_keeps_the_shares_of_each_class():
    for part, sizes in zip(parts(Stratified()(MANY)), [(36, 18), (12, 6), (12, 6)], strict=True):
        assert (sum(at < 60 for at in part), sum(at >= 70 for at in part)) == sizes


def test_per_class_counts_are_exact():
    train, val, test = parts(PerClass(train=5, val=10)(MANY))
    assert (sum(at < 60 for at in train), len(train)) == (5, 10) and (sum(at < 60 for at in val), len(val)) == (10, 20)
    assert len(test) == 60


def test_every_class_is_learnt_from():
    train, _, _ = parts(Stratified(train=0.1, val=0.1)(graph(["rare", *["common"] * 20])))
    assert 0 in train


DAYS = [datetime.date(2024, 1, day) for day in (9, 2, 5, 5, 1)]


@pytest.mark.parametrize(
    "times",
    [
        [9, 2, 5, 5, 1],
        [0.9, 0.2, 0.5, 0.5, 0.1],
        DAYS,
        [str(day) for day in DAYS],
        pa.array(DAYS).cast(pa.timestamp("ns", "UTC")),
    ],
    ids=["whole", "floats", "dates", "text", "moments"],
)
def test_the_past_teaches_and_equal_times_stay_together(times):
    assert parts(ByTime("time", train=0.6, val=0.2)(graph(list("aabba"), time=times))) == ([1, 2, 3, 4], [], [0])
    assert parts(ByTime("time", train=0.4, val=0.4)(graph(list("aabba"), time=times))) == ([1, 4], [2, 3], [0])


def test_times_of_nodes_without_a_label_may_lack():
    assert parts(ByTime("time", train=0.5, val=0)(graph(["a", None, "b"], time=[2, None, 1]))) == ([2], [], [0])


@given(st.lists(st.sampled_from(["u", "v", "w", None]), min_size=1), st.integers(0, 99))
def test_groups_stay_whole(groups, seed):
    made = parts(ByGroup("group", seed=seed)(graph(["a"] * len(groups), group=pa.array(groups, pa.string()))))
    found = [{groups[at] for at in part} for part in made]
    assert made[0] and sum(len(part) for part in made) == len(groups)
    assert sum(len(each) for each in found) == len(set(groups))


def test_groups_may_be_categories():
    coded = pa.array(["u", "u", "v", None]).dictionary_encode()
    assert sum(len(part) for part in parts(ByGroup("group")(graph(list("abab"), group=coded)))) == 4


def test_published_splits_come_as_they_are():
    first, second = Split.of([0], [], [], how="first"), Split.of([1], [], [], how="second")
    assert Published(1)(MANY.with_splits(first, second)) is second and Published()(MANY.with_splits(first)) is first


@pytest.mark.parametrize("count", [2, 3, 90])
def test_folds_test_each_once(count):
    made = [parts(split) for split in folds(MANY, count)]
    assert len(made) == count and sorted(at for _, _, test in made for at in test) == KNOWN
    for train, val, test in made:
        assert sorted([*train, *val, *test]) == KNOWN and train and len(val) == (len(train) + len(val)) // 8
    assert made == [parts(split) for split in folds(MANY, count)]
    assert made != [parts(split) for split in folds(MANY, count, seed=1)]


@given(st.lists(st.sampled_from(["a", "b", None]), min_size=1), st.floats(0.01, 1), st.floats(0, 1), st.integers(0, 9))
def test_any_shares_part_what_is_labelled(labels, train, val, seed):
    if "a" not in labels:
        labels.append("a")
    made = graph(labels)
    for kind in (Random, Stratified):
        cut = parts(kind(train=train, val=val * (1 - train), seed=seed)(made))
        assert sorted(at for part in cut for at in part) == made.labelled.tolist() and cut[0]
