"""Measure workloads and write the result as JSON: `python -m benchmarks.run --device cpu --only GCN`."""

import argparse
import gc
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks import measure
from benchmarks.registry import HALF, WORKLOADS, Workload

RESULTS = Path(__file__).parent / "results"


def gate(workload: Workload, device: str, dtype: torch.dtype) -> dict[str, float]:
    """How far each contender is from the float64 reference on a small graph; too far for weft is an error."""
    build = workload.gate or workload.build
    exact = reference(lambda: build("cora", "cpu", torch.float64)["weft"]())
    found = {name: run() for name, run in build("cora", device, dtype).items()}
    # peers keep their weights in another order: theirs are compared by the output alone
    errors = {name: measure.error(parts if name == "weft" else parts[:1], exact) for name, parts in found.items()}
    if errors["weft"] > HALF[dtype] * 10:  # ten for layers, whose matrix products round as well
        raise SystemExit(f"{workload.name}: weft is {errors['weft']:.2e} away from the float64 reference; not timed.")
    return errors


def reference(run: Callable[[], list[Tensor]]) -> list[Tensor]:
    """The same in float64 by the definitions alone: no kernel of weft takes part."""
    verbs = [sys.modules["weft.ops.aggregate"], sys.modules["weft.ops.attend"]]
    with patch.object(verbs[0], "choose", return_value="reference"), patch.object(verbs[1], "choose", return_value="reference"):
        return run()


def measure_workload(workload: Workload, device: str, dtype: torch.dtype, seconds: float) -> dict[str, object]:
    errors = gate(workload, device, dtype)
    runs = workload.build(workload.shape, device, dtype)
    failed = [name for name, run in runs.items() if not measure.fits(run)]
    timings = measure.interleave({name: run for name, run in runs.items() if name not in failed}, device, seconds)
    ours = timings["weft"]
    contenders: dict[str, dict[str, object]] = {
        name: {
            "median_ms": timing.median,
            "milliseconds": timing.milliseconds,
            "peak_bytes": timing.peak_bytes,
            "whole_bytes": timing.whole_bytes,
            "error": errors[name],
            "times_faster": timing.median / ours.median,
            "interval": measure.ratio_interval(ours.milliseconds, timing.milliseconds),
        }
        for name, timing in timings.items()
    }
    contenders |= {name: {"error": errors[name], "failed": "out of memory"} for name in failed}
    return {
        "name": workload.name,
        "shape": workload.shape,
        "dtype": str(dtype).removeprefix("torch."),
        "contenders": contenders,
    }


def machine(device: str) -> dict[str, object]:
    """What the numbers were taken on."""
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    facts: dict[str, object] = {
        "cpu": names[0],
        "cores": len(names),
        "threads": torch.get_num_threads(),
        "system": platform.system(),
    }
    if device == "cuda":
        facts["gpu"] = torch.cuda.get_device_name()
    return facts


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("weft", "torch", "numba", "numpy", "scipy", "torch-geometric", "triton"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    if shutil.which("git") is None:
        return "unknown"
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--only", default="", help="workloads whose name holds this text")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--seconds", type=float, default=40.0, help="about how long one workload may take")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows = []
    for workload in WORKLOADS:
        figures = workload.cpu if options.device == "cpu" else workload.cuda
        if options.only in f"{workload.name} {workload.shape}" and figures:
            row = measure_workload(workload, options.device, getattr(torch, options.dtype), options.seconds)
            rows.append(row)
            print(describe(row), flush=True)
            gc.collect()
    RESULTS.mkdir(exist_ok=True)
    out = options.out or RESULTS / f"{date.today()}-{options.device}-{options.dtype}.json"
    facts = {"date": str(date.today()), "commit": commit(), "device": options.device, "machine": machine(options.device)}
    out.write_text(json.dumps({**facts, "versions": versions(), "rows": rows}, indent=1) + "\n")
    print(f"written: {out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out}")


def describe(row: dict) -> str:  # type: ignore[type-arg]
    lines = [f"{row['name']} · {row['shape']} · {row['dtype']}"]
    for name, found in row["contenders"].items():
        if "failed" in found:
            lines.append(f"  {name:28} {found['failed']}")
            continue
        lines.append(
            f"  {name:28} {found['median_ms']:9.2f} ms  {found['peak_bytes'] / 2**20:9.1f} MiB  "
            f"({found['whole_bytes'] / 2**30:5.2f} GiB)  "
            f"× {found['times_faster']:5.2f}  error {found['error']:.1e}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
