"""Measure workloads and write the result as JSON: `python -m benchmarks.run --device cpu --only GCN`."""

import argparse
import gc
import json
import math
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks import limits, measure
from benchmarks.registry import WORKLOADS
from benchmarks.workload import Workload
from weft import explain

RESULTS = Path(__file__).parent / "results"
ALLOWED = {torch.float32: 1e-5, torch.bfloat16: 2e-2}
"""The largest relative distance from the float64 reference at which a time counts."""


def gate(workload: Workload, device: str, dtype: torch.dtype) -> dict[str, float]:
    """How far each contender is from the float64 reference on a small graph; too far for weft is an error.

    In bfloat16 the weights of a layer round what its kernel then sees, and small gradients cancel: there the definition,
    computed in bfloat16, may be farther away than allowed. Then weft has to be as near as the definition.
    """
    build = workload.gate or workload.build
    exact = reference(lambda: build(workload.small, "cpu", torch.float64)["weft"]())
    torch.compiler.reset()
    found = {name: run() for name, run in build(workload.small, device, dtype).items() if "compiled" not in name}
    torch.compiler.reset()
    # peers keep their weights in another order: theirs are compared by the output alone
    errors = {name: measure.error(parts if name == "weft" else parts[:1], exact) for name, parts in found.items()}
    allowed = ALLOWED[dtype]
    if errors["weft"] > allowed and dtype != torch.float32:
        allowed = measure.error(reference(lambda: build(workload.small, device, dtype)["weft"]()), exact)
    if errors["weft"] > allowed:
        raise SystemExit(f"{workload.name}: weft is {errors['weft']:.2e} away from the float64 reference; not timed.")
    return errors


def reference(run: Callable[[], list[Tensor]]) -> list[Tensor]:
    """The same in float64 by the definitions alone: no kernel of weft takes part."""
    verbs = [sys.modules["weft.ops.aggregate"], sys.modules["weft.ops.attend"]]
    with patch.object(verbs[0], "choose", return_value="reference"), patch.object(verbs[1], "choose", return_value="reference"):
        return run()


def measure_workload(
    workload: Workload, device: str, dtype: torch.dtype, seconds: float, without: str = "\n"
) -> dict[str, object]:
    """One row of a result: every contender's times and memory, how far they are apart, what ran, and the bytes it moves."""
    errors = gate(workload, device, dtype)
    runs = {name: run for name, run in workload.build(workload.shape, device, dtype).items() if without not in name}
    with explain() as plan:
        outputs = {name: measure.attempt(run) for name, run in runs.items()}
    ours, *_ = outputs["weft"] or [None]
    apart = {
        name: measure.error(found[:1], [ours])
        for name, found in outputs.items()
        if found and ours is not None and workload.gate is None  # dropout differs from run to run
    }
    failed = [name for name, found in outputs.items() if found is None]
    del outputs, ours
    timings = measure.interleave({name: run for name, run in runs.items() if name not in failed}, device, seconds)
    contenders: dict[str, dict[str, object]] = {
        name: {
            "median_ms": timing.median,
            "milliseconds": timing.milliseconds,
            "peak_bytes": timing.peak_bytes,
            "whole_bytes": timing.whole_bytes,
            "error": errors.get(name),
            "apart": apart.get(name),
            "times_faster": timing.median / timings["weft"].median,
            "interval": measure.ratio_interval(timings["weft"].milliseconds, timing.milliseconds),
        }
        for name, timing in timings.items()
    }
    contenders |= {name: {"error": errors.get(name), "failed": "out of memory"} for name in failed}
    return {
        "name": workload.name,
        "shape": workload.shape,
        "dtype": str(dtype).removeprefix("torch."),
        "kernels": sorted({f"{choice.verb} → {choice.kernel}" for choice in plan.choices}),
        "bytes": asdict(limits.total(workload.models, workload.shape, dtype.itemsize, device)) if workload.models else None,
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
    parser.add_argument("--without", default="\n", help="contenders whose name holds this text are left out")
    parser.add_argument("--dtype", nargs="+", choices=["float32", "bfloat16"], default=["float32"])
    parser.add_argument("--seconds", type=float, default=40.0, help="about how long one workload may take")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True)
    torch.backends.cudnn.allow_tf32 = False  # float32 means float32, for everybody
    for dtype in options.dtype:
        write(options, dtype)


def write(options: argparse.Namespace, dtype: str) -> None:
    """Measure every workload of a device and element type; each row is on disk before the next one starts."""
    device, out = options.device, options.out / f"{date.today()}-{options.device}-{dtype}.json"
    rows: list[dict[str, object]] = []
    result: dict[str, object] = {
        "date": str(date.today()),
        "commit": commit(),
        "device": device,
        "machine": machine(device),
        "versions": versions(),
        "bandwidth": {"copy": limits.copy_bandwidth(device), "row gather": limits.row_gather_bandwidth(device)},
        "rows": rows,
    }
    for workload in WORKLOADS:
        if options.only in f"{workload.name} {workload.shape}" and workload.figures(device):
            row = measure_workload(workload, device, getattr(torch, dtype), options.seconds, options.without)
            rows.append(row)
            print(describe(row), flush=True)
            out.write_text(json.dumps(result, indent=1) + "\n")
            gc.collect()
    print(f"written: {out.name}")


def describe(row: dict) -> str:  # type: ignore[type-arg]
    lines = [f"{row['name']} · {row['shape']} · {row['dtype']}"]
    for name, found in row["contenders"].items():
        if "failed" in found:
            lines.append(f"  {name:28} {found['failed']}")
            continue
        lines.append(
            f"  {name:28} {found['median_ms']:9.2f} ms  {found['peak_bytes'] / 2**20:9.1f} MiB  "
            f"({found['whole_bytes'] / 2**30:5.2f} GiB)  "
            f"× {found['times_faster']:5.2f}  error {found['error'] or math.nan:.1e}  apart {found['apart'] or 0:.1e}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
