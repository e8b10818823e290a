"""`weft <verb>`: exit code 0 when done, 1 when the run failed, 2 when the call was wrong."""

import sys
from importlib.metadata import version

import typer

from weft.cli import data, demo, doctor, fit, inspect, lists, predict, reproduce

app = typer.Typer(
    name="weft",
    help="Deep learning over any structure: from two tables to predictions one can trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("evaluate")(predict.evaluate)
app.command("embed")(predict.embed)
app.command("inspect")(inspect.inspect)
app.command("list")(lists.lists)
app.command("doctor")(doctor.doctor)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
app.add_typer(data.app, name="data")


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"weft {version('weft')}")
        raise typer.Exit


@app.callback()
def every(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Say which weft this is."),
) -> None:
    """Deep learning over any structure: from two tables to predictions one can trust."""


def main() -> None:
    """Run a verb; what weft refuses on purpose is a sentence, not a traceback."""
    try:
        app()
    except Exception as error:
        from weft.errors import WeftError

        if not isinstance(error, WeftError):
            raise
        print(f"weft: {error}", file=sys.stderr)
        sys.exit(1)
