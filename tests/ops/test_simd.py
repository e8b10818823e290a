"""Vectors inside Numba functions: exp, rounding to bfloat16, and masks at the end of a row."""

import numpy as np
import pytest
import torch
from numba import njit

from weft.ops import simd
from weft.ops.buffers import flat


@njit(**simd.KERNEL)
def exponentials(x, out):
    for at in range(0, x.shape[0], 16):
        simd.store(out, at, simd.exp(simd.load(x, at, 16)))


@njit(**simd.KERNEL)
def doubled(x, out, count):
    value = simd.load_part(x, 0, 16, count)
    simd.store_part(out, 0, simd.add(value, value), count)


@njit(**simd.KERNEL)
def sums(x, out):
    vector = simd.load(x, 0, 16)
    out[0], out[1] = simd.total(vector), simd.largest(vector)


def test_exp_of_float32_is_within_two_units_in_the_last_place():
    x = np.linspace(-87, 88, 1 << 16, dtype=np.float32)
    out = np.empty_like(x)
    exponentials(x, out)
    exact = np.exp(x.astype(np.float64))
    assert np.max(np.abs(out - exact) / np.spacing(exact.astype(np.float32))) <= 2


def test_exp_keeps_its_edges():
    x = np.zeros(16, np.float32)
    x[:5] = -np.inf, -1000, -88, 0, np.nan
    out = np.empty_like(x)
    exponentials(x, out)
    assert out[:4].tolist() == [0, 0, 0, 1] and np.isnan(out[4])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("count", [0, 1, 7, 16])
def test_only_the_first_lanes_are_written(dtype, count):
    x, out = torch.arange(16).to(dtype), torch.full((16,), -1).to(dtype)
    doubled(flat(x), flat(out), count)
    assert out.tolist() == [*range(0, 2 * count, 2), *[-1] * (16 - count)]


def test_bfloat16_is_rounded_as_torch_rounds():
    x = torch.randn(4096, 16).bfloat16()
    x[0, :4] = torch.tensor([torch.inf, -torch.inf, 3e38, -0.0])
    wide, out = x.float() * 1.001, torch.empty(4096, 16, dtype=torch.bfloat16)
    for row in range(4096):
        narrowed(flat(wide[row]), flat(out[row]))
    assert torch.equal(out, wide.bfloat16())


@njit(**simd.KERNEL)
def narrowed(x, out):
    simd.store(out, 0, simd.load(x, 0, 16))


def test_totals():
    out = np.empty(2)
    sums(np.arange(16.0), out)
    assert out.tolist() == [120, 15]
