"""`weft reproduce`: a study of the field run again, the published number beside ours."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import Json, answer, usage

if TYPE_CHECKING:
    from weft.reproduce import Outcome, Study


def reproduce(
    name: Annotated[str | None, typer.Argument(help="A study; without one, all of them are listed.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="How many trainings; by default as the study says.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result, as JSON and as a page.")] = None,
    pages: Annotated[Path | None, typer.Option(help="Folder for a page of every result there is; nothing is run.")] = None,
    as_json: Json = False,
) -> None:
    """Run a study of the field again, and print the published number, ours and the difference."""
    if name is None:
        if seeds is not None or out is not None:
            usage("--seeds and --out belong to a study, and none is named: weft reproduce NAME")
        show(pages, as_json)
        return
    if pages is not None:
        usage(f"--pages is for all results there are; for {name} alone use --out")
    from weft.cli.trainings import Trainings
    from weft.reproduce import read_study, write_page
    from weft.reproduce import reproduce as run
    from weft.reproduce.runner import save

    study = read_study(name)
    total = (study.seeds if seeds is None else seeds) * max(len(study.encoders), 1)
    with Trainings(total, quiet=as_json, lines_at_begin=bool(study.encoders)) as told:
        outcome = run(study, seeds=seeds, heard=told.heard, begins=told.begins)
    if out is not None:
        save(outcome, out / f"{study.name}.json")
        write_page(study, outcome, out / f"{study.name}.html")
    report = {**asdict(outcome), "published": study.published, "mean": outcome.mean, "verdict": outcome.verdict(study)}
    deviations = "".join(f"\n  deviation: {each}" for each in study.deviations)
    board = f"{outcome.board}\n" if outcome.board else ""
    answer(report, as_json, f"{board}{tell(study, outcome)}\n  {study.paper}{deviations}")


def show(pages: Path | None, as_json: bool) -> None:
    """List all studies, or write their pages."""
    from weft.reproduce import names, read_study, write_pages
    from weft.reproduce.runner import kept

    if pages is not None:
        written = [str(path) for path in write_pages(pages)]
        answer({"pages": written}, as_json, "\n".join(written))
        return
    rows = [(study, kept(study.name)) for study in map(read_study, names())]
    told = [{"study": study.name, "published": study.published, "ours": found and found.mean} for study, found in rows]
    answer({"studies": told}, as_json, "\n".join(tell(study, found) for study, found in rows))


def tell(study: "Study", found: "Outcome | None") -> str:
    """One line per study."""
    ours = "not run yet"
    if found is not None:
        ours = f"{found.mean:.2f} ± {found.spread:.2f} over {len(found.values)} seeds, {found.verdict(study)}"
    return f"{study.name:32} published {study.number:12} ours {ours}"
