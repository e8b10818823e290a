"""The benchmarks themselves: every workload passes its gate on a small graph, and a result becomes a table."""

import json
import warnings
from dataclasses import replace

import pytest
import torch

with warnings.catch_warnings():  # what peers warn of while they are imported
    warnings.simplefilter("ignore")
    from benchmarks import measure, run, table
    from benchmarks.registry import WORKLOADS
    from benchmarks.workload import Workload

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
ON_CPU = {workload.name: workload for workload in WORKLOADS if workload.cpu}
named = pytest.mark.parametrize("workload", ON_CPU.values(), ids=ON_CPU)


@named
def test_a_workload_passes_its_gate(workload: Workload):
    errors = run.gate(workload, "cpu", torch.float32)
    assert errors["weft"] <= run.ALLOWED[torch.float32]


@named
def test_figures_name_contenders(workload: Workload):
    contenders = workload.build(workload.small, "cpu", torch.float32)
    assert next(iter(contenders)) == "weft"
    assert {figure.peer for figure in workload.cpu} <= set(contenders)


def test_a_wrong_kernel_is_not_timed(monkeypatch):
    workload = ON_CPU["aggregate-sum forward"]
    build = workload.build

    def broken(shape, device, dtype):
        runs = build(shape, device, dtype)
        return runs | {"weft": lambda: [out * 1.001 for out in runs["weft"]()]} if dtype == torch.float32 else runs

    with pytest.raises(SystemExit, match="away from the float64 reference"):
        run.gate(replace(workload, build=broken), "cpu", torch.float32)


def test_a_result_becomes_a_table(tmp_path):
    workload = replace(ON_CPU["aggregate-sum forward"], shape="cora")
    row = run.measure_workload(workload, "cpu", torch.float32, seconds=0.1)
    row["shape"] = "arxiv"  # tables know the registered workloads
    facts = {"date": "2026-01-01", "device": "cpu", "machine": run.machine("cpu"), "versions": run.versions()}
    path = tmp_path / "2026-01-01-cpu-float32.json"
    path.write_text(json.dumps({**facts, "bandwidth": {"copy": 1e10, "row gather": 1e10}, "rows": [row]}))
    text = table.table(path)
    assert "torch.sparse.mm" in text and "SciPy CSR" in text and "1.5× · 2.2×" in text


@pytest.mark.parametrize(
    ("share", "reached"), [((2.0, True), "must reached"), ((9.0, True), "aim reached"), ((1.0, True), "**missed**")]
)
def test_a_missed_figure_is_said(share, reached):
    times, _ = share
    assert table.verdict(times >= 2, times >= 4) == reached


def test_nan_is_infinitely_far():
    assert measure.error([torch.tensor([float("nan")])], [torch.tensor([1.0])]) == float("inf")
