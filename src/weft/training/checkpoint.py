"""What was learnt so far in one file that is either the old or the new one, whenever the machine stops.

The file is safetensors: tensors by name, and one JSON text in its header. Nothing in it is executed.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from weft.data.batch import Batch
from weft.errors import CheckpointError
from weft.structure import Sparse

STATE = "state"


def write(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write beside, make sure it is on disk, and only then put it in place."""
    from safetensors.torch import save

    data = save({name: tensor.contiguous() for name, tensor in tensors.items()}, {STATE: json.dumps(state)})
    write_atomically(path, data)


def write_atomically(path: Path, data: bytes) -> None:
    """Either all of the file or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The new name is on disk too, where the system can be asked for that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a checkpoint, or a sentence about what is wrong with the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads(file.metadata()[STATE])
            return {name: file.get_tensor(name) for name in file.keys()}, state  # noqa: SIM118 (not a mapping)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"checkpoint: {path} is not a checkpoint, or is damaged ({str(error).splitlines()[0]}). "
            "Remove it to start from the beginning."
        ) from None


def fingerprint(batches: Iterator[Batch]) -> str:
    """Which data a training is of: a sum over the numbers, answers and edges of its first batch."""
    batch = next(batches, None)
    if batch is None:
        return ""
    digest = hashlib.sha256()
    ends = batch.over.ends() if isinstance(batch.over, Sparse) else ()
    for part in (batch.x, batch.y, batch.where, *ends):
        if part is not None:
            digest.update(f"{part.dtype} {tuple(part.shape)}".encode())
            digest.update(part.detach().cpu().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def flatten_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers of each weight, by name."""
    return {
        f"optimizer.{number}.{name}": value
        for number, parts in optimizer.state_dict()["state"].items()
        for name, value in parts.items()
        if isinstance(value, Tensor)
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """The inverse of `flatten_optimizer`."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".", 2)
            state.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
