"""Every encoder: its widths, its name, its depth in hops, and that it learns."""

from functools import partial

import pytest
import torch

from weft import Sparse, encoders
from weft.encoders import Encoder, builder_of, gcn, names
from weft.errors import WeftTypeError, WeftValueError
from weft.objectives import Classify
from weft.training import Trainer

every = pytest.mark.parametrize("name", names())
LINE = Sparse.from_edges([*range(6), *range(1, 7)], [*range(1, 7), *range(6)], 7)


@every
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_widths_and_derivatives(name, depth, residual):
    encoder = builder_of(name)(5, 4, dim=8, depth=depth, residual=residual)  # type: ignore[call-arg]
    x = torch.randn(7, 5, requires_grad=True)
    out = encoder(x, LINE)
    assert out.shape == (7, 4)
    assert encoder.embed(x, LINE).shape == (7, 5 if depth == 1 and not residual else 8)
    out.square().sum().backward()
    for key, weight in encoder.named_parameters():
        assert weight.grad is not None and bool(weight.grad.isfinite().all()), key


@every
@pytest.mark.parametrize("depth", [1, 3])
def test_so_many_layers_see_so_many_hops(name, depth):
    encoder = builder_of(name)(2, 2, dim=8, depth=depth).eval()  # type: ignore[call-arg]
    x = torch.randn(7, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(encoder(x, LINE)[0].sum(), x)
    seen = (grad.abs().sum(1) > 0).tolist()
    reach = 0 if name == "mlp" else depth
    assert seen[reach + 1 :] == [False] * (6 - reach) and seen[0]


@every
def test_it_overfits_eight_examples(name):
    from weft.data import NodeData, Split

    torch.manual_seed(0)
    x, y = torch.randn(8, 6), torch.arange(8) % 3
    over = Sparse.from_edges([], [], 8)
    split = Split.of(range(8), [], [], how="all")
    encoder, objective = builder_of(name)(6, 3, dim=32, dropout=0.0), Classify(3)  # type: ignore[call-arg]
    history = Trainer(epochs=200, weight_decay=0).fit(encoder, objective, NodeData(x, over, y, split))
    assert history.epochs[-1].loss < 0.05


def test_an_unknown_name():
    with pytest.raises(WeftValueError, match=r"none called 'gnc'. Did you mean 'gcn'\? All: gat, "):
        builder_of("gnc")
    with pytest.raises(WeftTypeError, match="expected a name or a function"):
        builder_of(3)  # type: ignore[arg-type]


def test_a_function_is_its_own_builder():
    build = partial(gcn, dim=3)
    assert builder_of(build) is build


def test_names_are_given_once():
    with pytest.raises(WeftValueError, match="there is an encoder 'gcn' already"):
        encoders.register("gcn", gcn)


def test_a_depth_that_cannot_be():
    with pytest.raises(WeftValueError, match="depth must be at least 1, but got 0"):
        gcn(3, 2, depth=0)


def test_models_are_arrangements():
    """Encoders are functions: the only class is what they arrange into."""
    assert isinstance(gcn(3, 2), Encoder)
