"""Matrix products in pieces of rows that follow from the shape alone: the same bytes for any number of threads."""

from collections.abc import Callable

import torch
from torch import Tensor

from weft.ops.buffers import empty
from weft.ops.parallel import products

PIECE = 1 << 22
"""About how many multiplications make a piece: a millisecond's fraction, long beside what it takes to start one."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x · weightᵀ + bias, x (rows, dim), weight (wide, dim)."""
    out = empty(x.shape[0], weight.shape[0], dtype=x.dtype)
    x, turned = x.detach(), weight.detach().T  # other threads would record what they do for derivatives
    bias = None if bias is None else bias.detach()

    def product(first: int, last: int) -> None:
        if bias is None:
            torch.mm(x[first:last], turned, out=out[first:last])
        else:
            torch.addmm(bias, x[first:last], turned, out=out[first:last])

    _over_rows(product, x, weight)
    return out


def add_linear(out: Tensor, x: Tensor, weight: Tensor) -> None:
    """out += x · weightᵀ."""
    x, turned = x.detach(), weight.detach().T
    _over_rows(lambda first, last: out[first:last].addmm_(x[first:last], turned), x, weight)


def outer(a: Tensor, b: Tensor) -> Tensor:
    """aᵀ · b for a (rows, wide), b (rows, dim): each piece by itself, then their sum."""
    length = _length(a.shape[1] * b.shape[1])
    pieces = max(1, -(-a.shape[0] // length))
    a, b = a.detach(), b.detach()
    parts = torch.empty(pieces, a.shape[1], b.shape[1], dtype=a.dtype)

    def product(piece: int) -> None:
        rows = slice(piece * length, (piece + 1) * length)
        torch.mm(a[rows].T, b[rows], out=parts[piece])

    products(product, pieces, a.numel() * b.shape[1])
    return parts[0] if pieces == 1 else parts.sum(0)


def _over_rows(product: Callable[[int, int], object], x: Tensor, weight: Tensor) -> None:
    length = _length(weight.numel())
    pieces = max(1, -(-x.shape[0] // length))
    products(lambda piece: product(piece * length, (piece + 1) * length), pieces, x.shape[0] * weight.numel())


def _length(per_row: int) -> int:
    """Rows of a piece whose rows take so many multiplications: a power of two."""
    return min(2048, max(64, 1 << (PIECE // max(per_row, 1)).bit_length()))
