"""Builders by name, for estimators, files and the command line."""

from typing import Protocol

from weft.encoders.encoder import Encoder
from weft.errors import WeftTypeError, WeftValueError, did_you_mean


class Builder(Protocol):
    """What makes an encoder: the widths of what goes in and comes out first, everything else by keyword."""

    def __call__(self, in_dim: int, out_dim: int, /) -> Encoder: ...


_builders: dict[str, Builder] = {}


def register(name: str, build: Builder) -> None:
    """Give a builder a name; a name is given once."""
    if name in _builders:
        raise WeftValueError(f"register: there is an encoder {name!r} already; choose another name.")
    _builders[name] = build


def builder_of(encoder: str | Builder) -> Builder:
    """The builder of a name, or the builder itself."""
    if not isinstance(encoder, str):
        if not callable(encoder):
            raise WeftTypeError(f"encoder: expected a name or a function of (in_dim, out_dim), but got {encoder!r}.")
        return encoder
    if encoder not in _builders:
        hint = did_you_mean(encoder, _builders)
        raise WeftValueError(f"encoder: there is none called {encoder!r}.{hint} All: {', '.join(names())}.")
    return _builders[encoder]


def names() -> list[str]:
    """Every encoder that has a name."""
    return sorted(_builders)
