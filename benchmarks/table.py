"""Tables of the committed results: `python -m benchmarks.table` writes them into the README between its markers."""

import json
from pathlib import Path
from typing import Any

from benchmarks.registry import WORKLOADS, Figure
from benchmarks.run import RESULTS

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- benchmarks: written by python -m benchmarks.table -->", "<!-- end of benchmarks -->"


def newest(device: str) -> list[Path]:
    """The latest result file of each element type on a device."""
    files: dict[str, Path] = {}
    for path in sorted(RESULTS.glob(f"*-{device}-*.json")):
        files[path.stem.split("-")[-1]] = path
    return list(files.values())


def table(path: Path) -> str:
    """One result file as a table: every contender of every workload, figures beside those that have one."""
    result = json.loads(path.read_text())
    facts = result["machine"]
    where = facts.get("gpu") or f"{facts['cpu']}, {facts['threads']} of {facts['cores']} cores"
    versions = ", ".join(
        f"{name} {result['versions'][name]}" for name in ("torch", "numba", "torch-geometric") if name in result["versions"]
    )
    lines = [
        f"{where} · {versions} · {result['date']} · `{path.name}`",
        "",
        "| workload (graph) | beside | weft is faster | weft's peak memory | distance from float64 | must · aim | |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for row in result["rows"]:
        workload = next(w for w in WORKLOADS if (w.name, w.shape) == (row["name"], row["shape"]))
        figures = {figure.peer: figure for figure in (workload.cpu if result["device"] == "cpu" else workload.cuda)}
        ours = row["contenders"]["weft"]
        for peer, found in row["contenders"].items():
            if peer != "weft":
                lines.append(line(row, peer, found, ours, figures.get(peer)))
    return "\n".join(lines)


def line(row: dict[str, Any], peer: str, found: dict[str, Any], ours: dict[str, Any], figure: Figure | None) -> str:
    low, high = found["interval"]
    share = ours["peak_bytes"] / max(found["peak_bytes"], 1)
    goal = verdict = ""
    if figure is not None:
        goal = f"{figure.must:g}× · {figure.aim:g}×"
        met = [found["times_faster"] >= figure.must]
        if figure.memory:
            goal += f"; memory 1/{1 / figure.memory[0]:.0f} · 1/{1 / figure.memory[1]:.0f}"
            met.append(share <= figure.memory[0])
        aimed = found["times_faster"] >= figure.aim and (figure.memory is None or share <= figure.memory[1])
        verdict = "reached" if all(met) and aimed else "must reached" if all(met) else "**missed**"
    return (
        f"| {row['name']} ({row['shape']}, {row['dtype']}) | {peer} | {found['times_faster']:.2f}× ({low:.2f} … {high:.2f}) "
        f"| {ours['peak_bytes'] / 2**20:.0f} MiB, {_share(share)} | {ours['error']:.0e} | {goal} | {verdict} |"
    )


def _share(share: float) -> str:
    return f"1/{1 / share:.1f} of the peer's" if 0 < share < 0.95 else f"{share:.2f} of the peer's"


def main() -> None:
    text = README.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    tables = [table(path) for device in ("cpu", "cuda") for path in newest(device)]
    README.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(tables) + f"\n\n{END}{after}")


if __name__ == "__main__":
    main()
