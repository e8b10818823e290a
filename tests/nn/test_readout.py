"""Readouts: one vector per group, whatever the order of its members; an empty group gets zeros."""

import torch

from weft import nn
from weft.structure import Partition


def test_members_may_come_in_any_order():
    over, x = Partition([0, 3, 3, 8]), torch.randn(8, 4, dtype=torch.float64)
    turned = torch.cat([x[:3].flip(0), x[3:].flip(0)])
    for layer in (nn.Readout("sum"), nn.Readout("mean"), nn.Readout("max"), nn.AttentionReadout(4).double()):
        torch.testing.assert_close(layer(x, over), layer(turned, over))
        assert not layer(x, over)[1].any()


def test_attention_readout_is_a_weighted_mean():
    over, layer = Partition([0, 3]), nn.AttentionReadout(4).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    weight = torch.softmax(layer.k(x) @ layer.query / 2, dim=0)
    torch.testing.assert_close(layer(x, over)[0], weight @ layer.v(x))
