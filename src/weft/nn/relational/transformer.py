"""Graph transformer convolution."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.nn.heads import head_dim, join_heads, split_heads
from weft.nn.linear import Linear, maps_of
from weft.ops import attend
from weft.ops.linear import added
from weft.structure import Sparse


class TransformerConv(nn.Module):
    r"""Graph transformer convolution (Shi et al. 2021, https://arxiv.org/abs/2009.03509, eq. 3 to 5).

        α_ts = softmax_s(⟨W_q x_t, W_k x_s + W_e e_ts⟩ / √d),      x'_t = ‖_heads Σ_s α_ts (W_v x_s + W_e e_ts) + W_o x_t

    x: (sources, in_dim),  over: sources → targets,  edge_x: (edges, edge_dim) or None   gives   (targets, out_dim)

    >>> import torch
    >>> over = Sparse.from_edges([0, 1], [1, 0], num_targets=2)
    >>> TransformerConv(3, 8, heads=2)(torch.ones(2, 3), over).shape
    torch.Size([2, 8])
    """

    def __init__(self, in_dim: int, out_dim: int, *, heads: int = 4, edge_dim: int | None = None, dropout: float = 0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        head_dim(out_dim, heads, "TransformerConv")
        self.q, self.k, self.v, self.own = (Linear(in_dim, out_dim) for _ in range(4))
        self.edge = None if edge_dim is None else Linear(edge_dim, out_dim, bias=False)

    def forward(
        self, x: Float[Tensor, "sources in_dim"], over: Sparse, *, edge_x: Float[Tensor, "edges edge_dim"] | None = None
    ) -> Float[Tensor, "targets out_dim"]:
        own = over.targets_of(x)
        maps, more = (self.q, self.own), (self.k, self.v)
        q, skip, k, v = maps_of(x, *maps, *more) if own is x else [*maps_of(own, *maps), *maps_of(x, *more)]
        q, k, v = (split_heads(part, self.heads) for part in (q, k, v))
        edge = None if self.edge is None else split_heads(self.edge(edge_x), self.heads)
        out = attend(q, k, v, over, edge_k=edge, edge_v=edge, dropout=self.dropout if self.training else 0.0)
        return added(join_heads(out), skip)
