"""`weft fit`: from two tables to a model folder."""

import inspect
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import Directed, Edges, Ends, Id, Json, Nodes, Weight, answer, known, read_settings, usage

if TYPE_CHECKING:
    from weft.data import Graph, Splitter
    from weft.encoders import Builder
    from weft.estimators import NodeClassifier, NodeRegressor

TASKS = ("node-classifier", "node-regressor")
DATA = ["name", "nodes", "edges", "id", "target", "ends", "weight", "split", "directed", "kinds"]
HOW = ["encoder", "trainer", "split", "seed", "smooth", "class_weight", "batch_size", "fanouts"]
ALL = ["task", "data", "out", "compare", *HOW]


def fit(
    what: Annotated[str, typer.Argument(help="What to fit: node-classifier, node-regressor, or a TOML file of settings.")],
    nodes: Nodes = None,
    edges: Edges = None,
    data_name: Annotated[
        str | None, typer.Option("--data", help="A data set of the catalogue instead: `weft data list`.")
    ] = None,
    id: Id = None,  # noqa: A002 (the word of the option)
    target: Annotated[str | None, typer.Option(help="Column of things that is to be predicted.")] = None,
    split: Annotated[str | None, typer.Option(help="Column of things that says train, val, test or nothing.")] = None,
    ends: Ends = None,
    weight: Weight = None,
    directed: Directed = None,
    encoder: Annotated[str | None, typer.Option(help="What combines neighbours: see `weft list encoders`.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the model. [weft-model]")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model, to the last byte.")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Do not run the free baselines beside the model.")] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting, as trainer.lr=0.003 or encoder.dim=128.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn from a table of things and a table of links, and save a model folder."""
    from_file = what.endswith(".toml")
    settings = read_settings(Path(what) if from_file else None, list(set_ or []))
    settings.setdefault("task", what)
    data = settings.setdefault("data", {})
    given = {
        "name": data_name,
        "nodes": nodes,
        "edges": edges,
        "id": id,
        "target": target,
        "split": split,
        "ends": ends,
        "weight": weight,
    }
    data.update({name: str(value) for name, value in given.items() if value is not None})
    data.update({} if directed is None else {"directed": directed})
    if encoder is not None:
        settings.setdefault("encoder", {})["name"] = encoder
    settings.update({name: value for name, value in (("out", out), ("seed", seed)) if value is not None})
    if alone:
        settings["compare"] = False
    report = run(settings, quiet=as_json, command=spoken(sys.argv))
    answer(report, as_json, tell(report))


def spoken(arguments: list[str]) -> str:
    """The command line as it can be given again."""
    return shlex.join(["weft", *arguments[1:]])


def run(settings: dict[str, Any], quiet: bool, command: str) -> dict[str, Any]:
    """Fit what the settings say, save it with a report, and tell what came out."""
    known(settings, ALL, "fit")
    if settings["task"] not in TASKS:
        usage(f"fit knows {', '.join(TASKS)} and TOML files, not {settings['task']!r}")
    from weft.cli.progress import Bars
    from weft.estimators import NodeClassifier
    from weft.report import write_report

    trainer, encoder = trainer_of(settings), encoder_of(settings)
    graph = graph_of(settings["data"], needs_target=True)
    estimator = estimator_of(settings, encoder, trainer)
    with Bars(quiet) as bars:
        estimator.fit(graph, listener=bars)
    classifies = isinstance(estimator, NodeClassifier)
    if classifies and settings.get("compare", True) is not False:
        more = settings.get("compare", True)
        estimator.compare(*(more if isinstance(more, list) else []))
    folder = Path(settings.get("out", "weft-model"))
    estimator.save(folder)
    if classifies:
        write_report(estimator, folder / "report.html", command=command)
    fitted = estimator.fitted_
    assert fitted is not None
    return {
        "model": str(folder),
        "graph": repr(graph),
        "notes": list(graph.notes),
        "split": fitted.split.how,
        "classes": [str(name) for name in estimator.classes_] if classifies else None,
        "metrics": {part: dict(found) for part, found in estimator.metrics_.items()},
        "best_epoch": fitted.end.best_epoch,
        "seconds": round(fitted.end.seconds, 2),
        "certificate": fitted.certificate.to_json(),
        "clean": fitted.certificate.clean,
        "leaderboard": estimator.leaderboard_.to_json() if classifies and estimator.leaderboard_ else None,
        "board": str(estimator.leaderboard_) if classifies and estimator.leaderboard_ else None,
    }


def tell(report: dict[str, Any]) -> str:
    """The report as a few lines."""
    lines = [report["graph"], *(f"note: {note}" for note in report["notes"])]
    lines.append(f"split {report['split']}; best epoch {report['best_epoch']}, {report['seconds']} s")
    for part, found in report["metrics"].items():
        told = [name for name in found if name not in ("balanced_accuracy", "average_precision")]
        lines.append(f"{part:>6}  " + "  ".join(f"{name} {found[name]:.4f}" for name in told))
    lines += [] if report["board"] is None else ["", report["board"], ""]
    broken = [each for each in report["certificate"] if each["holds"] is False]
    lines += [f"WARNING  {each['about']}: {each['says']}" for each in broken]
    look = f"look at {report['model']}/report.html, or: " if report["classes"] else ""
    lines.append(f"saved: {report['model']}   ({look}weft inspect {report['model']})")
    return "\n".join(lines)


def estimator_of(settings: dict[str, Any], encoder: "str | Builder", trainer: Any) -> "NodeClassifier | NodeRegressor":
    """The estimator of the task, with the settings that it knows."""
    from weft.estimators import NodeClassifier, NodeRegressor

    shared: dict[str, Any] = {"trainer": trainer, "split": splitter_of(settings.get("split"))}
    shared |= {"seed": int(settings.get("seed", 0)), "batch_size": settings.get("batch_size")}
    shared |= {"fanouts": tuple(settings["fanouts"])} if "fanouts" in settings else {}
    if settings["task"] == "node-regressor":
        for name in ("smooth", "class_weight"):
            if settings.get(name):
                usage(f"{name} is for node-classifier; a node-regressor has no classes")
        return NodeRegressor(encoder, **shared)
    weight, smooth = settings.get("class_weight"), bool(settings.get("smooth", False))
    return NodeClassifier(encoder, class_weight=weight, smooth=smooth, **shared)


def graph_of(data: dict[str, Any], *, needs_target: bool) -> "Graph":
    """The graph that the data settings name."""
    from weft.data import Graph

    known(data, DATA, "data")
    if data.get("name"):
        from weft.data import datasets

        return datasets.get(data["name"])
    for name in ("nodes", "edges", *(["target"] if needs_target else [])):
        if not data.get(name):
            usage(f"--{name} is missing; for example: weft fit node-classifier --nodes n.csv --edges e.csv --target label")
    ends = data.get("ends")
    pair = [part.strip() for part in ends.split(",")] if isinstance(ends, str) else ends
    if pair is not None and len(pair) != 2:
        usage(f"--ends names two columns parted by a comma, but got {ends!r}")
    return Graph.from_tables(
        data["nodes"],
        data["edges"],
        id=data.get("id", "id"),
        target=data.get("target"),
        ends=None if pair is None else (pair[0], pair[1]),
        weight=data.get("weight"),
        split=data.get("split"),
        kinds=data.get("kinds"),
        directed=bool(data.get("directed", False)),
    )


def encoder_of(settings: dict[str, Any]) -> "str | Builder":
    """The encoder's name, or its builder with the arguments that are given."""
    from weft.encoders import builder_of

    told = settings.get("encoder", {})
    told = {"name": told} if isinstance(told, str) else dict(told)
    name = told.pop("name", "gcn")
    build = builder_of(name)
    if not told:
        return name
    takes = [each for each in inspect.signature(build).parameters if each not in ("in_dim", "out_dim")]
    return partial(build, **known(told, takes, f"encoder {name}"))


def trainer_of(settings: dict[str, Any]) -> Any:
    """A trainer with the settings that are given; the others as the estimator has them."""
    from weft.training import Cosine, Trainer

    told = dict(settings.get("trainer", {}))
    names = list(inspect.signature(Trainer).parameters)
    known(told, names, "trainer")
    if told.get("schedule") == "cosine":
        told["schedule"] = Cosine()
    given: dict[str, Any] = {"patience": 50, "seed": int(settings.get("seed", 0)), **told}
    return Trainer(**given)


def splitter_of(told: Any) -> "Splitter | None":
    """A way to part the nodes, from `{how = "per-class", train = 20, val = 30}`."""
    from weft.data import ByGroup, ByTime, PerClass, Published, Random, Stratified

    if told is None:
        return None
    ways: dict[str, Any] = {
        "random": Random,
        "stratified": Stratified,
        "per-class": PerClass,
        "by-time": ByTime,
        "by-group": ByGroup,
        "published": Published,
    }
    told = {"how": told} if isinstance(told, str) else dict(told)
    how = told.pop("how", None)
    if how not in ways:
        usage(f"split.how must be one of {', '.join(ways)}, but is {how!r}")
    return ways[how](**known(told, list(inspect.signature(ways[how]).parameters), f"split {how}"))
