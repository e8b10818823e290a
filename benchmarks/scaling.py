"""How the CPU kernels gain from more cores: `python -m benchmarks.scaling`, on a machine with many."""

import json
import os
import statistics
from datetime import date

import torch

from benchmarks import graphs
from benchmarks.measure import Run, clock
from benchmarks.run import RESULTS, commit, machine, versions
from weft.ops import Additive, aggregate, attend
from weft.structure import Sparse

SHAPE = "arxiv"
MUST, AIM = 6.0, 10.0
"""Times faster on 16 cores than on one."""


def kernels() -> dict[str, Run]:
    """Each kernel alone, forward and backward, without the matrix products of a layer."""
    nodes = graphs.SHAPES[SHAPE].nodes
    over = Sparse.from_edges(*graphs.edges(SHAPE), nodes)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, 128, generator=generator, requires_grad=True)
    q, k, v = (torch.randn(nodes, 4, 32, generator=generator, requires_grad=True) for _ in range(3))
    a, b = (torch.randn(nodes, 4, generator=generator, requires_grad=True) for _ in range(2))
    flat, split = torch.randn(nodes, 128, generator=generator), torch.randn(nodes, 4, 32, generator=generator)

    def backward(out: torch.Tensor, inputs: list[torch.Tensor], grad: torch.Tensor) -> object:
        return torch.autograd.grad(out, inputs, grad)

    return {
        "aggregate-sum": lambda: backward(aggregate(x, over), [x], flat),
        "aggregate-max": lambda: backward(aggregate(x, over, how="max"), [x], flat),
        "attend, dot 4 × 32": lambda: backward(attend(q, k, v, over), [q, k, v], split),
        "attend, additive 4 × 32": lambda: backward(attend(a, b, v, over, score=Additive()), [a, b, v], split),
    }


def main() -> None:
    counts = [count for count in (1, 2, 4, 8, 16) if count <= (os.cpu_count() or 1)]
    rows = []
    for name, run in kernels().items():
        taken: dict[int, list[float]] = {count: [] for count in counts}
        for turn in range(6):  # the first compiles and warms up
            for count in counts if turn % 2 else counts[::-1]:
                torch.set_num_threads(count)
                time = clock(run, "cpu")
                if turn:
                    taken[count].append(time)
        medians = {count: statistics.median(times) for count, times in taken.items()}
        rows.append({"name": name, "shape": SHAPE, "milliseconds": taken, "median_ms": medians})
        print(name, {count: f"{medians[1] / median:.2f}×" for count, median in medians.items()}, flush=True)
    facts = {"date": str(date.today()), "commit": commit(), "device": "scaling", "machine": machine("cpu")}
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / f"{date.today()}-scaling.json"
    out.write_text(json.dumps({**facts, "versions": versions(), "rows": rows}, indent=1) + "\n")
    print(f"written: {out.name}")


if __name__ == "__main__":
    main()
