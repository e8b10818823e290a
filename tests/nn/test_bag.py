"""A bag of sparse features is the dense matrix product."""

import torch

from weft import nn
from weft.structure import Sparse


def bag_of(x: torch.Tensor) -> Sparse:
    item, word = x.nonzero(as_tuple=True)
    return Sparse.from_edges(word, item, *x.shape, weight=x[item, word])


def test_equals_the_matrix_product():
    x = torch.randn(5, 7) * (torch.rand(5, 7) < 0.3)
    layer = nn.Bag(7, 4)
    torch.testing.assert_close(layer(bag_of(x)), x @ layer.weight)


def test_gcn_takes_it_for_its_projection():
    x, over = torch.randn(5, 7) * (torch.rand(5, 7) < 0.5), Sparse.from_edges([0, 1, 2], [1, 2, 3], 5)
    dense, sparse = nn.GCN(7, 4), nn.GCN(7, 4, project=nn.Bag(7, 4))
    with torch.no_grad():
        sparse.project.weight.copy_(dense.project.weight.T)
    torch.testing.assert_close(sparse(bag_of(x), over), dense(x, over))


def test_dropout_drops_entries_and_keeps_the_mean():
    torch.manual_seed(0)
    layer = nn.Bag(1, 1, dropout=0.25).train()
    with torch.no_grad():
        layer.weight.fill_(1.0)
    out = layer(Sparse.from_edges(torch.zeros(4000, dtype=torch.int64), torch.arange(4000), 4000, 1)).flatten()
    assert sorted(out.unique().tolist()) == [0.0, torch.tensor(4 / 3).item()]
    assert abs(out.mean().item() - 1) < 0.05
