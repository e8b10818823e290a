"""The catalogue: what it says of each dataset is what is in it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weft.data import datasets
from weft.errors import WeftValueError

real = pytest.mark.skipif(
    not os.environ.get("WEFT_DATA"), reason="reads the published files: set WEFT_DATA to the folder that holds them"
)

PUBLISHED = {  # nodes, edges, features, classes and their sizes, parts of the first split, the neighbours of the first node
    "cora": (2708, 5278, 1433, [351, 217, 418, 818, 426, 298, 180], [140, 500, 1000], [633, 1862, 2582]),
    "pubmed": (19717, 44324, 500, [4103, 7739, 7875], [60, 500, 1000], [1378, 1544, 6092, 7636, 14442]),
    "tolokers": (11758, 519000, 10, [9192, 2566], [5879, 2939, 2940], None),
    "amazon-photo": (7650, 119081, 745, None, None, None),
    "coauthor-cs": (18333, 81894, 6805, None, None, [5111, 12716, 12963, 13709, 15763]),
}


def test_names_are_in_order():
    assert datasets.names() == ["amazon-photo", "coauthor-cs", "cora", "digits", "pubmed", "tolokers"]


@pytest.mark.parametrize("ask", [datasets.info, datasets.get])
def test_an_unknown_name_is_told_the_nearest_and_all(ask):
    with pytest.raises(WeftValueError, match=r"none called 'coar'\. Did you mean 'cora'\? All: amazon-photo, .* tolokers\."):
        ask("coar")
    with pytest.raises(WeftValueError, match=r"none called 7\. All: amazon-photo"):
        ask(7)


@pytest.mark.parametrize("name", datasets.names())
def test_every_dataset_is_described_in_full(name):
    known = datasets.info(name)
    assert known.name == name and bool(known.files) == (name != "digits")
    for words in (known.title, known.licence, known.citation, known.protocol):
        assert len(words) > 10
    for file in known.files:
        assert file.url.startswith("https://") and file.url.endswith("/" + file.name) and file.bytes > 0
        assert re.search(r"/[0-9a-f]{40}/", file.url), "an address without a commit can change"
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in (file.sha256, file.content) if digest)
    with pytest.raises(AttributeError):
        known.nodes = 0


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "digits" else real) for name in datasets.names()])
def test_figures_are_those_of_the_graph(name):
    known, graph = datasets.info(name), datasets.get(name)
    assert (known.nodes, known.edges, known.classes) == (graph.num_nodes, graph.num_edges, len(graph.y.unique()))
    assert not graph.directed and len(graph.labelled) == known.nodes
    source, target = graph.over.ends()
    assert len(source) == 2 * known.edges and not (source == target).any()
    assert bool(graph.splits) == (not known.protocol.startswith("No published split"))


@real
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_graph_is_the_one_in_the_papers(name):
    nodes, edges, features, classes, parts, first = PUBLISHED[name]
    graph = datasets.get(name)
    assert (graph.num_nodes, graph.num_edges, graph.x.shape[1]) == (nodes, edges, features)
    assert graph.ids.values[:3].to_pylist() == [0, 1, 2]
    if classes is not None:
        assert np.bincount(graph.y.to_numpy()).tolist() == classes
    if parts is not None:
        assert [len(part) for _, part in graph.splits[0]] == parts
    if first is not None:
        source, target = graph.over.ends()
        assert sorted(source[target == 0].tolist()) == first


@real
@pytest.mark.parametrize("name", ["cora", "pubmed"])
def test_planetoid_agrees_with_another_reader(name, pyg):
    from torch_geometric.io import read_planetoid_data

    other = read_planetoid_data(str(Path(os.environ["WEFT_DATA"], name)), name)
    graph = datasets.get(name)
    assert graph.x.equal(other.x) and graph.y.to_pylist() == other.y.tolist()
    (split,) = graph.splits
    for part, positions in split:
        assert positions.equal(other[f"{part}_mask"].nonzero().flatten())
    ours = {tuple(pair) for pair in zip(*(end.tolist() for end in graph.over.ends()), strict=True)}
    assert ours == {(a, b) for a, b in other.edge_index.T.tolist() if a != b}


@real
@pytest.mark.parametrize("name", ["amazon-photo", "coauthor-cs"])
def test_an_archive_agrees_with_scipy(name):
    (file,) = datasets.info(name).files
    graph = datasets.get(name)
    with np.load(Path(os.environ["WEFT_DATA"], name, file.name)) as arrays:
        links, features = (
            csr_matrix((arrays[f"{part}_data"], arrays[f"{part}_indices"], arrays[f"{part}_indptr"]), arrays[f"{part}_shape"])
            for part in ("adj", "attr")
        )
        assert graph.y.to_pylist() == arrays["labels"].tolist()
    links = ((links + links.T) != 0).astype(int)
    links.setdiag(0)
    _, target = graph.over.ends()
    assert np.bincount(target, minlength=graph.num_nodes).tolist() == links.sum(1).flatten().tolist()[0]
    assert np.array_equal(graph.x.numpy(), features.toarray())


@real
@pytest.mark.parametrize(("name", "most"), [("cora", 168), ("pubmed", 171)])
def test_the_node_with_most_neighbours(name, most):
    _, target = datasets.get(name).over.ends()
    assert int(target.bincount().max()) == most


@real
def test_words_of_cora_are_yes_or_no_and_those_of_pubmed_are_weights():
    assert set(datasets.get("cora").x.unique().tolist()) == {0, 1}
    x = datasets.get("pubmed").x
    assert x.min() == 0 and 1 < float(x.max()) < 2 and x.unique().numel() > 100


@real
def test_tolokers_has_ten_splits_of_all_nodes():
    splits = datasets.get("tolokers").splits
    assert len(splits) == 10
    assert {sum(len(part) for _, part in split) for split in splits} == {11758}
    assert len({tuple(split.train[:20].tolist()) for split in splits}) == 10


def test_the_catalogue_loads_nothing_heavy():
    code = "import sys; from weft.data import datasets; datasets.info('cora'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pyarrow", "scipy", "sklearn", "pandas", "rich"} & set(loaded)
