"""Sparse patterns of attention over a line of positions: who looks where (one `Sparse` each)."""

import torch

from weft.structure.base import as_size
from weft.structure.sparse import Sparse


def dilated(length: int, left: int, right: int = 0, *, step: int = 2) -> Sparse:
    """Every `step`-th position: `left` of them back, `right` ahead, and the position itself.

    >>> dilated(5, left=1, step=2).ends()[0].tolist()
    [0, 1, 0, 2, 1, 3, 2, 4]
    """
    length = as_size(length, "dilated", "length")
    step = as_size(step, "dilated", "step", least=1)
    reach = torch.arange(-as_size(left, "dilated", "left"), as_size(right, "dilated", "right") + 1) * step
    target = torch.arange(length)[:, None].expand(length, len(reach))
    source = target + reach
    inside = (source >= 0) & (source < length)
    return Sparse.from_edges(source[inside], target[inside], length)


def blocks(length: int, size: int) -> Sparse:
    """Everyone within the same block of `size` neighbours on the line (the last block may be shorter)."""
    length, size = as_size(length, "blocks", "length"), as_size(size, "blocks", "size", least=1)
    target = torch.arange(length)[:, None].expand(length, size)
    source = target // size * size + torch.arange(size)
    inside = source < length
    return Sparse.from_edges(source[inside], target[inside], length)


def global_tokens(length: int, count: int) -> Sparse:
    """The first `count` positions look at all, and all look at them."""
    length, count = as_size(length, "global_tokens", "length"), as_size(count, "global_tokens", "count")
    at = torch.arange(length)
    target, source = ((at[:, None] < count) | (at[None, :] < count)).nonzero(as_tuple=True)
    return Sparse.from_edges(source, target, length)


def random_pattern(length: int, count: int, *, seed: int) -> Sparse:
    """Each position looks at itself and `count` others drawn at random (with replacement)."""
    length, count = as_size(length, "random_pattern", "length"), as_size(count, "random_pattern", "count")
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(max(length, 1), (length, count), generator=generator)
    source = torch.cat([torch.arange(length)[:, None], drawn], dim=1)
    target = torch.arange(length)[:, None].expand_as(source)
    return Sparse.from_edges(source.flatten(), target.flatten(), length)
