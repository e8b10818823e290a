"""The studies as a table of the README, between its markers: `python -m weft.reproduce.table`."""

from pathlib import Path

from weft.reproduce.runner import kept
from weft.reproduce.study import names, read_study

BEGIN, END = "<!-- studies: written by python -m weft.reproduce.table -->", "<!-- end of studies -->"


def table() -> str:
    """Every study that was run, the published number and ours; what was not reproduced says so."""
    lines = ["| study | published | ours, mean ± std | seeds | |", "|---|---:|---:|---:|---|"]
    for study, found in ((read_study(name), kept(name)) for name in names()):
        ours = "not run yet |  | " if found is None else f"{found.mean:.2f} ± {found.spread:.2f} | {len(found.values)} | "
        lines.append(
            f"| {study.title} (`{study.name}`) | {study.number} | {ours}{'' if found is None else found.verdict(study)} |"
        )
    return "\n".join(lines)


def main() -> None:
    readme = Path("README.md")
    before, rest = readme.read_text().split(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
