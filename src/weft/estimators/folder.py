"""A model as a folder: weights as safetensors, everything else as JSON and Arrow. Opening one runs nothing that is in it.

model.json            what it is: estimator and encoder as calls, features, classes, split, certificate, metrics
weights.safetensors   every tensor by name
ids.arrow             the things it was fitted on: id, part (train, val, test or nothing) and class, -1 without
history.jsonl         one line per epoch
report.html           what to look at, where the command line wrote it
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from weft.encoders import builder_of, names
from weft.errors import WeftValueError
from weft.training.checkpoint import write_atomically

if TYPE_CHECKING:
    from weft.estimators.node_classifier import NodeClassifier
    from weft.estimators.node_regressor import NodeRegressor

SCHEMA = 1
FILES = ("model.json", "weights.safetensors", "ids.arrow", "history.jsonl")


def save(estimator: "NodeClassifier | NodeRegressor", path: str | os.PathLike[str]) -> None:
    """Write the folder beside its place and move it there whole."""
    folder = Path(path)
    if folder.exists() and not (folder / "model.json").is_file():
        raise WeftValueError(f"save: {folder} exists and is not a model. Name another folder, or remove it.")
    told = describe(estimator)  # before anything is written
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    write_atomically(beside / "weights.safetensors", _weights(estimator))
    write_atomically(beside / "ids.arrow", _ids(estimator))
    assert estimator.fitted_ is not None
    lines = [json.dumps(_plain(asdict(epoch))) for epoch in estimator.fitted_.history]
    write_atomically(beside / "history.jsonl", "".join(line + "\n" for line in lines).encode())
    write_atomically(beside / "model.json", (json.dumps(_plain(told), indent=1, ensure_ascii=False) + "\n").encode())
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(beside, folder)


def describe(estimator: "NodeClassifier | NodeRegressor") -> dict[str, Any]:
    """What model.json says."""
    fitted = estimator.fitted_
    assert fitted is not None
    return {
        "schema": SCHEMA,
        "weft": version("weft"),
        "estimator": type(estimator).__name__,
        "encoder": encoder_call(estimator.encoder),
        "seed": estimator.seed,
        "in_dim": fitted.in_dim,
        **estimator.told(),
        "features": None if fitted.features is None else fitted.features.to_json(),
        "nodes": len(estimator.ids_),
        "split": fitted.split.how,
        "certificate": fitted.certificate.to_json(),
        "end": asdict(fitted.end),
        "metrics": estimator.metrics_,
    }


def encoder_call(encoder: Any) -> dict[str, Any]:
    """An encoder as a name and keyword arguments; one that has no name cannot be written down."""
    arguments: dict[str, Any] = {}
    while isinstance(encoder, partial):
        arguments = {**encoder.keywords, **arguments}
        encoder = encoder.func
    if isinstance(encoder, str):
        return {"name": encoder, "arguments": arguments}
    for name in names():
        if builder_of(name) is encoder:
            return {"name": name, "arguments": arguments}
    raise WeftValueError(
        f"save: the encoder {encoder!r} has no name, so a file cannot say how to build it again. "
        "Give it one first: weft.encoders.register('name', function)."
    )


def _weights(estimator: "NodeClassifier | NodeRegressor") -> bytes:
    from safetensors.torch import save as to_bytes

    fitted = estimator.fitted_
    assert fitted is not None
    parts = (("encoder", fitted.encoder), ("objective", fitted.objective))
    tensors = {
        f"{name}.{key}": value.detach().cpu().contiguous() for name, part in parts for key, value in part.state_dict().items()
    }
    return to_bytes(tensors)


def _ids(estimator: "NodeClassifier | NodeRegressor") -> bytes:
    import pyarrow as pa

    assert estimator.fitted_ is not None
    codes = np.full(len(estimator.ids_), -1, np.int8)
    for code, (_, part) in enumerate(estimator.fitted_.split):
        codes[part.numpy()] = code
    classes = estimator.y_.numpy() if estimator.y_.dtype == torch.int64 else np.full(len(codes), -1)
    table = pa.table({"id": estimator.ids_.values, "part": codes, "class": classes.astype(np.int32)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _plain(value: Any) -> Any:
    """Values that JSON knows: NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not np.isfinite(value) else value
