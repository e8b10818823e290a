"""`weft demo`: the main job from beginning to end, on two CSV files that are really written."""
# pyarrow.compute makes its functions when it is loaded
# pyright: reportAttributeAccessIssue=false

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import Json, answer

NEWCOMERS = 60
"""So many images are kept from the fit, to be added afterwards."""


def demo(
    folder: Annotated[Path, typer.Argument(help="Where tables, model and answers go.")] = Path("demo"), as_json: Json = False
) -> None:
    """Handwritten digits as a graph: fit, compare with what is free, save, and answer for images added afterwards."""
    report = run(folder, quiet=as_json)
    answer(report, as_json, report["next"])


def run(folder: Path, quiet: bool) -> dict[str, Any]:
    """Write the tables, fit, predict; what came out."""
    from weft.cli import fit
    from weft.estimators import load

    folder.mkdir(parents=True, exist_ok=True)
    truth = write_tables(folder)

    def tell(text: str) -> None:
        if not quiet:
            print(text)

    tell(f"{folder}/nodes.csv: one row per image: 64 pixels, the digit where it is known, its part of the split")
    tell(f"{folder}/edges.csv: one row per link: each image to the eight that look most like it\n")
    tables = f"--nodes {folder}/nodes.csv --edges {folder}/edges.csv --target digit --split split"
    call = f"weft fit node-classifier {tables} --out {folder}/model --set compare='[\"sage\"]'"
    tell(f"$ {call}")
    data = {"nodes": str(folder / "nodes.csv"), "edges": str(folder / "edges.csv"), "target": "digit", "split": "split"}
    settings = {"task": "node-classifier", "data": data, "out": str(folder / "model"), "compare": ["sage"]}
    fitted = fit.run(settings, quiet, command=call)
    tell(fit.tell(fitted))
    everyone = fit.graph_of(
        {"nodes": str(folder / "more-nodes.csv"), "edges": str(folder / "more-edges.csv")}, needs_target=False
    )
    found = load(folder / "model").predict_table(everyone).select(["id", "prediction"]).to_pylist()
    new = [row for row in found if row["id"] in truth]
    right = sum(row["prediction"] == truth[row["id"]] for row in new)
    told = f"{len(new)} images the model has never seen: {right} answered rightly ({right / len(new):.1%})"
    tell(f"\n$ weft predict {folder}/model --nodes {folder}/more-nodes.csv --edges {folder}/more-edges.csv --only-new\n{told}")
    following = (
        f"\nNext: open {folder}/model/report.html in a browser\n"
        f"      weft inspect {folder}/model\n"
        "      weft fit node-classifier --nodes yours.csv --edges yours.csv --target column   (two tables of your own)"
    )
    return {"fit": fitted, "new": len(new), "right": right, "next": following}


def write_tables(folder: Path) -> dict[str, str]:
    """The tables with everybody (more-…) and those without the newcomers; the newcomers' digits by id."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    from weft.data.datasets import write_digits
    from weft.data.table import write_table

    paths = write_digits(folder)
    text = csv.ConvertOptions(column_types={"id": pa.string(), "digit": pa.string()})
    nodes, edges = (csv.read_csv(path, convert_options=text) for path in paths)
    unused = np.flatnonzero(pc.equal(nodes["split"], "test"))
    chosen = nodes.take(np.random.RandomState(1).permutation(unused)[:NEWCOMERS])
    truth = dict(zip(chosen["id"].to_pylist(), chosen["digit"].to_pylist(), strict=True))
    names = pa.array(list(truth))
    write_table(nodes.drop_columns(["digit", "split"]), folder / "more-nodes.csv")
    write_table(edges, folder / "more-edges.csv")
    write_table(nodes.filter(pc.invert(pc.is_in(nodes["id"], names))), paths[0])
    known = pc.invert(pc.or_(pc.is_in(edges["source"], names), pc.is_in(edges["target"], names)))
    write_table(edges.filter(known), paths[1])
    return truth
