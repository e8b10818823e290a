"""The contract of every estimator, as scikit-learn has it: `__init__` stores, `fit` returns self, learnt names end in _."""

import inspect
from abc import ABC, abstractmethod
from os import PathLike
from typing import Any, Self

import numpy as np

from weft.errors import NotFittedError, WeftValueError, did_you_mean

Answers = np.ndarray[Any, Any]


class Estimator(ABC):
    """Learn from data, answer for data."""

    @abstractmethod
    def fit(self, data: Any) -> Self:
        """Learn; returns self."""

    @abstractmethod
    def predict(self, data: Any = None) -> Answers:
        """Answers for new data, or for the data it was fitted on."""

    @abstractmethod
    def score(self, data: Any = None) -> float:
        """The main metric: on the test part of the data it was fitted on, or on all labelled things of new data."""

    @abstractmethod
    def embed(self, data: Any = None) -> Answers:
        """The encoder's vectors."""

    @abstractmethod
    def save(self, path: str | PathLike[str]) -> None:
        """Write a model folder: weights as safetensors, the rest as JSON and Arrow; no pickle."""

    @classmethod
    def parameters(cls) -> list[str]:
        """The names of what `__init__` takes."""
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What was given to `__init__` (`deep` is there for scikit-learn; nothing is nested)."""
        return {name: getattr(self, name) for name in self.parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change it before fitting."""
        known = self.parameters()
        for name, value in params.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise WeftValueError(f"{type(self).__name__}: no parameter {name!r}.{hint} There are: {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = {name: spec.default for name, spec in inspect.signature(type(self).__init__).parameters.items()}
        told = [f"{name}={value!r}" for name, value in self.get_params().items() if value != plain[name]]
        return f"{type(self).__name__}({', '.join(told)})"


def require_fitted(estimator: Estimator, call: str) -> None:
    """Refuse to answer before anything was learnt."""
    if getattr(estimator, "fitted_", None) is None:
        raise NotFittedError(f"{type(estimator).__name__}.{call}: nothing was learnt yet. Call fit first, or load a model.")
