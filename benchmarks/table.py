"""Tables of the committed results: `python -m benchmarks.table` writes them into the README between its markers."""

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks import scaling
from benchmarks.registry import WORKLOADS
from benchmarks.run import RESULTS
from benchmarks.workload import Figure, Workload

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- benchmarks: written by python -m benchmarks.table -->", "<!-- end of benchmarks -->"
COLUMNS = """\
| workload (graph) | beside | weft is faster | weft's peak memory | must · aim | | of the bytes' limit |
|---|---|---:|---:|---:|---|---:|"""


def newest(pattern: str) -> list[Path]:
    """The latest result file of each kind that fits: dates lead the names, what was measured ends them."""
    return list({path.name.split("-", 3)[3]: path for path in sorted(RESULTS.glob(pattern))}.values())


def table(path: Path) -> str:
    """One result file as a table: every contender of every workload, figures beside those that have one."""
    result = json.loads(path.read_text())
    device, speed = result["device"], result["bandwidth"]
    lines = [f"**{where(result)}**", "", COLUMNS]
    for row in result["rows"]:
        workload = next(w for w in WORKLOADS if (w.name, w.shape) == (row["name"], row["shape"]))
        figures = {figure.peer: figure for figure in workload.figures(device)}
        contenders, limit = row["contenders"], of_limit(row, speed["copy" if device == "cuda" else "row gather"])
        label = f"{row['name']} ({row['shape']}, {row['dtype']})"
        for peer, found in contenders.items():
            if peer != "weft":
                cells = beside(found, contenders["weft"], figures.get(peer))
                lines.append(f"| {label} | {peer} | {' | '.join(cells)} | {limit} |")
        if workload.bound is not None:
            lines.append(f"| {label} | what it needs | {' | '.join(alone(row, contenders['weft'], workload))} | {limit} |")
    return "\n".join(lines)


def where(result: dict[str, Any]) -> str:
    """The machine, the versions, the date and the file."""
    facts, speed = result["machine"], result.get("bandwidth", {})
    place = facts.get("gpu") or f"{facts['cpu']}, {facts['threads']} of {facts['cores']} cores"
    names = ("torch", "triton" if "gpu" in facts else "numba", "torch-geometric")
    versions = ", ".join(f"{name} {result['versions'][name]}" for name in names if name in result["versions"])
    speeds = [f"{kind} {value / 1e9:,.0f} GB/s" for kind, value in speed.items()]
    return " · ".join([place, versions, *speeds, result["date"]])


def beside(found: dict[str, Any], ours: dict[str, Any], figure: Figure | None) -> list[str]:
    """How much faster and smaller weft is than one peer, what it should be, and whether it is."""
    if "failed" in found:
        return [f"peer: {found['failed']}", f"{ours['whole_bytes'] / 2**30:.1f} GiB in all", "", ""]
    low, high = found["interval"]
    share = ours["peak_bytes"] / max(found["peak_bytes"], 1)
    little = max(ours["peak_bytes"], found["peak_bytes"]) < 1 << 20
    memory = "too little to tell" if little else f"{ours['peak_bytes'] / 2**20:.0f} MiB, {_share(share)}"
    cells = [f"{found['times_faster']:.2f}× ({low:.2f} … {high:.2f})", memory]
    if figure is None:
        return [*cells, "", ""]
    goal, must, aim = (
        f"{figure.must:g}× · {figure.aim:g}×",
        found["times_faster"] >= figure.must,
        found["times_faster"] >= figure.aim,
    )
    if figure.memory:
        goal += f"; memory 1/{1 / figure.memory[0]:.0f} · 1/{1 / figure.memory[1]:.0f}"
        must, aim = must and share <= figure.memory[0], aim and share <= figure.memory[1]
    return [*cells, goal, verdict(must, aim)]


def alone(row: dict[str, Any], ours: dict[str, Any], workload: Workload) -> list[str]:
    """Time and memory of weft where no peer can run, and what to stay under."""
    assert workload.bound is not None
    (must, aim), (gib, less) = workload.bound.milliseconds[row["dtype"]], workload.bound.gib
    time, memory = ours["median_ms"], ours["whole_bytes"] / 2**30
    reached = verdict(time <= must and memory <= gib, time <= aim and memory <= less)
    return [f"{time:.1f} ms", f"{memory:.1f} GiB in all", f"{must:g} · {aim:g} ms; {gib:g} · {less:g} GiB", reached]


def verdict(must: bool, aim: bool) -> str:
    return "aim reached" if must and aim else "must reached" if must else "**missed**"


def of_limit(row: dict[str, Any], bandwidth: float) -> str:
    """Time that the bytes alone would take, without and with reuse, over the time taken."""
    if row.get("bytes") is None:
        return ""
    taken = row["contenders"]["weft"]["median_ms"] / 1e3 * bandwidth
    return f"{row['bytes']['no_reuse'] / taken:.0%} · {row['bytes']['compulsory'] / taken:.0%}"


def _share(share: float) -> str:
    return f"1/{1 / share:.1f} of the peer's" if 0 < share < 0.95 else f"{share:.2f} of the peer's"


def cores(path: Path) -> str:
    """How the CPU kernels gain from more cores."""
    result = json.loads(path.read_text())
    counts = list(result["rows"][0]["median_ms"])
    lines = [
        f"**{where(result)}**",
        "",
        f"| kernel, forward+backward | {' | '.join(f'{count} threads' for count in counts)} | must · aim | |",
        f"|---|{'---:|' * len(counts)}---:|---|",
    ]
    for row in result["rows"]:
        gains = [row["median_ms"]["1"] / row["median_ms"][count] for count in counts]
        reached = verdict(gains[-1] >= scaling.MUST, gains[-1] >= scaling.AIM) if counts[-1] == "16" else ""
        shown = " | ".join(f"{gain:.1f}×" for gain in gains)
        lines.append(f"| {row['name']} ({row['shape']}) | {shown} | {scaling.MUST:g}× · {scaling.AIM:g}× | {reached} |")
    return "\n".join(lines)


def sampled(path: Path) -> str:
    """How fast neighbourhoods are drawn and their features gathered, beside what the bytes and misses alone would take."""
    result = json.loads(path.read_text())
    fanouts = "/".join(map(str, result["fanouts"]))
    lines = [
        f"**{where(result)}**",
        "",
        f"| neighbourhoods of {result['batch_size']:,} nodes, fan-out {fanouts} ({result['shape']}) | batches per second | "
        "million edges per second | of the bytes' and misses' limit |",
        "|---|---:|---:|---:|",
    ]
    for row in result["rows"]:
        if "failed" in row:
            lines.append(f"| {row['name']} | {row['failed']} | | |")
            continue
        share = row["model_seconds"] / statistics.median(each["seconds"] for each in row["taken"])
        speed = f"{row['batches_per_second']:.1f} | {row['edges_per_second'] / 1e6:.1f}"
        lines.append(f"| {row['name']} | {speed} | {share:.0%} |")
    return "\n".join(lines)


def main() -> None:
    text = README.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    tables = [table(path) for device in ("cpu", "cuda") for path in newest(f"*-{device}-*.json")]
    tables += [cores(path) for path in newest("*-scaling.json")]
    tables += [sampled(path) for path in newest("*-sampling.json")]
    README.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(tables) + f"\n\n{END}{after}")


if __name__ == "__main__":
    main()
