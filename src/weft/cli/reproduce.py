"""`weft reproduce`: a study of the field run again, the published number beside ours."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import Json, answer

if TYPE_CHECKING:
    from weft.reproduce import Outcome, Study


def reproduce(
    name: Annotated[str | None, typer.Argument(help="A study; without one, all of them are listed.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="How many trainings; by default as the study says.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result as JSON.")] = None,
    as_json: Json = False,
) -> None:
    """Run a study of the field again, and print the published number, ours and the difference."""
    from weft.reproduce import names, read_study
    from weft.reproduce import reproduce as run
    from weft.reproduce.runner import kept, save

    if name is None:
        rows = [(study, kept(study.name)) for study in map(read_study, names())]
        told = [{"study": study.name, "published": study.published, "ours": found and found.mean} for study, found in rows]
        answer({"studies": told}, as_json, "\n".join(tell(study, found) for study, found in rows))
        return
    study = read_study(name)

    def heard(seed: int, percent: float) -> None:
        if not as_json:
            print(f"  seed {seed}: {percent:.2f}", flush=True)

    outcome = run(study, seeds=seeds, heard=heard)
    if out is not None:
        save(outcome, out / f"{name}.json")
    report = {**asdict(outcome), "published": study.published, "mean": outcome.mean, "verdict": outcome.verdict(study)}
    deviations = "".join(f"\n  deviation: {each}" for each in study.deviations)
    answer(report, as_json, f"{tell(study, outcome)}\n  {study.paper}{deviations}")


def tell(study: "Study", found: "Outcome | None") -> str:
    """One line per study."""
    ours = "not run yet"
    if found is not None:
        ours = f"{found.mean:.2f} ± {found.spread:.2f} over {len(found.values)} seeds, {found.verdict(study)}"
    return f"{study.name:32} published {study.number:12} ours {ours}"
