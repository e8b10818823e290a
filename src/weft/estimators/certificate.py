"""What held-out answers could have been seen: every statement checked on the data at hand, and kept with the model."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from weft.data import Features, Graph, Split

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Statement:
    """One thing that was checked. `holds` is None for what is a fact to know rather than a rule to keep."""

    about: str
    says: str
    holds: bool | None


@dataclass(frozen=True)
class Certificate:
    """What the training part could have known of the other parts."""

    statements: tuple[Statement, ...]

    @property
    def clean(self) -> bool:
        """Whether every rule is kept."""
        return all(statement.holds is not False for statement in self.statements)

    def __str__(self) -> str:
        sign = {True: "holds", False: "BROKEN", None: "note"}
        return "\n".join(f"{sign[each.holds]:>6}  {each.about}: {each.says}" for each in self.statements)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain values that a model file can hold."""
        return [asdict(each) for each in self.statements]

    @classmethod
    def from_json(cls, told: list[Mapping[str, Any]]) -> Self:
        """The inverse of `to_json`."""
        return cls(tuple(Statement(str(each["about"]), str(each["says"]), each["holds"]) for each in told))


def certify(graph: Graph, split: Split, features: Features | None, supervised: torch.Tensor) -> Certificate:
    """Check a finished training: `supervised` are the positions whose answers the loss has seen."""
    statements = [_parts(split), _answers(split, supervised), _links(graph, split)]
    if features is not None and graph.columns is not None:
        statements += [_features(graph.columns, features, graph, split), *_giveaways(graph.columns, features, graph, split)]
    copies = _copies(graph, split)
    return Certificate((*statements, *([] if copies is None else [copies])))


def smoothing(spread: torch.Tensor, split: Split) -> Statement:
    """What Correct & Smooth spreads along the edges: `spread` are the positions whose answers it is given."""
    held = torch.isin(spread, torch.cat([split.val, split.test]))
    says = f"correct & smooth spreads the answers of {len(spread):,} nodes, {int(held.sum())} of them held out"
    return Statement("smoothing", says, not bool(held.any()))


def _parts(split: Split) -> Statement:
    sizes = {name: len(part) for name, part in split}
    whole = torch.cat([part for _, part in split])
    told = ", ".join(f"{size:,} {name}" for name, size in sizes.items())
    return Statement("split", f"{told}; no node is in two parts ({split.how})", len(whole.unique()) == len(whole))


def _answers(split: Split, supervised: torch.Tensor) -> Statement:
    seen = torch.isin(supervised, torch.cat([split.val, split.test]))
    return Statement(
        "answers",
        f"the loss saw the answers of {len(supervised):,} nodes, {int(seen.sum())} of them held out; validation answers chose "
        "the epoch and the temperature, test answers nothing",
        not bool(seen.any()),
    )


def _links(graph: Graph, split: Split) -> Statement:
    """Held-out nodes are part of the graph that was trained on: their features and links are seen, their answers are not."""
    part = np.full(graph.num_nodes, 3)
    for code, (_, members) in enumerate(split):
        part[members.numpy()] = code
    source, target = (end.numpy() for end in graph.over.ends())
    across = int(((part[source] == 0) & (part[target] != 0)).sum())
    return Statement(
        "structure",
        f"training is transductive: {across:,} of {graph.over.num_edges:,} edges lead from training nodes to others, whose "
        "features and links, but not answers, were there while training",
        None,
    )


def _features(columns: "pa.Table", features: Features, graph: Graph, split: Split) -> Statement:
    """Fitting again on a table that holds nothing but the training rows must give the same, to the last digit."""
    alone = Features.fit(columns.take(split.train.numpy()), range(len(split.train)), graph.kinds)
    return Statement(
        "features",
        "scales and vocabularies were learnt from training rows only: fitted again without the other rows they are identical",
        alone.to_json() == features.to_json(),
    )


def _giveaways(columns: "pa.Table", features: Features, graph: Graph, split: Split) -> list[Statement]:
    """Columns whose value alone says the answer of every training node."""
    import pyarrow.compute as pc

    assert graph.y is not None
    answers = graph.y.take(split.train.numpy()).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    found: list[Statement] = []
    for name, _ in features.columns:
        values = columns[name].combine_chunks().take(split.train.numpy())
        if not (str(values.type) in ("string", "bool", "large_string") or str(values.type).startswith(("int", "dictionary"))):
            continue
        codes = pc.fill_null(values.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
        pairs = len(set(zip(codes.tolist(), answers.tolist(), strict=True)))
        kinds = len(set(codes.tolist()))
        if kinds == pairs and 1 < kinds <= max(2 * len(set(answers.tolist())), 2) and len(codes) >= 4 * kinds:
            found.append(Statement("giveaway", f"column {name!r} alone says the answer of every training node", False))
    return found


def _copies(graph: Graph, split: Split) -> Statement | None:
    """Held-out rows whose features are, to the last digit, those of a training row."""
    if graph.columns is None:
        return None
    text = np.asarray([repr(row) for row in graph.columns.to_pylist()]) if graph.columns.num_rows <= 200_000 else None
    if text is None:
        return None
    held = torch.cat([split.val, split.test]).numpy()
    twins = int(np.isin(text[held], text[split.train.numpy()]).sum())
    return Statement("copies", f"{twins:,} of {len(held):,} held-out rows have the same features as a training row", None)
