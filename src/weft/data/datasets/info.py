"""What is known of a dataset before any of it is here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A published file: its name, its size and sha256, and where it can be fetched.

    Where the publisher's bytes may be laid out in another way than those the sums were taken of, `content` is the sum
    of what is in it: a file with the same content is the same file.
    """

    name: str
    bytes: int
    sha256: str
    url: str
    content: str | None = None


@dataclass(frozen=True, kw_only=True)
class Info:
    """A dataset in figures and in words: edges are undirected, each counted once, and no loops among them.

    licence as its source states it · citation who is to be thanked · protocol how results on it are had · files none
    if nothing has to be fetched

    >>> from weft.data import datasets
    >>> datasets.info("cora").classes
    7
    """

    name: str
    title: str
    nodes: int
    edges: int
    classes: int
    licence: str
    citation: str
    protocol: str
    files: tuple[File, ...] = ()
