"""Neighbour sampling with features, and what this machine's memory allows: `python -m benchmarks.sampling`.

The model of `limits.py` for sampling: every drawn edge waits for memory twice (its source, and whether that was met
before), as many waits at once as a pointer chase of ten chains shows; and every feature row is copied once.
"""

import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice

import numpy as np
import torch
from numba import njit
from torch import Tensor

from benchmarks import graphs
from benchmarks.limits import copy_bandwidth
from benchmarks.run import RESULTS, commit, machine, versions
from weft.data.loaders import Neighbours, ahead
from weft.ops.sample import sample
from weft.structure import Sparse

SHAPE, WIDTH, FANOUTS, BATCH_SIZE, BATCHES, TURNS = "products-tenth", 128, (15, 10, 5), 1024, 100, 5
MISSES = 2
"""Waits for memory per drawn edge."""

Counts = tuple[int, int]
"""Nodes and edges of one batch."""


@njit(nogil=True, cache=True)
def cycle(size):
    """One round trip through all numbers in random order (Sattolo)."""
    order = np.arange(size)
    for last in range(size - 1, 0, -1):
        other = np.random.randint(last)
        order[last], order[other] = order[other], order[last]
    return order


@njit(nogil=True, cache=True)
def chase(order, at, steps):
    """Follow each of the chains, one step of all after the other."""
    for _ in range(steps):
        for chain in range(at.shape[0]):
            at[chain] = order[at[chain]]
    return at.sum()


def miss(chains: int, order: np.ndarray, steps: int = 1_000_000) -> float:
    """Seconds per step of a pointer chase through memory, with so many chains at once."""
    at = np.linspace(0, len(order) - 1, chains).astype(np.int64)
    chase(order, at, 1000)
    start = time.perf_counter()
    chase(order, at, steps)
    return (time.perf_counter() - start) / (steps * chains)


def ours(over: Sparse, x: Tensor, seeds: Tensor, threads: int) -> Iterator[Counts]:
    pieces = Neighbours(over, batch_size=BATCH_SIZE, fanouts=FANOUTS, threads=threads)
    return ((len(rows), piece.over.num_edges) for piece, rows in pieces.shuffled(seeds, x, seed=0))


def edges_alone(over: Sparse, seeds: Tensor, threads: int) -> Iterator[Counts]:
    jobs = [lambda part=part: sample(over, part, FANOUTS, seed=0) for part in seeds.split(BATCH_SIZE)]
    return ((len(piece.nodes), piece.over.num_edges) for piece in ahead(jobs, threads))


def theirs(edges: tuple[Tensor, Tensor], x: Tensor, seeds: Tensor, workers: int) -> Iterator[Counts]:
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    loader = NeighborLoader(
        Data(x=x, edge_index=torch.stack(edges)),
        num_neighbors=list(FANOUTS),
        input_nodes=seeds,
        batch_size=BATCH_SIZE,
        shuffle=True,
        num_workers=workers,
    )
    return ((len(batch.x), batch.edge_index.shape[1]) for batch in loader)


def has_sampler() -> bool:
    """Whether PyG's own sampler can run: its compiled parts are not on the package index."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from torch_geometric import typing
        except ImportError:
            return False
        return bool(typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE)


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and of this process's cores, and what came."""

    seconds: float
    core_seconds: float
    nodes: int
    edges: int


def measure(run: Callable[[], Iterator[Counts]]) -> Taken:
    """All batches after the first, which starts threads or processes."""
    batches = run()
    next(batches)
    start, cores = time.perf_counter(), time.process_time()
    counts = list(islice(batches, BATCHES))
    taken = time.perf_counter() - start, time.process_time() - cores
    return Taken(*taken, sum(nodes for nodes, _ in counts), sum(edges for _, edges in counts))


def contenders() -> dict[str, Callable[[], Iterator[Counts]]]:
    edges, nodes = graphs.edges(SHAPE), graphs.SHAPES[SHAPE].nodes
    generator = torch.Generator().manual_seed(1)
    x, over = torch.randn(nodes, WIDTH, generator=generator), Sparse.from_edges(*edges, nodes)
    seeds = torch.randperm(nodes, generator=generator)[: (BATCHES + 1) * BATCH_SIZE]
    runs = {
        "weft, 2 threads": lambda: ours(over, x, seeds, 2),
        "weft, 1 thread": lambda: ours(over, x, seeds, 1),
        "weft, edges alone, 2 threads": lambda: edges_alone(over, seeds, 2),
        "weft, edges alone, 1 thread": lambda: edges_alone(over, seeds, 1),
    }
    if has_sampler():
        runs["PyG NeighborLoader, 0 workers"] = lambda: theirs(edges, x, seeds, 0)
        runs["PyG NeighborLoader, 2 workers"] = lambda: theirs(edges, x, seeds, 2)
    return runs


def main() -> None:
    runs = contenders()
    for run in runs.values():
        measure(run)  # compiles and warms up
    taken: dict[str, list[Taken]] = {name: [] for name in runs}
    for turn in range(TURNS):
        for name in list(runs) if turn % 2 == 0 else list(runs)[::-1]:
            taken[name].append(measure(runs[name]))
    order = cycle(1 << 24)
    one, ten = (min(miss(chains, order) for _ in range(3)) for chains in (1, 10))
    bandwidth = copy_bandwidth("cpu")
    memory = {"miss_ns": one * 1e9, "miss_ns_of_ten": ten * 1e9, "at_once": one / ten, "copy_bytes_per_second": bandwidth}
    print(f"a miss takes {one * 1e9:.0f} ns, {one / ten:.1f} at once; a copy moves {bandwidth / 1e9:.1f} GB/s", flush=True)
    rows: list[dict[str, object]] = []
    for name, times in taken.items():
        seconds, cores = (statistics.median(getattr(each, key) for each in times) for key in ("seconds", "core_seconds"))
        nodes, drawn = times[0].nodes, times[0].edges
        threads = 1 if "1 thread" in name or "0 workers" in name else 2
        model = drawn * MISSES * ten / threads + (0 if "alone" in name else nodes * WIDTH * 4 * 2 / bandwidth)
        rates = {"batches_per_second": BATCHES / seconds, "edges_per_second": drawn / seconds}
        rows.append({"name": name, **rates, "model_seconds": model, "taken": [asdict(each) for each in times]})
        print(
            f"{name:30} {BATCHES / seconds:6.1f} batches/s {drawn / seconds / 1e6:6.1f} M edges/s "
            f"{cores / BATCHES * 1e3:6.1f} ms of a core per batch, {model / seconds:.2f} of the model",
            flush=True,
        )
    if not has_sampler():
        rows.append({"name": "PyG NeighborLoader", "failed": "not installable from pip alone"})
        print(f"{'PyG NeighborLoader':30} not installable from pip alone (pyg-lib or torch-sparse)")
    facts = {"date": str(date.today()), "commit": commit(), "device": "sampling", "machine": machine("cpu")}
    facts |= {
        "shape": SHAPE,
        "fanouts": FANOUTS,
        "batch_size": BATCH_SIZE,
        "batches": BATCHES,
        "width": WIDTH,
        "memory": memory,
    }
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / f"{date.today()}-sampling.json"
    out.write_text(json.dumps({**facts, "versions": versions(), "rows": rows}, indent=1) + "\n")
    print(f"written: {out.name}")


if __name__ == "__main__":
    main()
