"""Attention: the lecture's numbers, what must never be NaN, derivatives, and others' attention."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.nn.functional import scaled_dot_product_attention

from weft.ops import Activated, Additive, Dot, attend, softmax
from weft.structure import Causal, Dense, Partition, Sparse, Window


def weights(energy: list[float], over, **settings) -> torch.Tensor:
    """The attention that one target pays to each source of the given energies."""
    count = len(energy)
    q, k = torch.ones(1, 1, 1), torch.tensor(energy).reshape(count, 1, 1)
    return attend(q, k, torch.eye(count)[:, None, :], over, score=Dot(scale=1.0), **settings)[0, 0]


ROW = [3.0, 5.0, -1.0, 4.0, 3.0]
MASKED = [0.119, 0.879, 0.002, 0, 0]


def test_a_masked_row_by_its_edges():
    over = Sparse.from_edges([0, 1, 2], [0, 0, 0], 1, 5)
    torch.testing.assert_close(weights(ROW, over), torch.tensor(MASKED), atol=5e-4, rtol=0)


def test_a_masked_row_by_its_bias():
    over = Sparse.from_edges([0, 1, 2, 3, 4], [0] * 5, 1, 5)
    bias = torch.tensor([[0.0], [0], [0], [-torch.inf], [-torch.inf]])
    torch.testing.assert_close(weights(ROW, over, bias=bias), torch.tensor(MASKED), atol=5e-4, rtol=0)


def test_a_masked_row_by_rule():
    q, k = torch.ones(1, 1, 1, 1), torch.tensor(ROW).reshape(1, 5, 1, 1)
    out = attend(q, k, torch.eye(5)[None, :, None, :], Dense(1, 5, lengths=[3]), score=Dot(scale=1.0))
    torch.testing.assert_close(out.flatten(), torch.tensor(MASKED), atol=5e-4, rtol=0)


def test_the_worked_example_of_the_lecture():
    x = torch.tensor([[1.0, 2, 3, 4], [4, 5, 9, 1], [6, 2, 1, 4]])[:, None, :]
    over = Sparse.from_edges([0, 1, 2], [0, 0, 0], 1, 3)
    energies = torch.tensor([15.0, 22.5, 14.5])
    alpha = torch.tensor([0.00055, 0.99911, 0.00033])
    torch.testing.assert_close(softmax(energies, over), alpha, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights(energies.tolist(), over), alpha, atol=1e-5, rtol=0)
    out = attend(x[:1], x, x, over)
    torch.testing.assert_close(out.flatten(), torch.tensor([3.99, 4.99, 8.99, 1.00]), atol=1e-2, rtol=0)


LONELY = {
    "no edges": (Sparse.from_edges([0], [0], 2, 2), None),
    "all masked": (Sparse.from_edges([0, 0, 1], [0, 1, 1], 2, 2), torch.tensor([[0.0], [-torch.inf], [-torch.inf]])),
    "no length": (Dense(1, 2, lengths=[2, 0]), None),
    "masked by rule": (Dense(2), torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]])),
    "causal and masked": (Causal(2), torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]])),
}


@pytest.mark.parametrize(("over", "bias"), LONELY.values(), ids=LONELY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_who_has_nobody_to_hear_gets_zeros_and_sends_none_back(over, bias, dtype):
    batch = () if getattr(over, "lengths", None) is None else (2,)
    q = torch.randn(*batch, over.num_targets, 1, 3, dtype=dtype, requires_grad=True)
    k, v = (torch.randn(*batch, over.num_sources, 1, 3, dtype=dtype, requires_grad=True) for _ in range(2))
    learns = [q, k, v, *([] if bias is None else [bias.to(dtype, copy=True).requires_grad_()])]
    out = attend(q, k, v, over, bias=None if bias is None else learns[3])
    out.square().sum().backward()
    assert out[0].any() and not out[1].any() and not q.grad[1].any()
    assert all(x.grad.isfinite().all() for x in learns)


def test_nan_is_passed_on_and_not_swallowed():
    over = Sparse.from_edges([0, 1, 1], [0, 0, 1], 2, 2)
    q, v = torch.randn(2, 1, 3), torch.randn(2, 1, 3, requires_grad=True)
    k = torch.randn(2, 1, 3)
    k[0] = torch.nan
    out = attend(q, k, v, over)
    assert out[0].isnan().all() and out[1].isfinite().all()
    (grad,) = torch.autograd.grad(out[0].sum(), v)
    assert grad.isnan().all()


def test_large_energies_do_not_overflow():
    torch.testing.assert_close(
        weights([1000.0, 999.0, -1000.0], Dense(1, 3).to_sparse()), torch.tensor([0.7311, 0.2689, 0]), atol=1e-4, rtol=0
    )


def test_a_batch_of_blocks_equals_a_padded_batch():
    sizes = [3, 1, 4]
    whole, _ = Sparse.batch([Dense(size).to_sparse() for size in sizes])
    members = Partition.from_lengths(sizes)
    q, k, v = (torch.randn(8, 2, 5, dtype=torch.float64) for _ in range(3))
    (padded_q, over), (padded_k, _), (padded_v, _) = members.pad(q), members.pad(k), members.pad(v)
    padded = members.unpad(attend(padded_q, padded_k, padded_v, over))
    torch.testing.assert_close(attend(q, k, v, whole), padded, rtol=1e-12, atol=1e-12)


# which inputs learn


@pytest.mark.parametrize("learns", ["q", "k", "v", "vector", "bias", "edge_k", "edge_v", "kv", ""])
def test_any_input_may_learn_alone(learns):
    over = Sparse.from_edges([0, 1, 1], [0, 0, 1], 2, 2)
    shapes = {"q": (2, 1, 3), "k": (2, 1, 3), "v": (2, 1, 3), "bias": (3, 1), "edge_k": (3, 1, 3), "edge_v": (3, 1, 3)}
    inputs = {name: torch.randn(shape, dtype=torch.float64) for name, shape in shapes.items()}
    vector = torch.randn(1, 3, dtype=torch.float64)

    def gradients(wanted: set[str]) -> dict[str, torch.Tensor]:
        leaves = {name: x.clone().requires_grad_(name in wanted) for name, x in (inputs | {"vector": vector}).items()}
        out = attend(
            *(leaves[name] for name in "qkv"),
            over,
            score=Activated(leaves["vector"]),
            **{n: leaves[n] for n in list(inputs)[3:]},
        )
        if wanted:
            out.square().sum().backward()
        return {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}

    everything = gradients({*inputs, "vector"})
    wanted = set(learns) if learns in ("kv", "") else {learns}
    alone = gradients(wanted)
    assert alone.keys() == wanted
    assert all(torch.equal(grad, everything[name]) for name, grad in alone.items())


@pytest.mark.parametrize("again", [False, True], ids=["once", "to be differentiated again"])
def test_one_tensor_may_be_queries_keys_and_values(again):
    over = Sparse.from_edges([0, 1, 2, 0], [1, 2, 1, 0], 3)
    x = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
    parts = [x.detach().clone().requires_grad_() for _ in range(3)]
    (shared,) = torch.autograd.grad(attend(x, x, x, over).square().sum(), x, create_graph=again)
    apart = torch.autograd.grad(attend(*parts, over).square().sum(), parts)
    torch.testing.assert_close(shared, sum(apart), rtol=1e-12, atol=1e-12)


# dropout


def paid(dropout: float, seed: int, targets: int = 200, heads: int = 4) -> torch.Tensor:
    """What (targets, heads) pay to 16 sources that all match equally well."""
    over = Dense(targets, 16).to_sparse()
    q, k = torch.zeros(targets, heads, 1), torch.zeros(16, heads, 1)
    v = torch.eye(16)[:, None, :].expand(16, heads, 16)
    return attend(q, k, v, over, dropout=dropout, seed=torch.tensor(seed))


def test_dropout_drops_its_share_and_scales_what_stays():
    out = paid(0.25, 1)
    assert torch.equal(out.unique(), torch.tensor([0, 1 / 16 / 0.75]))
    assert abs(float((out == 0).float().mean()) - 0.25) < 0.02


def test_dropout_follows_its_seed():
    assert torch.equal(paid(0.5, 1), paid(0.5, 1))
    assert not torch.equal(paid(0.5, 1), paid(0.5, 2))


def test_dropout_is_drawn_for_each_head_and_edge():
    dropped = (paid(0.5, 3) == 0).float().flatten(1)
    agreement = (dropped[:, None] == dropped[None]).float().mean(-1)
    assert agreement.fill_diagonal_(0.5).sub(0.5).abs().max() < 0.35


def test_without_a_seed_torch_governs():
    over = Dense(8).to_sparse()
    x = torch.randn(8, 2, 4)
    torch.manual_seed(5)
    first = attend(x, x, x, over, dropout=0.5)
    other = attend(x, x, x, over, dropout=0.5)
    torch.manual_seed(5)
    assert torch.equal(first, attend(x, x, x, over, dropout=0.5)) and not torch.equal(first, other)


# derivatives

SMALL = Sparse.from_edges([0, 2, 1, 0, 2], [1, 0, 1, 2, 0], 4, 3)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def call(score: str, extras: bool, dropout: float = 0.0):
    """A function of tensors for gradcheck, and its tensors."""
    key = (2,) if score == "Additive" else (2, 3)
    inputs = [numbers(4, *key), numbers(3, *key), numbers(3, 2, 2)]
    inputs += [numbers(*key)] if score == "Activated" else []
    inputs += [numbers(5, 2), numbers(5, *key), numbers(5, 2, 2)] if extras else []

    def compute(q, k, v, *rest):
        match = Activated(rest[0]) if score == "Activated" else Additive() if score == "Additive" else Dot()
        bias, edge_k, edge_v = rest[-3:] if extras else (None, None, None)
        seed = torch.tensor(3)
        return attend(q, k, v, SMALL, score=match, bias=bias, edge_k=edge_k, edge_v=edge_v, dropout=dropout, seed=seed)

    return compute, inputs


SCORES = ["Dot", "Additive", "Activated"]


@pytest.mark.parametrize("extras", [False, True], ids=["plain", "all extras"])
@pytest.mark.parametrize("score", SCORES)
def test_gradcheck(score, extras):
    assert gradcheck(*call(score, extras))


@pytest.mark.parametrize("score", SCORES)
def test_gradcheck_with_dropout(score):
    assert gradcheck(*call(score, True, dropout=0.4))


@pytest.mark.parametrize("extras", [False, True], ids=["plain", "all extras"])
@pytest.mark.parametrize("score", SCORES)
def test_gradgradcheck(score, extras):
    assert gradgradcheck(*call(score, extras, dropout=0.3), gen_non_contig_grad_outputs=True)


# others' attention


def random_mask(targets: int, sources: int) -> torch.Tensor:
    mask = torch.rand(targets, sources) < 0.4
    mask[torch.arange(targets), torch.randint(sources, (targets,))] = True
    return mask


def from_mask(mask: torch.Tensor) -> Sparse:
    target, source = mask.nonzero(as_tuple=True)
    return Sparse.from_edges(source, target, *mask.shape)


def test_equals_torchs_scaled_dot_product_attention():
    mask = random_mask(7, 9)
    q, k, v = torch.randn(7, 2, 5), torch.randn(9, 2, 5), torch.randn(9, 2, 6)
    expected = scaled_dot_product_attention(*(x.transpose(0, 1) for x in (q, k, v)), attn_mask=mask).transpose(0, 1)
    torch.testing.assert_close(attend(q, k, v, from_mask(mask)), expected)


@pytest.mark.parametrize("over", [Dense(150), Causal(150), Window(150, 4, 1)], ids=repr)
def test_equals_torchs_attention_by_rule(over):
    q, k, v = torch.randn(3, 2, 150, 2, 4).unbind()
    mask = over.allowed("cpu")
    expected = scaled_dot_product_attention(*(x.transpose(1, 2) for x in (q, k, v)), attn_mask=mask).transpose(1, 2)
    torch.testing.assert_close(attend(q, k, v, over), expected)


def test_pays_the_attention_of_torchs_multihead_attention():
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x, mask = torch.randn(6, 8), random_mask(6, 6)
    _, expected = layer(x[None], x[None], x[None], attn_mask=~mask, average_attn_weights=False)  # (1, heads, targets, sources)
    q, k, _ = torch.nn.functional.linear(x, layer.in_proj_weight, layer.in_proj_bias).view(6, 3, 2, 4).unbind(1)
    v = torch.eye(6)[:, None, :].expand(6, 2, 6)
    torch.testing.assert_close(attend(q, k, v, from_mask(mask)), expected[0].transpose(0, 1))


EDGES = torch.randint(10, (2, 30), generator=torch.Generator().manual_seed(0))


def test_equals_the_gat_of_pyg(pyg):
    conv = pyg.nn.GATConv(6, 5, heads=2, edge_dim=3, add_self_loops=False)
    x, e = torch.randn(10, 6), torch.randn(30, 3)
    h = conv.lin(x).view(10, 2, 5)
    edge_k = (conv.lin_edge(e).view(30, 2, 5) * conv.att_edge).sum(-1)
    q, k = (h * conv.att_dst).sum(-1), (h * conv.att_src).sum(-1)
    out = attend(q, k, h, Sparse.from_edges(*EDGES, 10), score=Additive(), edge_k=edge_k)
    torch.testing.assert_close(out.flatten(1) + conv.bias, conv(x, EDGES, e))


def test_equals_the_gatv2_of_pyg(pyg):
    conv = pyg.nn.GATv2Conv(6, 5, heads=2, edge_dim=3, add_self_loops=False)
    x, e = torch.randn(10, 6), torch.randn(30, 3)
    source, target = conv.lin_l(x).view(10, 2, 5), conv.lin_r(x).view(10, 2, 5)
    over = Sparse.from_edges(*EDGES, 10)
    out = attend(target, source, source, over, score=Activated(conv.att[0]), edge_k=conv.lin_edge(e).view(30, 2, 5))
    torch.testing.assert_close(out.flatten(1) + conv.bias, conv(x, EDGES, e))


def test_equals_the_transformer_of_pyg(pyg):
    conv = pyg.nn.TransformerConv(6, 5, heads=2, edge_dim=3, root_weight=False)
    x, e = torch.randn(10, 6), torch.randn(30, 3)
    q, k, v = (part(x).view(10, 2, 5) for part in (conv.lin_query, conv.lin_key, conv.lin_value))
    along = conv.lin_edge(e).view(30, 2, 5)
    out = attend(q, k, v, Sparse.from_edges(*EDGES, 10), edge_k=along, edge_v=along)
    torch.testing.assert_close(out.flatten(1), conv(x, EDGES, e))
