"""Datasets by name: what they are, and the graph itself, fetched and checked when it is asked for."""

from weft.data.datasets import benchmark_npz, digits, planetoid, tolokers
from weft.data.datasets.catalogue import CATALOGUE
from weft.data.datasets.digits import write_digits
from weft.data.datasets.download import DownloadError
from weft.data.datasets.fetch import locate
from weft.data.datasets.info import File, Info
from weft.data.graph import Graph
from weft.errors import WeftValueError, did_you_mean

__all__ = ["DownloadError", "File", "Info", "get", "info", "names", "write_digits"]

_READ = {
    "amazon-photo": benchmark_npz.read,
    "coauthor-cs": benchmark_npz.read,
    "cora": planetoid.read,
    "pubmed": planetoid.read,
    "tolokers": tolokers.read,
}


def names() -> list[str]:
    """Every dataset there is.

    >>> names()
    ['amazon-photo', 'coauthor-cs', 'cora', 'digits', 'pubmed', 'tolokers']
    """
    return sorted(CATALOGUE)


def info(name: str) -> Info:
    """What is known of a dataset, without fetching any of it.

    >>> info("pubmed").nodes
    19717
    """
    if name not in CATALOGUE:
        hint = did_you_mean(str(name), CATALOGUE)
        raise WeftValueError(f"datasets: there is none called {name!r}.{hint} All: {', '.join(names())}.")
    return CATALOGUE[name]


def get(name: str) -> Graph:
    """The graph of a dataset, from `$WEFT_DATA`, from the cache, or fetched now; features as they were published.

    >>> get("digits").num_nodes
    1797
    """
    known = info(name)
    if name == "digits":
        return digits.read()
    return _READ[name]({file.name: locate(name, file) for file in known.files}, name)
