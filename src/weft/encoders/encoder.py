"""What every model is: blocks over a structure, and a last one that answers."""

from collections.abc import Sequence

from torch import Tensor, nn

from weft.structure import Structure


class Encoder(nn.Module):
    """Blocks one after the other, each (x, over) → x; what the last block but one gives is the embedding.

    x: (positions, in_dim)   gives   (positions, out_dim)
    """

    def __init__(self, blocks: Sequence[nn.Module], last: nn.Module):
        super().__init__()
        self.blocks, self.last = nn.ModuleList(blocks), last

    def forward(self, x: Tensor, over: Structure) -> Tensor:
        return self.last(self.embed(x, over), over)

    def embed(self, x: Tensor, over: Structure) -> Tensor:
        """One vector per position: what the answer is made from."""
        for block in self.blocks:
            x = block(x, over)
        return x
