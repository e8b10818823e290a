"""A split: three parts that share no position, from positions, words or codes."""

import numpy as np
import pandas as pd
import pytest
import torch

from weft.data import Split


def parts(split: Split) -> dict[str, list[int]]:
    return {name: part.tolist() for name, part in split}


@pytest.mark.parametrize("make", [list, np.array, torch.tensor, tuple, lambda part: pd.Series(part).to_numpy()])
def test_positions_in_any_order_and_form(make):
    split = Split.of(make([3, 1]), make([0]), make([2, 5]), how="by hand")
    assert parts(split) == {"train": [1, 3], "val": [0], "test": [2, 5]}
    assert repr(split) == "Split(2 train, 1 val, 2 test, by hand)"


def test_parts_may_be_empty():
    assert parts(Split.of([1], [], [], how="")) == {"train": [1], "val": [], "test": []}


def test_words_in_any_spelling():
    words = ["train", " Training ", "VAL", "valid", "dev", "validation", "test", "Testing", None, "", "  "]
    assert parts(Split.from_words(words, "nodes")) == {"train": [0, 1], "val": [2, 3, 4, 5], "test": [6, 7]}


@pytest.mark.parametrize("codes", [[0, 2, -1, 1, 0], torch.tensor([0, 2, -1, 1, 0]), np.array([0, 2, -1, 1, 0], np.int8)])
def test_codes(codes):
    assert parts(Split.from_codes(codes, how="")) == {"train": [0, 4], "val": [3], "test": [1]}


def test_no_codes():
    assert parts(Split.from_codes([], how="")) == {"train": [], "val": [], "test": []}
