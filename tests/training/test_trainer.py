"""The loop: the same bytes every time, exact resumption, stopping, and what it refuses."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor

from weft import Sparse
from weft.data import NodeData, Split
from weft.encoders import Encoder, gat, gcn, mlp, sage
from weft.errors import CheckpointError, WeftValueError
from weft.objectives import Classify
from weft.training import CheckpointSaved, Constant, Cosine, EpochDone, Finished, Started, Steps, Trainer
from weft.training.checkpoint import read, write

CLASSES, NODES = 3, 120


def data(val: int = 30) -> NodeData:
    """Nodes whose neighbours are mostly of their own class, and whose features say a little about it."""
    generator = torch.Generator().manual_seed(1)
    y = torch.arange(NODES) % CLASSES
    source = torch.randint(NODES, (900,), generator=generator)
    target = torch.randint(NODES, (900,), generator=generator)
    same = (y[source] == y[target]) | (torch.rand(900, generator=generator) < 0.1)
    x = torch.nn.functional.one_hot(y, 8).float() + torch.randn(NODES, 8, generator=generator)
    split = Split.of(range(40), range(40, 40 + val), range(40 + val, NODES), how="by number")
    return NodeData(x, Sparse.from_edges(source[same], target[same], NODES), y, split)


def model(build=gcn) -> Encoder:
    torch.manual_seed(5)
    return build(8, CLASSES, dim=16)


def weights(encoder: Encoder) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in encoder.parameters()])


def trained(trainer: Trainer, build=gcn) -> Tensor:
    encoder = model(build)
    trainer.fit(encoder, Classify(CLASSES), data())
    return weights(encoder)


def test_it_learns_and_tells():
    told = list(Trainer(epochs=40, lr=0.05).run(model(), Classify(CLASSES), data()))
    assert isinstance(told[0], Started) and told[0].parameters == 8 * 16 + 16 + 16 * 3 + 3
    epochs = [event for event in told if isinstance(event, EpochDone)]
    assert [event.epoch for event in epochs] == list(range(1, 41))
    assert epochs[-1].loss < 0.7 * epochs[0].loss
    assert isinstance(told[-1], Finished) and told[-1].metrics["accuracy"] > 0.6
    assert told[-1].metrics["accuracy"] == max(event.metrics["accuracy"] for event in epochs)


@pytest.mark.parametrize("build", [gcn, sage, gat, mlp])
def test_the_same_bytes_for_any_number_of_threads(build):
    before, found = torch.get_num_threads(), {}
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        found[threads] = trained(Trainer(epochs=6), build)
    torch.set_num_threads(before)
    assert torch.equal(found[1], found[2]) and torch.equal(found[1], found[4])


def test_every_epoch_drops_something_else():
    """Without anything to learn, the loss of an epoch tells which numbers were dropped."""
    history = Trainer(epochs=6, lr=0.0, weight_decay=0).fit(model(), Classify(CLASSES), data(val=0))
    assert len({epoch.loss for epoch in history.epochs}) == 6


def test_another_seed_gives_other_weights():
    assert not torch.equal(trained(Trainer(epochs=3, seed=0)), trained(Trainer(epochs=3, seed=1)))


def test_the_users_random_numbers_and_threads_are_left_alone():
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    run = Trainer(epochs=3).run(model_without_seed(), Classify(CLASSES), data())
    threads = torch.get_num_threads()
    torch.manual_seed(11)
    for _ in run:
        assert torch.get_num_threads() == threads
    assert torch.equal(torch.rand(3), expected)


def model_without_seed() -> Encoder:
    return gcn(8, CLASSES, dim=16)


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "adamw"])
@pytest.mark.parametrize("stop", [1, 4, 7])
def test_going_on_from_a_checkpoint_gives_the_same_bytes(tmp_path, stop, optimizer):
    settings = {"epochs": 9, "optimizer": optimizer, "schedule": Cosine(warmup=0.2), "lr": 0.02}
    whole = trained(Trainer(**settings))
    trainer = Trainer(**settings, checkpoint=tmp_path / "run.safetensors", every=0)
    saved = 0
    for event in trainer.run(model(), Classify(CLASSES), data()):
        saved += isinstance(event, CheckpointSaved)
        if saved == stop:
            break
    encoder = model()
    events = list(trainer.run(encoder, Classify(CLASSES), data()))
    assert isinstance(events[0], Started) and events[0].epoch == stop
    assert torch.equal(weights(encoder), whole)


def test_a_finished_training_is_not_repeated(tmp_path):
    trainer = Trainer(epochs=3, checkpoint=tmp_path / "run.safetensors")
    first = trained(trainer)
    encoder = model()
    events = list(trainer.run(encoder, Classify(CLASSES), data()))
    assert not any(isinstance(event, EpochDone) for event in events)
    assert torch.equal(weights(encoder), first)


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from test_trainer import CLASSES, Classify, Path, Trainer, data, model, weights
torch.set_num_threads(int(sys.argv[3]))
encoder = model()
Trainer(epochs=400, checkpoint=sys.argv[2], every=0).fit(encoder, Classify(CLASSES), data())
torch.save(weights(encoder), sys.argv[2] + ".done")
"""


def killed_and_resumed(folder: Path, times: int) -> Tensor:
    """Start, kill -9 after a random while, start again: as often as asked, then to the end."""
    dice = random.Random(0)
    path = folder / "run.safetensors"
    for turn in range(times + 1):
        command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(path), str(dice.choice([1, 2, 4]))]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if turn < times:
            before = path.stat().st_mtime_ns if path.exists() else 0
            while process.poll() is None and (not path.exists() or path.stat().st_mtime_ns == before):
                time.sleep(0.005)
            time.sleep(dice.random() * 0.1)  # while it learns, or while it writes
            process.send_signal(signal.SIGKILL)
        _, complaint = process.communicate()
        assert turn < times or process.returncode == 0, complaint.decode()[-2000:]
    return torch.load(f"{path}.done", weights_only=True)


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a matter of POSIX systems")
def test_killed_and_resumed(tmp_path):
    assert torch.equal(killed_and_resumed(tmp_path, 2), trained(Trainer(epochs=400)))


@pytest.mark.deep
def test_killed_and_resumed_many_times(tmp_path):
    assert torch.equal(killed_and_resumed(tmp_path, 20), trained(Trainer(epochs=400)))


def test_patience_stops_and_the_best_weights_stay():
    encoder, objective, nodes = model(), Classify(CLASSES), data()
    history = Trainer(epochs=500, patience=5, lr=0.05).fit(encoder, objective, nodes)
    assert history.end.epoch == history.end.best_epoch + 5 < 500 and history.end.reason == "no better for 5 epochs"
    with torch.no_grad():
        batch = next(iter(nodes.batches("val")))
        found = objective.metrics(objective.predict(encoder, batch), batch.y)
    assert found == dict(history.end.metrics)


def test_without_a_validation_part_the_last_epoch_is_the_best():
    history = Trainer(epochs=4, patience=1).fit(model(), Classify(CLASSES), data(val=0))
    assert history.end.best_epoch == history.end.epoch == 4
    assert all(epoch.metrics == {} for epoch in history.epochs)


def test_rates_follow_the_schedule():
    history = Trainer(epochs=4, lr=0.1, schedule=Steps(at=(0.5,))).fit(model(), Classify(CLASSES), data())
    assert [round(epoch.rate, 6) for epoch in history.epochs] == [0.1, 0.1, 0.01, 0.01]
    assert Constant().factor(3, 4) == 1 and Cosine(warmup=0.5).factor(0, 4) < Cosine(warmup=0.5).factor(1, 4) <= 1


def test_clipping_bounds_a_step():
    before = weights(model())
    for clip, least, most in ((1e-3, 0, 1.1e-3), (None, 2e-3, 10)):
        encoder = model()
        Trainer(epochs=1, optimizer="sgd", lr=1.0, weight_decay=0, clip=clip).fit(encoder, Classify(CLASSES), data(val=0))
        assert least < float((weights(encoder) - before).norm()) < most


BAD = [
    ({"optimizer": "adma"}, ["adma", "adam"]),
    ({"epochs": 0}, ["epochs", "at least 1", "0"]),
    ({"lr": -1.0}, ["lr", "-1.0"]),
    ({"lr": float("nan")}, ["lr", "nan"]),
    ({"weight_decay": -0.1}, ["weight_decay", "-0.1"]),
]


@pytest.mark.parametrize(("settings", "words"), BAD, ids=str)
def test_settings_that_cannot_be(settings, words):
    with pytest.raises(WeftValueError) as caught:
        Trainer(**settings)
    assert all(word in str(caught.value) for word in words)


def test_a_loss_that_is_no_number_is_named():
    nodes = data()
    nodes.x[0, 0] = 1e38
    with pytest.raises(WeftValueError, match=r"the loss is (nan|inf) in epoch [12].*smaller lr.*clip"):
        Trainer(epochs=2, lr=1e30).fit(mlp(8, CLASSES, dropout=0.0), Classify(CLASSES), nodes)


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    Trainer(epochs=2, lr=0.01, checkpoint=path).fit(model(), Classify(CLASSES), data())
    with pytest.raises(CheckpointError, match=r"its lr is 0.01, this one's is 0.02.*Remove the file"):
        Trainer(epochs=2, lr=0.02, checkpoint=path).fit(model(), Classify(CLASSES), data())
    other = data()
    other.y[0] = 2
    with pytest.raises(CheckpointError, match="its data is"):
        Trainer(epochs=2, lr=0.01, checkpoint=path).fit(model(), Classify(CLASSES), other)
    with pytest.raises(CheckpointError, match="its weights is"):
        Trainer(epochs=2, lr=0.01, checkpoint=path).fit(model(sage), Classify(CLASSES), data())


@pytest.mark.parametrize("damage", [b"", b"junk", b"\xff" * 64])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "run.safetensors"
    path.write_bytes(damage)
    with pytest.raises(CheckpointError, match="is not a checkpoint, or is damaged"):
        Trainer(epochs=2, checkpoint=path).fit(model(), Classify(CLASSES), data())


def test_a_checkpoint_is_the_old_one_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    write(path, {"x": torch.ones(2)}, {"epoch": 1})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(path, {"x": torch.zeros(2)}, {"epoch": 2})
    tensors, state = read(path)
    assert tensors["x"].tolist() == [1, 1] and state == {"epoch": 1}
