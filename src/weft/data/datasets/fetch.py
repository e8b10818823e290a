"""Where a published file is: in the user's folder of data, in the cache, or still on the publisher's server."""

import os
from collections.abc import Sequence
from pathlib import Path

from weft.data.datasets.download import PAUSES, TIMEOUT, download
from weft.data.datasets.info import File
from weft.data.datasets.verify import trouble_once
from weft.errors import DataError


def locate(folder: str, file: File, *, timeout: float = TIMEOUT, pauses: Sequence[float] = PAUSES) -> Path:
    """The path of a file of the dataset `folder`, fetched if it is nowhere yet; what is found is checked before it is used.

    `$WEFT_DATA/folder/file` comes first, and a wrong file there is left as it is; then `cache_folder()/folder/file`,
    where a wrong one is replaced.
    """
    given = os.environ.get("WEFT_DATA")
    if given:
        path = Path(given) / folder / file.name
        if os.path.lexists(path):
            wrong = trouble_once(path, file)
            if wrong is not None:
                raise DataError(
                    f"{path}: the file {wrong}. Put the published one there, or take this one away: then it is fetched from "
                    f"{file.url}."
                )
            return path
    kept = cache_folder() / folder / file.name
    if not kept.exists() or trouble_once(kept, file) is not None:
        download(file, kept, f"$WEFT_DATA/{folder}/{file.name}", timeout=timeout, pauses=pauses)
    return kept


def cache_folder() -> Path:
    """Where fetched files are kept: `$WEFT_CACHE`, else `weft` in the user's folder of caches."""
    named = os.environ.get("WEFT_CACHE")
    if named:
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "weft"
