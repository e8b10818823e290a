"""A first look, in about a minute: weft beside PyG and torch on this machine, correctness checked before each timing."""

from dataclasses import replace

import torch

from benchmarks.registry import WORKLOADS
from benchmarks.run import describe, measure_workload
from weft import explain
from weft.nn import GAT
from weft.structure import Sparse

SHOWN = ("GCN training step", "aggregate-sum forward+backward", "graph transformer 4 × 32 forward+backward")


def main() -> None:
    print(f"weft on {torch.get_num_threads()} threads: time, memory, times faster than weft's, distance from float64\n")
    for workload in WORKLOADS:
        if workload.name in SHOWN and workload.cpu:
            smaller = replace(workload, shape=workload.shape.replace("arxiv", "quarter-arxiv"))
            print(describe(measure_workload(smaller, "cpu", torch.float32, seconds=1)), flush=True)
    print("\nWhich kernels a graph attention layer runs:")
    over = Sparse.from_edges([0, 1, 2], [1, 2, 0], num_targets=3)
    with explain() as plan:
        GAT(4, 8, heads=2)(torch.ones(3, 4), over)
    print(plan)
    print("\nNext: the examples in README.md, or `make bench` for the whole table.")


if __name__ == "__main__":
    main()
