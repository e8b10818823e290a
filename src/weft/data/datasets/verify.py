"""Whether a file is the one that was published: its size and its sum, or the sum of its content."""

from functools import cache
from hashlib import file_digest
from pathlib import Path

from weft.data.datasets.benchmark_npz import content_of
from weft.data.datasets.info import File
from weft.data.table import first_line
from weft.errors import DataError


def trouble(path: Path, file: File) -> str | None:
    """What is wrong with a file, as part of a sentence."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            found = file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read ({first_line(error)})"
    if found == file.sha256 and size == file.bytes:
        return None
    if file.content is None:
        return f"has {size:,} bytes and sha256 {found}, where {file.bytes:,} bytes and sha256 {file.sha256} are expected"
    try:
        content = content_of(path)
    except DataError as error:
        return f"has {size:,} bytes and sha256 {found}, and does not hold the data ({first_line(error)})"
    if content == file.content:
        return None
    return f"holds other data: what is in it has sha256 {content}, where {file.content} is expected"


def trouble_once(path: Path, file: File) -> str | None:
    """The same, looked into once per process unless the file changes."""
    try:
        known = path.stat()
    except OSError as error:
        return f"cannot be read ({first_line(error)})"
    return _remembered(path, file, (known.st_size, known.st_ino, known.st_mtime_ns, known.st_ctime_ns))


@cache
def _remembered(path: Path, file: File, state: tuple[int, ...]) -> str | None:
    return trouble(path, file)
