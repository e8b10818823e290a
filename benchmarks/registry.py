"""What is measured: every workload, the figures it has to reach on each device, and the bytes it has to move."""

from benchmarks import limits, regular, relational, training
from benchmarks.workload import Bound, Build, Figure, Workload

PARITY = 0.95, 1.0
"""What runs torch's own kernel must not be slower than that kernel."""


def attention_on_cpu(must: float, aim: float) -> tuple[Figure, ...]:
    return (Figure("PyG default", must, aim, (1 / 8, 1 / 15)),)


ATTENTION_ON_GPU = (Figure("PyG default", 6, 11, (1 / 6, 1 / 15)), Figure("PyG compiled", 3, 6))
SPARSE_ON_GPU = (Figure("torch.sparse (cuSPARSE)", 1.1, 1.4),)

SUMS = (
    Workload(
        "aggregate-sum forward",
        "arxiv",
        relational.sums(backward=False),
        cpu=(Figure("torch.sparse.mm", 1.5, 2.2), Figure("PyG EdgeIndex, cached", 1.5, 2.2)),
        cuda=SPARSE_ON_GPU,
        models=limits.sums(128, passes=1),
    ),
    Workload(
        "aggregate-sum forward+backward",
        "arxiv",
        relational.sums(backward=True),
        cpu=(Figure("torch.sparse.mm", 2, 4), Figure("PyG EdgeIndex, cached", 2, 4)),
        models=limits.sums(128, passes=2),
    ),
    Workload(
        "max-aggregation forward+backward",
        "arxiv",
        relational.maxima,
        cpu=(Figure("PyG default", 3, 8),),
        cuda=(Figure("PyG default", 3, 5),),
        models=limits.extremes(128),
    ),
    Workload(
        "aggregate-sum forward",
        "products",
        relational.sums(backward=False),
        cuda=SPARSE_ON_GPU,
        models=limits.sums(128, passes=1),
    ),
)

CONVOLUTIONS = tuple(
    Workload(
        f"{name} forward+backward",
        "arxiv",
        relational.layer(name),
        cpu=(Figure("PyG default", 5, 8),),
        cuda=(Figure("PyG default", 4, 7),),
        models=limits.sums(128, passes=2),
    )
    for name in ("GCN", "SAGE")
)

ATTENTIONS = tuple(
    Workload(
        f"{name} {heads} × 32 forward+backward",
        "arxiv",
        relational.layer(name, heads),
        cpu=attention_on_cpu(must, aim) if heads == 4 else (),
        cuda=ATTENTION_ON_GPU,
        models=limits.attention(heads, 32, score=score),
    )
    for heads in (4, 8)
    for name, score, must, aim in (
        ("GAT", "additive", 4, 8),
        ("GATv2", "activated", 4, 8),
        ("graph transformer", "dot", 5, 10),
    )
)

LARGE = Workload(
    "graph transformer 4 × 32 forward+backward",
    "products",
    relational.layer("graph transformer", 4),
    cuda=(Figure("PyG default", 1, 1),),
    bound=Bound({"float32": (130, 95), "bfloat16": (75, 55)}, (25, 16)),
    models=limits.attention(4, 32, score="dot"),
)


def by_rule(name: str, build: Build, peer: str, small: str, *shapes: str) -> tuple[Workload, ...]:
    """Something over a structure that torch knows too: the first shape on both devices, the others on a GPU."""
    figure = (Figure(peer, *PARITY),)
    return tuple(
        Workload(name, shape, build, cpu=figure if shape == shapes[0] else (), cuda=figure, small=small) for shape in shapes
    )


OTHERS = (
    Workload("build from 10 M edges", "uniform", relational.building, cpu=(Figure("NumPy stable argsort", 1, 3),)),
    Workload(
        "GCN training step",
        "cora",
        relational.training(dropout=0.5),
        cpu=(Figure("PyG default", 2, 4),),
        cuda=(Figure("PyG default", 3, 4),),
        gate=relational.training(dropout=0.0),
    ),
    *(
        Workload(
            "whole training of a two-layer GCN, 200 epochs",
            shape,
            training.run,
            cpu=(Figure("plain PyG script", must, aim),),
            gate=relational.training(dropout=0.0),
        )
        for shape, must, aim in (("cora", 2, 4), ("pubmed", 4, 8))
    ),
    *by_rule("attend over Causal, forward+backward", regular.causal, "torch SDPA", "2 × 96", "2 × 1024", "4 × 4096"),
    *by_rule(
        "attend over Window(256), forward+backward", regular.window, "torch SDPA, masked", "1 × 600", "1 × 4096", "1 × 16384"
    ),
    *by_rule("LSTM along Chain, forward+backward", regular.recurrent, "torch.nn.LSTM", "2 × 9", "32 × 128"),
)

WORKLOADS = (*SUMS, *CONVOLUTIONS, *ATTENTIONS, LARGE, *OTHERS)
