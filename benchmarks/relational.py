"""Workloads over graphs: verbs and layers beside PyG, torch.sparse and SciPy, on the same edges, features and weights."""

import copy

import numpy
import torch
from torch import Tensor

from benchmarks import graphs, peers
from benchmarks.peers import Run, step
from benchmarks.workload import Build
from weft import nn
from weft.ops import aggregate
from weft.structure import Sparse


def _inputs(
    shape: str, device: str, dtype: torch.dtype, width: int = 128
) -> tuple[Sparse, tuple[Tensor, Tensor], Tensor, Tensor]:
    edges = graphs.edges(shape)
    nodes = graphs.SHAPES[shape].nodes
    generator = torch.Generator().manual_seed(1)
    x, grad = (held(torch.randn(nodes, width, generator=generator), shape).to(device, dtype) for _ in range(2))
    source, target = (end.to(device) for end in edges)
    return Sparse.from_edges(source, target, nodes), (source, target), x.requires_grad_(), grad


def held(x: Tensor, shape: str) -> Tensor:
    """On the graph of the correctness gate, numbers that every element type holds: only what is computed is rounded."""
    return x.bfloat16().float() if shape == "cora" else x


def sums(*, backward: bool) -> Build:
    def build(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
        over, edges, x, grad = _inputs(shape, device, dtype)
        given = grad if backward else None
        nodes = over.num_targets
        matrix = peers.csr(edges, nodes, dtype)
        runs = {"weft": step(None, lambda x: aggregate(x, over), x, given)}
        if device == "cpu":
            index = peers.edge_index(edges, nodes)
            runs["torch.sparse.mm"] = step(None, lambda x: torch.sparse.mm(matrix, x, "sum"), x, given)
            runs["PyG EdgeIndex, cached"] = step(None, lambda x: index.matmul(x), x, given)
            if not backward and dtype == torch.float32:
                import scipy.sparse

                shaped = scipy.sparse.csr_matrix(
                    (matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy()), shape=(nodes, nodes)
                )
                plain = x.detach().numpy()
                runs["SciPy CSR"] = lambda: [torch.from_numpy(shaped @ plain)]
        else:
            runs["torch.sparse (cuSPARSE)"] = step(None, lambda x: matrix @ x, x, given)
        return runs

    return build


def maxima(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    over, edges, x, grad = _inputs(shape, device, dtype)
    conv, index = peers.maximum(), torch.stack(edges)
    return {
        "weft": step(None, lambda x: aggregate(x, over, how="max"), x, grad),
        "PyG default": step(None, lambda x: conv(x, index), x, grad),
    }


def layer(name: str, heads: int | None = None) -> Build:
    width = 128 if heads is None else heads * 32

    def build(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
        over, edges, x, grad = _inputs(shape, device, dtype, width)
        torch.manual_seed(2)
        make = {"GCN": nn.GCN, "SAGE": nn.SAGE, "GAT": nn.GAT, "GATv2": nn.GATv2, "graph transformer": nn.TransformerConv}[name]
        ours = make(width, width) if heads is None else make(width, width, heads=heads)  # type: ignore[operator]
        for weight in ours.parameters():
            weight.data = held(weight.data, shape)
        ours = ours.to(device)
        index, nodes = torch.stack(edges), over.num_targets
        runs: dict[str, Run] = {}

        def add(label: str, layer: torch.nn.Module, structure: object) -> None:
            layer = layer.to(dtype)
            forward = torch.compile(layer) if "compiled" in label else layer
            runs[label] = step(layer, lambda x: forward(x, structure), x, grad)

        if name in ("GCN", "SAGE"):
            theirs = peers.gcn(ours, cached=False) if name == "GCN" else peers.sage(ours)
            best = peers.gcn(ours, cached=True) if name == "GCN" else peers.sage(ours)
            matrix = peers.csr(edges, nodes, dtype, wide=True)
        else:
            copy = {"GAT": peers.gat, "GATv2": peers.gatv2, "graph transformer": peers.transformer}[name]
            theirs, best, matrix = copy(ours), copy(ours), None
        add("weft", ours, over)
        add("PyG default", theirs, index)
        if shape == "products":
            pass  # compiled or not, PyG does not fit
        elif device == "cuda":
            add("PyG compiled", best, index)
        elif matrix is not None:
            add("PyG best (cached, CSR)", best, matrix)
        else:
            order = torch.argsort(edges[1], stable=True)
            add("PyG best (sorted edges)", best, index[:, order])
        return runs

    return build


def training(*, dropout: float) -> Build:
    """A whole step of the two-layer GCN on Cora's sizes: dropout, two layers, loss, gradients, Adam.

    Without dropout the step also gives its loss and gradients, so that they can be compared.
    """

    def build(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
        edges, nodes = graphs.edges(shape), graphs.SHAPES[shape].nodes
        generator = torch.Generator().manual_seed(1)
        x = (torch.rand(nodes, 1433, generator=generator) < 0.0127).to(device, dtype)
        x = x / x.sum(1, keepdim=True).clamp(min=1)
        y = torch.randint(7, (140,), generator=generator).to(device)
        source, target = (end.to(device) for end in edges)
        over, index = Sparse.from_edges(source, target, nodes), torch.stack([source, target])
        torch.manual_seed(2)
        ours = [nn.GCN(1433, 16).to(device), nn.GCN(16, 7).to(device)]
        item, word = x.nonzero(as_tuple=True)
        words = Sparse.from_edges(word, item, nodes, 1433, weight=x[item, word])
        bag = nn.Bag(1433, 16, dropout=dropout)
        sparse = [nn.GCN(1433, 16, project=bag).to(device), copy.deepcopy(ours[1])]
        with torch.no_grad():
            bag.weight.copy_(ours[0].project.weight.T)
        default = [peers.gcn(layer, cached=False) for layer in ours]
        best = [peers.gcn(layer, cached=True) for layer in ours]

        def run(first: torch.nn.Module, second: torch.nn.Module, structure: object, features: object) -> Run:
            weights = [*first.to(dtype).parameters(), *second.to(dtype).parameters()]
            adam = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-4)
            drop = torch.nn.functional.dropout

            def once() -> list[Tensor]:
                adam.zero_grad()
                h = torch.relu(first(drop(x, dropout) if features is x else features, structure))
                loss = torch.nn.functional.cross_entropy(second(drop(h, dropout), structure)[:140], y)
                loss.backward()
                found = [] if dropout else [loss.detach(), *(w.grad.clone() for w in weights if w.grad is not None)]
                adam.step()
                return found

            return once

        return {
            "weft": run(*sparse, over, words),
            "weft, dense features": run(*ours, over, x),
            "PyG default": run(*default, index, x),
            "PyG best (cached)": run(*best, index, x),
        }

    return build


def building(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    """An edge list of 10 M random edges (160 MB of int64) sorted and compressed; on other shapes, that shape's."""
    generator = torch.Generator().manual_seed(0)
    count, nodes = (10_000_000, 1_000_000) if shape == "uniform" else (graphs.SHAPES[shape].edges, graphs.SHAPES[shape].nodes)
    source, target = (torch.randint(nodes, (count,), generator=generator) for _ in range(2))
    keys = target.numpy()

    def build() -> list[Tensor]:
        over = Sparse.from_edges(source, target, nodes)
        return [over.rows.pointer] if count < 10_000_000 else []

    def sort() -> list[Tensor]:
        order = numpy.argsort(keys, kind="stable")
        return [torch.from_numpy(numpy.searchsorted(keys[order], numpy.arange(nodes + 1)))] if count < 10_000_000 else []

    return {"weft": build, "NumPy stable argsort": sort}
