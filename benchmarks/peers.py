"""What weft is compared with: each function makes one run over given edges and features, with weft's own weights."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric import nn as pyg

from weft import nn as weft_nn

Run = Callable[[], list[Tensor]]


def step(layer: nn.Module | None, forward: Callable[[Tensor], Tensor], x: Tensor, grad: Tensor | None) -> Run:
    """Forward, and backward where a gradient is given: the output, then the gradients of x and of all weights."""

    def run() -> list[Tensor]:
        if grad is None:
            with torch.no_grad():
                return [forward(x)]
        weights = [] if layer is None else list(layer.parameters())
        out = forward(x)
        return [out, *torch.autograd.grad(out, [x, *weights], grad)]

    return run


def csr(edges: tuple[Tensor, Tensor], nodes: int, dtype: torch.dtype = torch.float32, wide: bool = False) -> Tensor:
    """Target by source as torch's CSR matrix of ones, with int32 indices unless `wide`."""
    source, target = edges
    order = torch.argsort(target, stable=True)
    kind = torch.int64 if wide else torch.int32
    pointer = torch.zeros(nodes + 1, dtype=torch.int64, device=source.device)
    torch.cumsum(torch.bincount(target, minlength=nodes), 0, out=pointer[1:])
    ones = torch.ones(len(source), dtype=dtype, device=source.device)
    return torch.sparse_csr_tensor(pointer.to(kind), source[order].to(kind), ones, (nodes, nodes))


def edge_index(edges: tuple[Tensor, Tensor], nodes: int) -> EdgeIndex:
    """PyG's EdgeIndex as a matrix of target by source, sorted, undirected, all cached: its best documented form."""
    source, target = edges
    order = torch.argsort(target, stable=True)
    stacked = torch.stack([target[order], source[order]])
    return EdgeIndex(stacked, sparse_size=(nodes, nodes), sort_order="row", is_undirected=True).fill_cache_()


def gcn(ours: weft_nn.GCN, *, cached: bool) -> nn.Module:
    theirs = pyg.GCNConv(*ours.project.weight.shape[::-1], cached=cached)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.project.weight)
        theirs.bias.copy_(ours.bias)
    return theirs.to(ours.bias.device)


def sage(ours: weft_nn.SAGE) -> nn.Module:
    theirs = pyg.SAGEConv(*ours.own.weight.shape[::-1])
    with torch.no_grad():
        theirs.lin_l.weight.copy_(ours.neighbours.weight)
        theirs.lin_l.bias.copy_(ours.own.bias)
        theirs.lin_r.weight.copy_(ours.own.weight)
    return theirs.to(ours.own.bias.device)


def gat(ours: weft_nn.GAT) -> nn.Module:
    heads, dim = ours.a_target.shape
    theirs = pyg.GATConv(ours.project.weight.shape[1], dim, heads=heads)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.project.weight)
        theirs.att_src.copy_(ours.a_source[None])
        theirs.att_dst.copy_(ours.a_target[None])
        theirs.bias.copy_(ours.bias)
    return theirs.to(ours.bias.device)


def gatv2(ours: weft_nn.GATv2) -> nn.Module:
    heads, dim = ours.a.shape
    theirs = pyg.GATv2Conv(ours.source.weight.shape[1], dim, heads=heads)
    with torch.no_grad():
        for mine, other in ((ours.source, theirs.lin_l), (ours.target, theirs.lin_r)):
            other.weight.copy_(mine.weight)
            other.bias.copy_(mine.bias)
        theirs.att.copy_(ours.a[None])
        theirs.bias.copy_(ours.bias)
    return theirs.to(ours.bias.device)


def transformer(ours: weft_nn.TransformerConv) -> nn.Module:
    dim = ours.q.weight.shape[0] // ours.heads
    theirs = pyg.TransformerConv(ours.q.weight.shape[1], dim, heads=ours.heads)
    pairs = ((ours.q, theirs.lin_query), (ours.k, theirs.lin_key), (ours.v, theirs.lin_value), (ours.own, theirs.lin_skip))
    with torch.no_grad():
        for mine, other in pairs:
            other.weight.copy_(mine.weight)
            other.bias.copy_(mine.bias)
    return theirs.to(ours.q.weight.device)


def maximum() -> nn.Module:
    return pyg.SimpleConv(aggr="max")
