"""A whole training as its user runs it: 200 epochs of the two-layer GCN, validated after each, the best weights kept."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, dropout
from torch_geometric import nn as pyg

from benchmarks import graphs
from benchmarks.peers import Run
from weft.data import NodeData, Split
from weft.encoders import gcn
from weft.objectives import Classify
from weft.structure import Sparse
from weft.training import Trainer

FEATURES = {"cora": (1433, 0.0127, 7), "pubmed": (500, 0.1, 3)}
"""How many, which share of them is not zero, and how many classes."""

EPOCHS = 200


def run(shape: str, device: str, dtype: torch.dtype) -> dict[str, Run]:
    """weft's trainer beside the loop that one writes with PyG; both on dense features of the data set's sizes."""
    edges, nodes = graphs.edges(shape), graphs.SHAPES[shape].nodes
    width, share, classes = FEATURES[shape]
    generator = torch.Generator().manual_seed(1)
    x = (torch.rand(nodes, width, generator=generator) < share).to(device, dtype)
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    y = torch.randint(classes, (nodes,), generator=generator).to(device)
    split = Split.of(range(20 * classes), range(1000, 1500), range(1500, 2500), how="by number")
    source, target = (end.to(device) for end in edges)
    over, index = Sparse.from_edges(source, target, nodes), torch.stack([source, target])

    def ours() -> list[Tensor]:
        torch.manual_seed(2)
        encoder = gcn(width, classes, dim=16).to(device, dtype)
        Trainer(epochs=EPOCHS).fit(encoder, Classify(classes), NodeData(x, over, y, split))
        return []

    def theirs(cached: bool) -> Run:
        def once() -> list[Tensor]:
            torch.manual_seed(2)
            layers = [pyg.GCNConv(width, 16, cached=cached), pyg.GCNConv(16, classes, cached=cached)]
            model = torch.nn.ModuleList(layers).to(device, dtype)
            adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

            def forward(train: bool) -> Tensor:
                h = torch.relu(layers[0](dropout(x, 0.5, train), index))
                return layers[1](dropout(h, 0.5, train), index)

            best, kept = -1.0, {}
            for _ in range(EPOCHS):
                adam.zero_grad()
                cross_entropy(forward(True)[split.train], y[split.train]).backward()
                adam.step()
                with torch.no_grad():
                    right = float((forward(False)[split.val].argmax(1) == y[split.val]).double().mean())
                if right > best:
                    best, kept = right, {name: value.clone() for name, value in model.state_dict().items()}
            model.load_state_dict(kept)
            return []

        return once

    return {"weft": ours, "plain PyG script": theirs(cached=False)} | (
        {"PyG script, cached": theirs(cached=True)} if shape == "cora" else {}
    )
