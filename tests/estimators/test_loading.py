"""Opening a model folder that somebody else made: a typed error at once, nothing runs, and no memory goes by lies."""

import io
import json
import os
import pickle
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from weft.data import Graph
from weft.errors import WeftError
from weft.estimators import NodeClassifier, load
from weft.training import Trainer

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "good"
    x, y = np.eye(8, dtype=np.float32), ["a", "b"] * 4
    graph = Graph.from_edges([(at, (at + 2) % 8) for at in range(8)], x=x, y=y)
    NodeClassifier(trainer=Trainer(epochs=2)).fit(graph).save(folder)
    return folder


class Canary:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self.path, "it ran"))


def edit(change: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(folder: Path) -> None:
        told = json.loads((folder / "model.json").read_text())
        change(told)
        (folder / "model.json").write_text(json.dumps(told))

    return damage


def put(*path: Any, value: Any) -> Damage:
    """Another value in model.json."""

    def change(told: Any) -> None:
        for part in path[:-1]:
            told = told[part]
        told[path[-1]] = value

    return edit(change)


def write(name: str, data: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(data)


def header(change: Callable[[dict[str, Any]], object]) -> Damage:
    """Another header of weights.safetensors, over the same bytes."""

    def damage(folder: Path) -> None:
        path = folder / "weights.safetensors"
        data = path.read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        told = json.loads(data[8 : 8 + length])
        change(told)
        text = json.dumps(told).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])

    return damage


def lie_about_length(length: int) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "weights.safetensors"
        path.write_bytes(struct.pack("<Q", length) + path.read_bytes()[8:])

    return damage


def cut(name: str, keep: float) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(keep * len(data))])

    return damage


def link(name: str) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        target = path.rename(folder / "elsewhere")
        path.symlink_to(target)

    return damage


def pickled(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(pickle.dumps(Canary(folder / "canary")))


def torch_zip(folder: Path) -> None:
    torch.save({"encoder": Canary(folder / "canary")}, folder / "weights.safetensors")


def zip_bomb(folder: Path) -> None:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.pkl", b"\0" * 10_000_000)
    (folder / "weights.safetensors").write_bytes(memory.getvalue())


def ids(**columns: Any) -> Damage:
    def damage(folder: Path) -> None:
        table = pa.table(columns)
        with pa.ipc.new_file(folder / "ids.arrow", table.schema) as writer:
            writer.write_table(table)

    return damage


def first(told: dict[str, Any]) -> dict[str, Any]:
    return next(value for name, value in told.items() if name != "__metadata__" and value["shape"])


NOTHING = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
DAMAGES: dict[str, Damage] = {
    "a pickle for weights": pickled("weights.safetensors"),
    "a pickle for the description": pickled("model.json"),
    "a pickle for ids": pickled("ids.arrow"),
    "a pickle for the history": pickled("history.jsonl"),
    "torch's zip for weights": torch_zip,
    "a zip bomb for weights": zip_bomb,
    "no weights": lambda folder: (folder / "weights.safetensors").unlink(),
    "no description": lambda folder: (folder / "model.json").unlink(),
    "no ids": lambda folder: (folder / "ids.arrow").unlink(),
    "weights elsewhere": link("weights.safetensors"),
    "a description elsewhere": link("model.json"),
    "empty weights": write("weights.safetensors", b""),
    "empty ids": write("ids.arrow", b""),
    "half the weights": cut("weights.safetensors", 0.5),
    "nearly all the weights": cut("weights.safetensors", 0.99),
    "half the ids": cut("ids.arrow", 0.5),
    "half the description": cut("model.json", 0.5),
    "a header of 4 GB": lie_about_length(1 << 32),
    "a header longer than any number": lie_about_length((1 << 64) - 1),
    "a header of nothing": lie_about_length(0),
    "overlapping tensors": header(lambda told: first(told).update(data_offsets=[0, 8])),
    "negative offsets": header(lambda told: first(told).update(data_offsets=[-8, 8])),
    "a shape that overflows": header(lambda told: first(told).update(shape=[1 << 62, 1 << 62])),
    "an unknown element type": header(lambda told: first(told).update(dtype="OBJECT")),
    "another shape": header(lambda told: first(told).update(shape=[*first(told)["shape"][::-1], 1])),
    "a weight too many": header(
        lambda told: told.update({"encoder.more": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}})
    ),
    "a weight too few": header(lambda told: told.pop(next(name for name in told if name.startswith("encoder")))),
    "no JSON": write("model.json", b"{"),
    "JSON of a list": write("model.json", b"[]"),
    "JSON without end": write("model.json", b"[" * 200_000),
    "a huge description": lambda folder: os.truncate(folder / "model.json", 65 << 20),
    "no schema": edit(lambda told: told.pop("schema")),
    "a schema of the future": put("schema", value=99),
    "another estimator": put("estimator", value="os.system"),
    "an encoder that is code": put("encoder", "name", value="__import__('os').system('true')"),
    "an encoder that is a path": put("encoder", "name", value="../../etc/passwd"),
    "an unknown argument": put("encoder", "arguments", value={"shell": 1}),
    "an argument that is text": put("encoder", "arguments", value={"dim": "64; import os"}),
    "a width beyond memory": put("encoder", "arguments", value={"dim": 1 << 40}),
    "a depth without end": put("encoder", "arguments", value={"depth": 10**6}),
    "classes without end": put("classes", value=["x"] * 100_000),
    "inputs without end": put("in_dim", value=1 << 60),
    "inputs below zero": put("in_dim", value=-1),
    "features of an unknown kind": put("features", value={"columns": [{"column": "a", "kind": "Popen"}], "left_out": []}),
    "features that are none": put("features", value=7),
    "a certificate that is none": put("certificate", value=[1]),
    "an end that is none": put("end", value={"reason": "x"}),
    "ids without parts": ids(id=["a"]),
    "parts that do not exist": ids(id=["a"], part=pa.array([9], pa.int8()), **{"class": pa.array([0], pa.int32())}),
    "doubled ids": ids(id=["a", "a"], part=pa.array([0, 0], pa.int8()), **{"class": pa.array([0, 0], pa.int32())}),
    "a history that is none": write("history.jsonl", b"{}\n"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_folder_that_is_not_right_is_refused(saved, tmp_path, damage):
    folder = tmp_path / "model"
    folder.mkdir()
    for path in saved.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    damage(folder)
    begun = time.monotonic()
    with pytest.raises(WeftError):
        load(folder)
    assert time.monotonic() - begun < 1
    assert not (folder / "canary").exists()


def test_flipped_bits_never_crash(saved, tmp_path):
    """One bit wrong anywhere: opened all the same (a number changed), or refused by a typed error."""
    dice = np.random.default_rng(0)
    folder = tmp_path / "model"
    folder.mkdir()
    whole = {path.name: path.read_bytes() for path in saved.iterdir()}
    refused = 0
    for _ in range(300):
        name = str(dice.choice(sorted(whole)))
        data = bytearray(whole[name])
        data[dice.integers(len(data))] ^= 1 << int(dice.integers(8))
        for each, good in whole.items():
            (folder / each).write_bytes(bytes(data) if each == name else good)
        try:
            load(folder)
        except WeftError:
            refused += 1
    assert 50 < refused < 300


def test_a_file_in_the_way_is_not_overwritten(saved, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(WeftError, match="exists and is not a model"):
        load_then_save(saved, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def load_then_save(saved: Path, path: Path) -> None:
    load(saved).save(path)


def test_saving_again_replaces_the_whole_folder(saved, tmp_path):
    load_then_save(saved, tmp_path / "model")
    (tmp_path / "model" / "stray").write_text("")
    load_then_save(saved, tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == sorted(path.name for path in saved.iterdir())
    assert not (tmp_path / "model.part").exists()


def test_an_encoder_without_a_name_cannot_be_saved(tmp_path):
    from weft.encoders import gcn

    graph = Graph.from_edges([(0, 1), (2, 3)], x=np.eye(4), y=["a", "b", "a", "b"])
    estimator = NodeClassifier(lambda a, b: gcn(a, b), trainer=Trainer(epochs=1)).fit(graph)
    with pytest.raises(WeftError, match=r"has no name.*weft.encoders.register"):
        estimator.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_there_is_no_such_folder(tmp_path):
    with pytest.raises(WeftError, match="there is no model folder"):
        load(tmp_path / "nothing")
