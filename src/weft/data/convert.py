"""Graphs from and to other libraries: networkx, SciPy's sparse matrices, PyTorch Geometric.

What a library has no place for is refused or said in `notes`, never lost in silence.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from weft.data.graph import Graph
from weft.data.ids import Ids
from weft.data.split import PARTS, SPELLINGS, Split
from weft.errors import DataError, ShapeError, WeftTypeError


def from_networkx(graph: Any, *, target: str | None = None, weight: str | None = None) -> Graph:
    """From a networkx graph: what nodes and edges carry becomes columns.

    `target` and `weight` are attributes of nodes and edges. A node attribute `x` that holds equally many numbers
    everywhere becomes `Graph.x`, and `split` (`split_1`, …) that says train, val or test becomes a split.

    >>> import networkx
    >>> from_networkx(networkx.path_graph(3))
    Graph(3 nodes, 2 undirected edges)
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "is_directed"):
        raise WeftTypeError(f"from_networkx: expected a networkx graph, but got {type(graph).__name__}.")
    nodes, things = _attributes([dict(carried) for _, carried in graph.nodes(data=True)], "id")
    edges, links = _attributes([dict(carried) for _, _, carried in graph.edges(data=True)], "source", "target")
    ends = list(graph.edges())
    x, parted = _vectors(things.get("x")), [name for name in things if name != target and _is_split(name, things[name])]
    splits = tuple(Split.from_words(things[name], f"networkx, {name}") for name in parted)
    taken = {*parted, *(["x"] if x is not None and target != "x" else [])}
    things = {name: values for name, values in things.items() if name not in taken}
    made = Graph.from_tables(
        {nodes[0]: Ids.of(list(graph.nodes()), "networkx, nodes").values} | things,
        {edges[0]: [a for a, _ in ends], edges[1]: [b for _, b in ends]} | links,
        id=nodes[0],
        target=target,
        ends=(edges[0], edges[1]),
        weight=weight,
        directed=graph.is_directed(),
    )
    return replace(made, x=None if target == "x" else x, splits=splits)


def to_networkx(graph: Graph) -> Any:
    """To networkx, by the owner's ids: columns, `x`, `y`, `split` and `weight` as attributes, where they are known."""
    import networkx

    source, target = graph.over.ends()
    once = slice(None) if graph.directed else (source <= target).nonzero().flatten()
    source, target, row = source[once], target[once], graph.edge_row[once]
    doubled = graph.directed and len(torch.stack([source, target]).unique(dim=1)[0]) < len(source)
    out = (networkx.MultiDiGraph if doubled else networkx.DiGraph if graph.directed else networkx.Graph)()
    names = graph.ids.values.to_pylist()
    carried = {} if graph.columns is None else graph.columns.to_pydict()
    if graph.x is not None:
        carried["x"] = graph.x.tolist()
    if graph.y is not None:
        carried["y"] = graph.y.to_pylist()
    for number, split in enumerate(graph.splits):
        carried[f"split_{number}" if number else "split"] = _words(split, len(names))
    out.add_nodes_from((name, _known(carried, at)) for at, name in enumerate(names))
    told = {} if graph.edge_table is None else graph.edge_table.take(row.numpy()).to_pydict()
    weight = _given_weight(graph)
    if weight is not None:
        told["weight"] = weight[once].tolist()
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    out.add_edges_from((names[a], names[b], _known(told, at)) for at, (a, b) in enumerate(pairs))
    return out


def from_scipy(adjacency: Any, x: Any = None, y: Any = None, directed: bool = False) -> Graph:
    """From a square sparse matrix: the entry (a, b) is the weight of the edge from a to b; if all are 1, none has one.

    Undirected, each pair may stand in one triangle or, equally heavy, in both.

    >>> import scipy.sparse
    >>> from_scipy(scipy.sparse.eye_array(3, k=1))
    Graph(3 nodes, 2 undirected edges)
    """
    from scipy import sparse

    if not sparse.issparse(adjacency):
        raise WeftTypeError(f"from_scipy: adjacency must be a SciPy sparse matrix, but got {type(adjacency).__name__}.")
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ShapeError(f"from_scipy: adjacency must be square, but has shape {adjacency.shape}.")
    size = adjacency.shape[0]
    matrix = sparse.csr_array(adjacency, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    entries = matrix.tocoo()
    source, target = (each.astype(np.int64) for each in entries.coords)
    weight = entries.data.astype(np.float64)
    if not directed:
        keep = _one_triangle(source, target, weight, size)
        source, target, weight = source[keep], target[keep], weight[keep]
    edges: dict[str, Any] = {"source": source, "target": target}
    heavy = bool((weight != 1).any())
    if heavy:
        edges["weight"] = weight
    return Graph.from_edges(edges, x=x, y=y, ids=np.arange(size), weight="weight" if heavy else None, directed=directed)


def to_scipy(graph: Graph) -> Any:
    """To a sparse matrix of (sources, targets), as `from_scipy` reads it: edges and weights, nothing else."""
    from scipy import sparse

    source, target = (each.numpy() for each in graph.over.ends())
    weight = _given_weight(graph)
    data = np.ones(len(source), np.float32) if weight is None else weight.numpy()
    return sparse.csr_array((data, (source, target)), shape=(graph.num_nodes, graph.num_nodes))


def from_pyg(data: Any) -> Graph:
    """From a PyTorch Geometric `Data`: x, edge_index, edge_weight, y, and masks, which become splits.

    A `Data` whose edges all go both ways is undirected. What else it holds is named in `notes`.
    """
    if getattr(data, "edge_index", None) is None:
        raise WeftTypeError(f"from_pyg: expected a Data with an edge_index, but got {type(data).__name__} without one.")
    source, target = data.edge_index.cpu()
    weight = data.get("edge_weight")
    weight = None if weight is None else weight.cpu().reshape(-1)
    directed = not data.is_undirected()
    once = slice(None) if directed else source <= target
    edges: dict[str, Any] = {"source": source[once], "target": target[once]}
    if weight is not None:
        edges["weight"] = weight[once]
    used = {"x", "edge_index", "edge_weight", "y", "num_nodes", "classes", *(f"{part}_mask" for part in PARTS)}
    rest = sorted(set(data.keys()) - used)
    graph = Graph.from_edges(
        edges,
        x=_dense(data.get("x")),
        y=_from_codes(data.get("y"), data.get("classes")),
        ids=np.arange(data.num_nodes),
        weight=None if weight is None else "weight",
        splits=_from_masks([data.get(f"{part}_mask") for part in PARTS], data.num_nodes),
        directed=directed,
    )
    notes = (f"from_pyg: {', '.join(rest)} of the Data not taken over.",) if rest else ()
    return replace(graph, notes=graph.notes + notes)


def to_pyg(graph: Graph) -> Any:
    """To a PyTorch Geometric `Data`: x, edge_index, edge_weight, y and masks; nodes go by position.

    Labels that are not all numbers become codes, -1 where unknown, and `classes` says what they mean.
    """
    if graph.columns is not None:
        raise DataError(
            f"to_pyg: the columns {', '.join(graph.columns.column_names)} are not numbers yet. "
            "Encode them with Features.fit(…).apply(…), and give the result to Graph.from_edges as x."
        )
    from torch_geometric.data import Data

    data = Data(x=graph.x, edge_index=torch.stack([end.long() for end in graph.over.ends()]), num_nodes=graph.num_nodes)
    weight = _given_weight(graph)
    if weight is not None:
        data.edge_weight = weight
    if graph.y is not None:
        data.y, classes = _to_codes(graph.y)
        if classes is not None:
            data.classes = classes
    for part in PARTS if graph.splits else ():
        masks = torch.zeros(len(graph.splits), graph.num_nodes, dtype=torch.bool)
        for mask, split in zip(masks, graph.splits, strict=True):
            mask[getattr(split, part)] = True
        data[f"{part}_mask"] = masks[0] if len(masks) == 1 else masks.T.contiguous()
    return data


def _attributes(carried: list[dict[Any, Any]], *roles: str) -> tuple[list[str], dict[str, list[Any]]]:
    """Names for the columns that name things, and the attributes as columns, None where one lacks."""
    known = dict.fromkeys(name for each in carried for name in each)
    columns = {str(name): [each.get(name) for each in carried] for name in known}
    free: list[str] = []
    for role in roles:
        name = role
        while name in columns:
            name += "_"
        free.append(name)
    return free, columns


def _vectors(values: list[Any] | None) -> Tensor | None:
    """Equally many numbers for every node as a matrix; None if it is anything else."""
    if values is None or any(value is None for value in values):
        return None
    try:
        x = torch.as_tensor(np.asarray(values, np.float32))
    except (TypeError, ValueError):
        return None
    return x if x.ndim == 2 else None


def _is_split(name: str, values: list[Any]) -> bool:
    named = name == "split" or name.startswith("split_")
    return named and all(value is None or (isinstance(value, str) and value in SPELLINGS) for value in values)


def _words(split: Split, size: int) -> list[str | None]:
    words: list[str | None] = [None] * size
    for name, part in split:
        for at in part.tolist():
            words[at] = name
    return words


def _known(columns: dict[str, Any], at: int) -> dict[str, Any]:
    return {name: values[at] for name, values in columns.items() if values[at] is not None}


def _given_weight(graph: Graph) -> Tensor | None:
    """Weights in the order of `over.ends()`, not of storage."""
    weight, edge = graph.over.stored_weight(), graph.over.edge
    if weight is None or edge is None:
        return weight
    given = torch.empty_like(weight)
    given[edge.long()] = weight
    return given


def _one_triangle(source: Any, target: Any, weight: Any, size: int) -> Any:
    """Each pair once: all of the upper triangle, and what of the lower one is not there; both must agree."""
    key, mirrored = source * size + target, target * size + source
    order = key.argsort()
    found = order[np.minimum(np.searchsorted(key, mirrored, sorter=order), max(len(key) - 1, 0))] if len(key) else order
    both = key[found] == mirrored
    wrong = np.flatnonzero(both & (weight != weight[found]))
    if len(wrong):
        at = int(wrong[0])
        raise DataError(
            f"from_scipy: the entry ({source[at]}, {target[at]}) is {weight[at]:g}, but ({target[at]}, {source[at]}) is "
            f"{weight[found[at]]:g}. Say directed=True, or make the matrix symmetric."
        )
    return (source <= target) | ~both


def _dense(x: Any) -> Any:
    return x.to_dense() if isinstance(x, Tensor) and x.layout != torch.strided else x


def _from_masks(masks: list[Any], size: int) -> tuple[Split, ...]:
    """A split per column of the masks; a part without a mask is empty."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return ()
    many = max(1 if mask.ndim == 1 else mask.shape[1] for mask in given)
    blank = torch.zeros(size, 1, dtype=torch.bool)
    columns = [(blank if mask is None else mask.cpu().bool().reshape(size, -1)).expand(size, many) for mask in masks]
    return tuple(
        Split.of(*(part[:, number].nonzero().flatten() for part in columns), how="the masks of the Data")
        for number in range(many)
    )


def _from_codes(y: Any, classes: Any) -> Any:
    if y is None:
        return None
    y = y.cpu()
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        raise ShapeError(f"from_pyg: y must be one label per node, but has shape {tuple(y.shape)}.")
    return y if classes is None else [classes[code] if code >= 0 else None for code in y.tolist()]


def _to_codes(y: Any) -> tuple[Tensor, list[Any] | None]:
    import pyarrow as pa

    if pa.types.is_floating(y.type):
        return torch.from_numpy(np.array(y.fill_null(np.nan).to_numpy(), np.float32)), None
    if pa.types.is_integer(y.type) and y.null_count == 0:
        return torch.from_numpy(y.to_numpy().astype(np.int64)), None
    classes = sorted(y.drop_null().unique().to_pylist())
    place = {name: at for at, name in enumerate(classes)}
    return torch.tensor([place.get(label, -1) for label in y.to_pylist()], dtype=torch.int64), classes
