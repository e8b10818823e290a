"""A model folder opened: everything is checked, nothing in it is executed, and what does not fit together is refused."""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from weft.data import Features, Split
from weft.data.ids import Ids
from weft.data.split import PARTS
from weft.encoders import Builder, Encoder, builder_of
from weft.errors import CheckpointError, WeftError
from weft.estimators.certificate import Certificate
from weft.estimators.folder import FILES, SCHEMA
from weft.estimators.node_classifier import NodeClassifier
from weft.estimators.node_regressor import NodeRegressor
from weft.estimators.nodes import Fitted
from weft.objectives import Classify, Objective, Regress
from weft.training import EpochDone, Finished

MOST_JSON = 64 << 20
"""A model.json of more bytes than this is none of ours."""


def load(path: str | os.PathLike[str]) -> NodeClassifier | NodeRegressor:
    """The inverse of save. Nothing in the folder is executed; what does not fit together is refused."""
    folder = Path(path)
    if not folder.is_dir():
        raise CheckpointError(f"load: there is no model folder {folder}.")
    for name in FILES:
        if not (folder / name).is_file() or (folder / name).is_symlink():
            raise CheckpointError(f"load: {folder} lacks {name}, or it is not a plain file; a model has {', '.join(FILES)}.")
    told = _read_json(folder / "model.json")
    try:
        return _build(told, folder)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        if isinstance(error, WeftError):
            raise
        raise CheckpointError(f"load: {folder / 'model.json'} does not describe a model ({_short(error)}).") from None


def _read_json(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_JSON:
        raise CheckpointError(f"load: {path} has {path.stat().st_size:,} bytes, more than a model's description ever has.")
    try:
        told = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"load: {path} is not JSON ({_short(error)}).") from None
    if not isinstance(told, dict) or not isinstance(told.get("schema"), int):
        raise CheckpointError(f"load: {path} does not say which schema it follows, so it is not a model of weft.")
    if told["schema"] > SCHEMA:
        raise CheckpointError(
            f"load: {path} follows schema {told['schema']}, and this weft ({version('weft')}) knows up to {SCHEMA}; "
            f"it was written by weft {told.get('weft')}. Upgrade weft."
        )
    if told.get("estimator") not in ESTIMATORS:
        raise CheckpointError(f"load: {path} is of a {told.get('estimator')!r}, which this weft does not know.")
    return told


def _build(told: Mapping[str, Any], folder: Path) -> NodeClassifier | NodeRegressor:
    tensors = _read_weights(folder / "weights.safetensors")
    arguments = _checked_arguments(told["encoder"]["arguments"], len(tensors))
    build: Callable[..., Encoder] = builder_of(str(told["encoder"]["name"]))
    named = partial(build, **arguments) if arguments else str(told["encoder"]["name"])
    in_dim = int(told["in_dim"])
    estimator, objective = ESTIMATORS[told["estimator"]](named, told, tensors)
    with torch.device("meta"):  # shapes first: a lie costs no memory
        encoder = build(in_dim, objective.out_dim, **arguments)
    for name, part in (("encoder", encoder), ("objective", objective)):
        own = {key.removeprefix(name + "."): value for key, value in tensors.items() if key.startswith(name + ".")}
        _check_shapes(part.state_dict(), own, name, folder)
        part.load_state_dict(own, assign=True)
    ids, parts, codes = _read_ids(folder / "ids.arrow")
    estimator.fitted_ = Fitted(
        encoder.eval(),
        objective.eval(),
        None if told["features"] is None else Features.from_json(told["features"]),
        in_dim,
        Split.from_codes(parts, how=str(told["split"])),
        Certificate.from_json(told["certificate"]),
        tuple(EpochDone(**json.loads(line)) for line in (folder / "history.jsonl").read_text().splitlines()),
        Finished(**told["end"]),
    )
    estimator.ids_, estimator.y_, estimator.metrics_ = ids, codes, told["metrics"]
    return estimator


def _classifier(
    encoder: str | Builder, told: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> tuple[NodeClassifier, Objective]:
    estimator = NodeClassifier(encoder, smooth=bool(told["smooth"]), seed=int(told["seed"]))
    estimator.classes_ = list(told["classes"])
    return estimator, Classify(len(estimator.classes_), class_weight=tensors.get("objective.class_weight"))


def _regressor(
    encoder: str | Builder, told: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> tuple[NodeRegressor, Objective]:
    return NodeRegressor(encoder, seed=int(told["seed"])), Regress()


ESTIMATORS: dict[str, Callable[..., tuple[Any, Objective]]] = {"NodeClassifier": _classifier, "NodeRegressor": _regressor}


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"load: {path} is not safetensors, or is damaged ({_short(error)}).") from None


def _check_shapes(expected: Mapping[str, torch.Tensor], found: Mapping[str, torch.Tensor], part: str, folder: Path) -> None:
    for name in sorted({*expected, *found}):
        shapes = [tuple(side[name].shape) if name in side else None for side in (expected, found)]
        kinds = [side[name].dtype if name in side else None for side in (expected, found)]
        if shapes[0] != shapes[1] or kinds[0] != kinds[1]:
            raise CheckpointError(
                f"load: {folder}: {part}.{name} must have shape {shapes[0]} and type {kinds[0]}, but the weights have "
                f"{shapes[1]} and {kinds[1]}."
            )


def _checked_arguments(arguments: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Plain numbers and flags only, none so large that building would take long."""
    for name, value in arguments.items():
        if not isinstance(value, int | float | bool) or abs(value) > 1 << 20 or (name == "depth" and value > most):
            raise CheckpointError(f"load: the encoder's argument {name}={value!r} cannot be right.")
    return dict(arguments)


def _read_ids(path: Path) -> tuple[Ids, Any, torch.Tensor]:
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(path.read_bytes()).read_all()
        table.validate(full=True)
        ids = Ids.of(table["id"], path.name)
        parts = table["part"].combine_chunks().to_numpy().astype(np.int64)
        codes = torch.from_numpy(table["class"].combine_chunks().to_numpy().astype(np.int64))
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        raise CheckpointError(f"load: {path} is not a table of ids, or is damaged ({_short(error)}).") from None
    if not (((parts >= -1) & (parts < len(PARTS))).all() and bool((codes >= -1).all())):
        raise CheckpointError(f"load: {path} names parts or classes that do not exist.")
    return ids, parts, codes


def _short(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
