"""Dropout."""

from jaxtyping import Float
from torch import Tensor, nn

from weft.ops import dropout


class Dropout(nn.Module):
    """While training, a `share` of the numbers become zero at random and the others grow (Srivastava et al. 2014).

    x: (…)   gives   (…)

    >>> import torch
    >>> Dropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, share: float):
        super().__init__()
        self.share = share

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return dropout(x, self.share) if self.training else x
