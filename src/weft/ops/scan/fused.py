"""`scan` along a chain by torch's fused recurrent kernels. x (items, length, in_dim)."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from weft.ops.scan.step import GRUStep, LSTMStep, RNNStep
from weft.structure import Chain
from weft.types import State

_KERNELS: dict[type, Callable[..., tuple[Tensor, ...]]] = {RNNStep: torch.rnn_tanh, GRUStep: torch.gru, LSTMStep: torch.lstm}


def scan_fused(step: RNNStep | GRUStep | LSTMStep, x: Tensor, over: Chain, state: State) -> tuple[Tensor, State]:
    """Outputs (items, length, dim) and the last states, each part (items, dim)."""
    if over.lengths is None:
        out, state = _whole(step, x.flip(1) if over.reverse else x, state)
        return out.flip(1) if over.reverse else out, state
    turned = _turn(x, over) if over.reverse else x
    out, state = _packed(step, turned, over.lengths, state)
    return _turn(out, over) if over.reverse else out, state


def _whole(step: RNNStep | GRUStep | LSTMStep, x: Tensor, state: State) -> tuple[Tensor, State]:
    weights = step.gates.flat()
    before = tuple(part[None].contiguous() for part in state)
    start = before if isinstance(step, LSTMStep) else before[0]
    out, *after = _KERNELS[type(step)](x, start, weights, len(weights) == 4, 1, 0.0, _learns(x, *before, *weights), False, True)
    return out, tuple(part[0] for part in after)


def _packed(step: RNNStep | GRUStep | LSTMStep, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
    """Items of their own lengths; an empty one is run for one position, and that is then forgotten."""
    weights = step.gates.flat()
    packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
    order, undo = packed.sorted_indices, packed.unsorted_indices
    assert order is not None and undo is not None
    before = tuple(part[order][None] for part in state)
    start = before if isinstance(step, LSTMStep) else before[0]
    data, *after = _KERNELS[type(step)](
        packed.data, packed.batch_sizes, start, weights, len(weights) == 4, 1, 0.0, _learns(x, *before, *weights), False
    )
    result = PackedSequence(data, packed.batch_sizes, order, undo)
    out, _ = pad_packed_sequence(result, batch_first=True, total_length=x.shape[1])
    empty = (lengths == 0)[:, None]
    last = tuple(torch.where(empty, old, new[0][undo]) for old, new in zip(state, after, strict=True))
    return torch.where(empty[..., None], 0, out), last


def _learns(*tensors: Tensor) -> bool:
    """Whether a GPU has to keep what the way back needs."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _turn(x: Tensor, over: Chain) -> Tensor:
    """Each item's real positions from last to first; the others stay."""
    assert over.lengths is not None
    at = torch.arange(over.length, device=x.device)[None, :]
    back = torch.where(at < over.lengths[:, None], over.lengths[:, None] - 1 - at, at)
    return x.gather(1, back[..., None].expand_as(x))
