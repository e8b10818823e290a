"""What several verbs share: options said once, answers for people or as JSON, settings from a file and from `--set`."""

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.errors import did_you_mean

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Nodes = Annotated[Path | None, typer.Option(help="Table of things: CSV, TSV, Parquet or Arrow.")]
Edges = Annotated[Path | None, typer.Option(help="Table of links: two columns that name things, and more if you like.")]
Id = Annotated[str | None, typer.Option("--id", help="Column of the things' ids. [id]")]
Ends = Annotated[str | None, typer.Option(help="The two columns of links that name things. [source,target]")]
Weight = Annotated[str | None, typer.Option(help="Column of links that holds their weight.")]
Directed = Annotated[bool | None, typer.Option("--directed", help="Links lead one way. By default they lead both ways.")]


def answer(found: Mapping[str, Any], as_json: bool, text: str) -> None:
    """Print the answer for the reader who asked."""
    print(json.dumps(found, ensure_ascii=False, default=str) if as_json else text)


def read_settings(path: Path | None, changes: list[str]) -> dict[str, Any]:
    """A TOML file of settings, and `key.part=value` on top of it; values are read as TOML, else as text."""
    settings: dict[str, Any] = {}
    if path is not None:
        if not path.exists():
            usage(f"there is no file {path}")
        try:
            settings = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as error:
            usage(f"{path} is not TOML: {error}")
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            usage(f"--set takes name=value, but got {change!r}")
        put(settings, name.strip(), read_value(value.strip()))
    return settings


def put(settings: dict[str, Any], name: str, value: Any) -> None:
    """Set `a.b.c` in nested tables."""
    *path, last = name.split(".")
    table = settings
    for part in path:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            usage(f"{name}: {part} holds a value already, not further settings")
    table[last] = value


def read_value(text: str) -> Any:
    """A TOML value, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def known(settings: Mapping[str, Any], names: list[str], what: str) -> Mapping[str, Any]:
    """Refuse a setting that nobody reads."""
    for name in settings:
        if name not in names:
            usage(f"{what} has no setting {name!r}." + (did_you_mean(name, names) or f" There are: {', '.join(names)}."))
    return settings


def usage(text: str) -> None:
    """The call is wrong: say how, and leave with 2."""
    print(f"weft: {text}", file=sys.stderr)
    raise typer.Exit(2)
