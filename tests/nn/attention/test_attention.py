"""Multi-head attention: torch's own layer with the same weights, pieces, padding, causality."""

import pytest
import torch

from weft import nn
from weft.errors import WeftError
from weft.structure import Causal, Dense, Partition, Window


def test_equals_torch():
    ours, theirs = nn.Attention(8, heads=2).double(), torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.k.bias, ours.v.bias]))
        theirs.out_proj.weight.copy_(ours.out.weight)
        theirs.out_proj.bias.copy_(ours.out.bias)
    x, memory = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 7, 8, dtype=torch.float64)
    torch.testing.assert_close(ours(x, Dense(5)), theirs(x, x, x)[0])
    torch.testing.assert_close(ours(x, Dense(5, 7), memory=memory), theirs(x, memory, memory)[0])
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    torch.testing.assert_close(ours(x, Causal(5)), theirs(x, x, x, attn_mask=mask)[0])


@pytest.mark.parametrize("pieces", [[6], [1] * 6, [4, 1, 1], [2, 4]], ids=str)
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_pieces_equal_the_whole(pieces, kv_heads):
    layer, x = nn.Attention(8, heads=4, kv_heads=kv_heads).double(), torch.randn(2, 6, 8, dtype=torch.float64)
    state, outputs = layer.start(2), []
    for piece in x.split(pieces, dim=1):
        out, state = layer.advance(piece, state)
        outputs.append(out)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x, Causal(6)))


def test_the_future_does_not_change_the_past():
    layer, x = nn.Attention(8, heads=2), torch.randn(6, 8)
    other = x.clone()
    other[4:] = torch.randn(2, 8)
    assert torch.equal(layer(x, Causal(6))[:4], layer(other, Causal(6))[:4])


def test_padding_does_not_matter():
    layer, members = nn.Attention(8, heads=2).double(), Partition.from_lengths([3, 5, 1])
    x = torch.randn(9, 8, dtype=torch.float64)
    padded, over = members.pad(x)
    expected = torch.cat([layer(part, Dense(len(part))) for part in x.split([3, 5, 1])])
    torch.testing.assert_close(members.unpad(layer(padded, over)), expected)


def test_a_long_window_equals_its_mask():
    layer, x, over = nn.Attention(8, heads=2).double(), torch.randn(2, 300, 8, dtype=torch.float64), Window(300, 5, 3)
    torch.testing.assert_close(layer(x, over)[0], layer(x[0], over.to_sparse()))


def test_a_state_of_other_items_is_refused():
    layer = nn.Attention(8, heads=2)
    with pytest.raises(WeftError, match="a state of 2 items"):
        layer.advance(torch.randn(3, 1, 8), layer.start(2))
