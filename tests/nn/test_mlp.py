"""The multi-layer perceptron: its equation, and how deep it is."""

import torch

from weft import nn


def test_is_its_equation():
    layer, x = nn.MLP(3, 2, dim=4), torch.randn(5, 3)
    first, second = layer.layers
    torch.testing.assert_close(layer(x), second(torch.relu(first(x))))


def test_depth_counts_linear_maps():
    assert [tuple(layer.weight.shape) for layer in nn.MLP(3, 2, dim=4, depth=3).layers] == [(4, 3), (4, 4), (2, 4)]
    assert len(nn.MLP(3, 2, dim=4, depth=1).layers) == 1
