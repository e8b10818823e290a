"""Long short-term memory."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.recurrent.gates import GateWeights
from weft.ops import LSTMStep, scan
from weft.structure import Chain, Ordered
from weft.types import State


class LSTM(nn.Module):
    r"""Long short-term memory (Hochreiter & Schmidhuber 1997) along a chain; child-sum (Tai et al. 2015) over a tree.

        i, f, g, o = W x_t + U h_(t-1) + b,      c_t = σ(f) c_(t-1) + σ(i) tanh(g),      h_t = σ(o) tanh(c_t)

    x: (…, length, in_dim),  over: a Chain   gives   (…, length, out_dim)
    x: (nodes, in_dim),  over: a Tree or a topological order   gives   (nodes, out_dim)

    The weights lie as in `torch.nn.LSTM`. Piece by piece: `advance(piece, start(batch))` equals `forward` over a chain.

    >>> import torch
    >>> LSTM(3, 4)(torch.ones(5, 3), Chain(5)).shape
    torch.Size([5, 4])
    """

    def __init__(self, in_dim: int, out_dim: int):
        super().__init__()
        self.gates = GateWeights(in_dim, out_dim, 4)

    def forward(self, x: Float[Tensor, "*positions in_dim"], over: Ordered) -> Float[Tensor, "*positions out_dim"]:
        return scan(LSTMStep(self.gates()), x, over)[0]

    def start(self, batch: int) -> State:
        """Nothing was seen yet: hidden values and cells are zero."""
        return self.gates.zeros(batch), self.gates.zeros(batch)

    def advance(self, piece: Float[Tensor, "batch new in_dim"], state: State) -> tuple[Tensor, State]:
        """The next positions, and the state after them."""
        return scan(LSTMStep(self.gates()), piece, Chain(piece.shape[-2]), state=state)
