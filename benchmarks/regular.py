"""Workloads over structures known by rule: attention and recurrence beside torch's own, which weft calls.

A shape says `items × length`; attention has 8 heads of 64, the recurrence is 128 wide. Numbers are such that every
element type holds them: only what is computed is rounded.
"""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.peers import Run, step
from weft import nn
from weft.ops import attend
from weft.ops.scan.reference import scan_chain
from weft.ops.scan.step import LSTMStep
from weft.structure import Causal, Chain, Regular, Window

HEADS, DIM, WIDTH = 8, 64, 128


def sizes(shape: str) -> tuple[int, int]:
    items, length = shape.split(" × ")
    return int(items), int(length)


def _attention(over: Regular, items: int, device: str, dtype: torch.dtype, peer: str, mask: Tensor | None) -> dict[str, Run]:
    generator = torch.Generator().manual_seed(1)
    qkv = torch.randn(items, over.num_sources, 3, HEADS, DIM, generator=generator).bfloat16().to(device, dtype).requires_grad_()
    grad = torch.randn(items, over.num_targets, HEADS, DIM, generator=generator).bfloat16().to(device, dtype)

    def ours(x: Tensor) -> Tensor:
        q, k, v = x.unbind(2)
        if dtype == torch.float64:  # the reference: item by item, edge by edge
            return torch.stack([attend(*item, over.to_sparse()) for item in zip(q, k, v, strict=True)])
        return attend(q, k, v, over)

    def theirs(x: Tensor) -> Tensor:
        q, k, v = (part.transpose(1, 2) for part in x.unbind(2))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None).transpose(1, 2)

    return {"weft": step(None, ours, qkv, grad), peer: step(None, theirs, qkv, grad)}


def causal(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    items, length = sizes(shape)
    return _attention(Causal(length), items, device, dtype, "torch SDPA", None)


def window(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    items, length = sizes(shape)
    over = Window(length, 256)
    return _attention(over, items, device, dtype, "torch SDPA, masked", over.allowed(device))


def recurrent(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    items, length = sizes(shape)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(items, length, WIDTH, generator=generator).bfloat16().to(device, dtype).requires_grad_()
    grad = torch.randn(items, length, WIDTH, generator=generator).bfloat16().to(device, dtype)
    torch.manual_seed(2)
    layer = nn.LSTM(WIDTH, WIDTH).bfloat16().to(device, dtype)
    peer = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True).to(device, dtype)
    with torch.no_grad():
        for theirs, ours in zip(peer.parameters(), layer.parameters(), strict=True):
            theirs.copy_(ours)
    over = Chain(length)

    def ours(x: Tensor) -> Tensor:
        if dtype == torch.float64:  # the reference: one step after the other
            cell = LSTMStep(layer.gates())
            return scan_chain(cell, x, over, tuple(x.new_zeros(items, WIDTH) for _ in cell.widths))[0]
        return layer(x, over)

    return {"weft": step(layer, ours, x, grad), "torch.nn.LSTM": step(peer, lambda x: peer(x)[0], x, grad)}
