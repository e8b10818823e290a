"""Memory for results, and tensors as flat arrays."""

import numpy as np
import pytest
import torch

from weft.ops.buffers import HUGE_PAGE, Free, accumulator, computable, empty, exact, flat

F64, F32, BF16, F16 = torch.float64, torch.float32, torch.bfloat16, torch.float16


def test_the_suite_poisons_uninitialised_memory():
    like = torch.zeros(3, dtype=torch.int32)
    for fresh in (torch.empty(3), torch.empty_like(torch.ones(3)), torch.ones(3).new_empty(3), empty(3, dtype=F32)):
        assert fresh.isnan().all()
    for fresh in (torch.empty(3, dtype=torch.int32), torch.empty_like(like), like.new_empty(3), empty(3, dtype=torch.int32)):
        assert (fresh == -(2**31)).all()


@pytest.mark.parametrize("count", [0, 1, HUGE_PAGE // 4, HUGE_PAGE, 2 * HUGE_PAGE + 1])
def test_empty_of_any_size(count):
    assert empty(count, 1, dtype=F32).fill_(1).sum() == count


def test_large_results_begin_with_a_page_and_are_poisoned_too():
    fresh = empty(3, HUGE_PAGE, dtype=F32)
    assert fresh.shape == (3, HUGE_PAGE) and fresh.is_contiguous() and fresh.data_ptr() % HUGE_PAGE == 0
    assert fresh.isnan().all()


def test_memory_comes_back_when_its_last_tensor_is_gone():
    free = Free(limit=10 * HUGE_PAGE)
    first = torch.from_numpy(free.take(3 * HUGE_PAGE - 1))
    place, part = first.data_ptr(), first[5:]
    del first
    assert (free.held, free.blocks) == (0, {}), "a view still reads it"
    del part
    assert free.held == 3 * HUGE_PAGE
    other = torch.from_numpy(free.take(2 * HUGE_PAGE))
    again = torch.from_numpy(free.take(3 * HUGE_PAGE))
    assert again.data_ptr() == place != other.data_ptr() and free.held == 0


def test_memory_beyond_the_limit_is_given_up():
    free = Free(limit=4 * HUGE_PAGE)
    for pages in (1, 2, 5):
        torch.from_numpy(free.take(pages * HUGE_PAGE))
    assert free.held == 3 * HUGE_PAGE, "five pages are more than may be kept"
    torch.from_numpy(free.take(4 * HUGE_PAGE))
    assert free.held == 4 * HUGE_PAGE and list(free.blocks) == [4 * HUGE_PAGE]


def test_flat_shares_what_is_contiguous():
    x = torch.arange(6.0).reshape(2, 3)
    flat(x)[0] = 7
    assert x[0, 0] == 7 and flat(x.T).tolist() == [7, 3, 1, 4, 2, 5] and flat(None) is None


def test_flat_hands_on_bfloat16_bit_by_bit():
    x = torch.tensor([1.0, -2.5, torch.inf], dtype=BF16)
    assert flat(x).dtype == np.uint16 and flat(x).tolist() == [0x3F80, 0xC020, 0x7F80]


@pytest.mark.parametrize(
    ("dtype", "computed", "read", "summed"),
    [(F64, F64, F64, F64), (F32, F32, F32, F32), (BF16, BF16, F32, F32), (F16, F32, F32, F32)],
    ids=str,
)
def test_what_is_computed_in_what(dtype, computed, read, summed):
    x = torch.ones(1, dtype=dtype)
    assert (computable(x).dtype, exact(x).dtype, accumulator(dtype)) == (computed, read, summed)
