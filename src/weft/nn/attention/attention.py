"""Multi-head attention over any structure."""

import torch
from einops import rearrange, repeat
from jaxtyping import Float
from torch import Tensor, nn

from weft.errors import StructureError, WeftValueError
from weft.ops import attend
from weft.structure import Causal, Structure
from weft.types import State


class Attention(nn.Module):
    r"""Multi-head attention (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.2.2).

        x' = ‖_heads softmax(Q Kᵀ / √d) V · W_o,      Q = x W_q,  K = m W_k,  V = m W_v,  m = memory or x

    With fewer key heads than heads (Shazeer 2019, Ainslie et al. 2023) several queries share a key.

    x: (…, targets, dim),  memory: (…, sources, dim),  over: sources → targets   gives   (…, targets, dim)

    Piece by piece: `advance(piece, start(batch))` over causal structures gives what `forward` gives at once.

    >>> Attention(8, heads=2)(torch.ones(5, 8), Causal(5)).shape
    torch.Size([5, 8])
    """

    def __init__(self, dim: int, *, heads: int, kv_heads: int | None = None, dropout: float = 0.0):
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if dim % heads or heads % kv_heads:
            raise WeftValueError(
                f"Attention: dim must be a multiple of heads and heads one of kv_heads, but got "
                f"dim={dim}, heads={heads}, kv_heads={kv_heads}."
            )
        self.heads, self.kv_heads, self.dropout = heads, kv_heads, dropout
        kv_dim = dim // heads * kv_heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, kv_dim), nn.Linear(dim, kv_dim)
        self.out = nn.Linear(dim, dim)

    def forward(
        self,
        x: Float[Tensor, "*batch targets dim"],
        over: Structure,
        *,
        memory: Float[Tensor, "*batch sources dim"] | None = None,
    ) -> Float[Tensor, "*batch targets dim"]:
        memory = x if memory is None else memory
        return self._combine(self.q(x), self.k(memory), self.v(memory), over)

    def start(self, batch: int) -> State:
        """Nothing was seen yet: no keys and no values."""
        none = self.k.weight.new_zeros(batch, 0, self.k.out_features)
        return none, none

    def advance(self, piece: Float[Tensor, "batch new dim"], state: State) -> tuple[Tensor, State]:
        """The next positions, each attending to itself and all before it; the state keeps their keys and values."""
        if piece.ndim != 3 or piece.shape[0] != state[0].shape[0]:
            raise StructureError(
                f"Attention.advance: a state of {state[0].shape[0]} items needs as many, but got {tuple(piece.shape)}."
            )
        k, v = torch.cat([state[0], self.k(piece)], dim=1), torch.cat([state[1], self.v(piece)], dim=1)
        return self._combine(self.q(piece), k, v, Causal(piece.shape[1], k.shape[1])), (k, v)

    def _combine(self, q: Tensor, k: Tensor, v: Tensor, over: Structure) -> Tensor:
        q = rearrange(q, "... n (heads d) -> ... n heads d", heads=self.heads)
        share = self.heads // self.kv_heads
        k, v = (repeat(part, "... n (heads d) -> ... n (heads share) d", heads=self.kv_heads, share=share) for part in (k, v))
        out = attend(q, k, v, over, dropout=self.dropout if self.training else 0.0)
        return self.out(rearrange(out, "... n heads d -> ... n (heads d)"))
