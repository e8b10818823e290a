"""A study as a file: what was published, and everything needed to run it again."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

from weft.errors import DataError, WeftValueError, did_you_mean

HOME = files("weft.reproduce") / "studies"
PROTOCOLS = ("published", "per-class", "published-splits")
MODELS = ("encoder", "label-propagation", "leaderboard")
MEASURES = ("accuracy", "auc")


@dataclass(frozen=True)
class Study:
    """One row of a paper.

    published, spread   the number and its standard deviation (None where the paper has none), in percent
    source              where the number was read
    protocol            how nodes are parted: the published split, or so many per class, drawn anew for each seed
    model               what is trained: an encoder, nothing (label propagation), or every one of `encoders` for a leaderboard
    features            "as-published", or "rows" scaled to sum to 1
    deviations          what differs from the paper, in words
    """

    name: str
    title: str
    paper: str
    data: str
    published: float | None
    spread: float | None
    source: str
    deviations: tuple[str, ...]
    model: str = "encoder"
    encoder: Mapping[str, Any] | None = None
    encoders: tuple[str, ...] = ()
    trainer: Mapping[str, Any] | None = None
    smooth: bool = False
    features: str = "as-published"
    protocol: str = "published"
    train: int = 20
    val: int = 30
    measure: str = "accuracy"
    seeds: int = 10

    @property
    def number(self) -> str:
        """What was published, as it is printed."""
        if self.published is None:
            return "none"
        return f"{self.published:.1f}" + (f" ± {self.spread:.1f}" if self.spread else "")


def names() -> list[str]:
    """Every study there is."""
    return sorted(path.name.removesuffix(".toml") for path in HOME.iterdir() if path.name.endswith(".toml"))


def read_study(name: str) -> Study:
    """A study by name, in which a hyphen is as good as an underscore; its file is checked."""
    name = name.replace("-", "_")
    if name not in names():
        raise WeftValueError(f"reproduce: there is no study {name!r}.{did_you_mean(name, names())} All: {', '.join(names())}.")
    return check_study(name, tomllib.loads((HOME / f"{name}.toml").read_text()))


def check_study(name: str, told: Mapping[str, Any]) -> Study:
    """The study that a file tells, or a sentence about what is wrong with it."""
    known = {field.name for field in fields(Study)} - {"name"}
    for key in told:
        if key not in known:
            raise DataError(f"study {name}: no setting {key!r}.{did_you_mean(key, known)}")
    for key, choices in (("protocol", PROTOCOLS), ("model", MODELS), ("measure", MEASURES)):
        if told.get(key, choices[0]) not in choices:
            raise DataError(f"study {name}: {key} must be one of {', '.join(choices)}, but is {told[key]!r}.")
    try:
        settings: dict[str, Any] = {
            "name": name,
            "published": None,
            "spread": None,
            **told,
            "deviations": tuple(told.get("deviations", ())),
            "encoders": tuple(told.get("encoders", ())),
        }
        return Study(**settings)
    except TypeError as error:
        raise DataError(f"study {name}: {error}.") from None
