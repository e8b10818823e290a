"""Gated recurrent unit."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.recurrent.gates import GateWeights
from weft.ops import GRUStep, scan
from weft.structure import Chain, Ordered
from weft.types import State


class GRU(nn.Module):
    r"""Gated recurrent unit (Cho et al. 2014, https://arxiv.org/abs/1406.1078), with torch's place for the reset gate.

        r, z = σ(W x_t + U h_(t-1) + b),      n = tanh(W x_t + r (U h_(t-1) + b)),      h_t = (1 - z) n + z h_(t-1)

    x: (…, length, in_dim),  over: a Chain   gives   (…, length, out_dim)
    x: (nodes, in_dim),  over: a Tree or a topological order   gives   (nodes, out_dim), predecessors summed

    The weights lie as in `torch.nn.GRU`. Piece by piece: `advance(piece, start(batch))` equals `forward` over a chain.

    >>> import torch
    >>> GRU(3, 4)(torch.ones(5, 3), Chain(5)).shape
    torch.Size([5, 4])
    """

    def __init__(self, in_dim: int, out_dim: int):
        super().__init__()
        self.gates = GateWeights(in_dim, out_dim, 3)

    def forward(self, x: Float[Tensor, "*positions in_dim"], over: Ordered) -> Float[Tensor, "*positions out_dim"]:
        return scan(GRUStep(self.gates()), x, over)[0]

    def start(self, batch: int) -> State:
        """Nothing was seen yet: hidden values are zero."""
        return (self.gates.zeros(batch),)

    def advance(self, piece: Float[Tensor, "batch new in_dim"], state: State) -> tuple[Tensor, State]:
        """The next positions, and the state after them."""
        return scan(GRUStep(self.gates()), piece, Chain(piece.shape[-2]), state=state)
