"""`weft list`: what there is to choose from."""

from typing import Annotated

import typer

from weft.cli.common import Json, answer, usage

KINDS = ("encoders", "data")


def lists(
    what: Annotated[str, typer.Argument(help=f"What to list: {', '.join(KINDS)}.")] = "encoders", as_json: Json = False
) -> None:
    """What there is to choose from, with the paper it comes from."""
    if what not in KINDS:
        usage(f"list knows {', '.join(KINDS)}, not {what!r}")
    if what == "data":
        from weft.data import datasets

        titles = {name: datasets.info(name).title for name in datasets.names()}
        answer({"data": titles}, as_json, "\n".join(f"{name:18} {title}" for name, title in titles.items()))
        return
    from weft.encoders import builder_of, names

    found = {name: (builder_of(name).__doc__ or "").splitlines()[0] for name in names()}
    answer({"encoders": found}, as_json, "\n".join(f"{name:18} {line}" for name, line in found.items()))
