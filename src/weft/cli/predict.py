"""`weft predict`, `weft evaluate`, `weft embed`: use a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import Directed, Edges, Ends, Id, Json, Nodes, Weight, answer, usage

if TYPE_CHECKING:
    import pyarrow as pa

    from weft.data import Graph

Model = Annotated[Path, typer.Argument(help="Folder of the model.")]
Out = Annotated[Path | None, typer.Option(help="Write a table (.csv, .parquet or .arrow) instead of printing it.")]


def predict(
    model: Model,
    nodes: Nodes = None,
    edges: Edges = None,
    id: Id = None,  # noqa: A002 (the word of the option)
    ends: Ends = None,
    weight: Weight = None,
    directed: Directed = None,
    only_new: Annotated[bool, typer.Option("--only-new", help="Only things the model was not fitted on.")] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Answers for every thing of a table, those the model has never seen included."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from weft.estimators import load

    estimator = load(model)
    graph = _graph(nodes, edges, id, ends, weight, directed, None)
    found = estimator.predict_table(graph)
    seen = estimator.ids_.find(found["id"], "ids") >= 0
    found = found.append_column("new", pa.array(~seen))
    if only_new:
        found = found.filter(pc.field("new"))
    _hand_over(found, out, as_json)


def evaluate(
    model: Model,
    nodes: Nodes = None,
    edges: Edges = None,
    target: Annotated[str | None, typer.Option(help="Column of things that holds the right answers.")] = None,
    id: Id = None,  # noqa: A002
    ends: Ends = None,
    weight: Weight = None,
    directed: Directed = None,
    as_json: Json = False,
) -> None:
    """How good the answers are: for all things of a table whose answer is known."""
    from weft.estimators import load

    if target is None:
        usage("--target is missing: the column that holds the right answers")
    estimator = load(model)
    graph = _graph(nodes, edges, id, ends, weight, directed, target)
    found, known = estimator.scores(graph), len(graph.labelled)
    lines = [f"{known:,} of {graph.num_nodes:,} things have a known answer"]
    lines += [f"  {name:18} {value:.4f}" for name, value in found.items()]
    answer({**found, "known": known, "things": graph.num_nodes}, as_json, "\n".join(lines))


def embed(
    model: Model,
    nodes: Nodes = None,
    edges: Edges = None,
    id: Id = None,  # noqa: A002
    ends: Ends = None,
    weight: Weight = None,
    directed: Directed = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """One vector per thing: what the answer is made from."""
    import pyarrow as pa

    from weft.estimators import load

    estimator = load(model)
    graph = _graph(nodes, edges, id, ends, weight, directed, None)
    vectors = estimator.embed(graph)
    columns = {f"e{number}": pa.array(vectors[:, number]) for number in range(vectors.shape[1])}
    _hand_over(pa.table({"id": graph.ids.values, **columns}), out, as_json)


def _graph(
    nodes: Path | None,
    edges: Path | None,
    id: str | None,  # noqa: A002
    ends: str | None,
    weight: str | None,
    directed: bool | None,
    target: str | None,
) -> "Graph":
    from weft.cli.fit import graph_of

    given: dict[str, Any] = {"nodes": nodes, "edges": edges, "id": id, "ends": ends, "weight": weight, "target": target}
    data = {name: str(value) for name, value in given.items() if value is not None}
    return graph_of({**data, "directed": bool(directed)}, needs_target=False)


def _hand_over(table: "pa.Table", out: Path | None, as_json: bool) -> None:
    """Print a table, or write it; a file is either whole or not there."""
    import sys

    from weft.data.table import write_table

    if out is not None:
        write_table(table, out)
        answer({"written": str(out), "rows": table.num_rows}, as_json, f"written: {out} ({table.num_rows:,} rows)")
    elif as_json:
        answer({"rows": table.to_pylist()}, True, "")
    else:
        from pyarrow import csv

        csv.write_csv(table, sys.stdout.buffer)
