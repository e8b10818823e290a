"""Features as several heads, and back."""

from torch import Tensor

from weft.errors import WeftValueError


def head_dim(out_dim: int, heads: int, caller: str) -> int:
    """The width of one head, if the heads share out_dim evenly."""
    if heads < 1 or out_dim % heads:
        raise WeftValueError(f"{caller}: out_dim must be a multiple of heads, but got out_dim={out_dim} and heads={heads}.")
    return out_dim // heads


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(…, heads · d) → (…, heads, d)."""
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)


def join_heads(x: Tensor) -> Tensor:
    """(…, heads, d) → (…, heads · d)."""
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])
