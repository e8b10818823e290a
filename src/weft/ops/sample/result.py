"""What sampling gives: a few nodes of a large graph, numbered anew, and the edges drawn between them."""

from dataclasses import dataclass

from torch import Tensor

from weft.ops.sample.rows import take_rows
from weft.structure import Sparse
from weft.structure.compress import Rows
from weft.types import Index


@dataclass(frozen=True, eq=False)
class Sample:
    """A piece of a graph around its seeds.

    nodes: where each node of the piece stands in the graph, the seeds first, then what each hop added (int64) ·
    over: the drawn edges, in the numbers of the piece · sizes: how many nodes were known at first, and after each hop
    """

    nodes: Index
    over: Sparse
    sizes: tuple[int, ...]


def restrict(over: Sparse, nodes: Tensor, rows: Rows, stored: Tensor | None, sizes: tuple[int, ...]) -> Sample:
    """The drawn `rows` as a structure, with the weights and factors that `over` has for its nodes and edges.

    stored: where each drawn edge stands in `over`; asked for where edges have weights.
    """

    def pick(values: Tensor | None, where: Tensor | None) -> Tensor | None:
        return None if values is None or where is None else take_rows(values, where)

    piece = Sparse(
        num_targets=len(nodes),
        num_sources=len(nodes),
        rows=rows,
        weight=pick(over.weight, stored),
        scale_target=pick(over.scale_target, nodes),
        scale_source=pick(over.scale_source, nodes),
        normalization=over.normalization,
    )
    return Sample(nodes, piece, sizes)
