"""`weft data list | info | get`: the catalogue of data sets."""

from dataclasses import asdict
from typing import Annotated

import typer

from weft.cli.common import Json, answer

app = typer.Typer(help="The catalogue of data sets.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="A name that `weft data list` shows.")]


@app.command("list")
def show(as_json: Json = False) -> None:
    """Every data set, with its size."""
    from weft.data import datasets

    found = [datasets.info(name) for name in datasets.names()]
    lines = [f"{each.name:14} {each.nodes:>7,} nodes {each.edges:>8,} edges  {each.title}" for each in found]
    answer({"data": [asdict(each) for each in found]}, as_json, "\n".join(lines))


@app.command()
def info(name: Name, as_json: Json = False) -> None:
    """What is known of a data set, without fetching it."""
    from weft.data import datasets

    told = asdict(datasets.info(name))
    lines = [f"{key:10} {value}" for key, value in told.items() if key != "files"]
    lines += [f"file       {each['name']}, {each['bytes']:,} bytes, {each['url']}" for each in told["files"]]
    answer(told, as_json, "\n".join(lines))


@app.command()
def get(name: Name, as_json: Json = False) -> None:
    """Fetch a data set, check it, and say what is in it."""
    from weft.data import datasets

    graph = datasets.get(name)
    report = {"name": name, "graph": repr(graph), "splits": [repr(split) for split in graph.splits], "notes": list(graph.notes)}
    answer(report, as_json, "\n".join([repr(graph), *(f"  {split}" for split in graph.splits), *graph.notes]))
