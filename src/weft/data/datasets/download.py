"""One file over HTTP: resumed where it was left, checked before it gets its name, and every failure in a sentence.

What has come is kept beside the target as `NAME.part`; one process at a time works on it, others wait for what it gets.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from weft.data.datasets.info import File
from weft.data.datasets.verify import trouble
from weft.data.table import first_line
from weft.errors import DataError

TIMEOUT, PAUSES = 30.0, (1.0, 4.0)
SLOWEST = 2000
"""Bytes a second; what comes more slowly than this all the way is given up."""
BLOCK = 1 << 16
BUSY = (408, 425, 429)


class DownloadError(DataError):
    """A file that could not be fetched."""


class _PassingError(Exception):
    """What came of one try, where another may go better."""


def download(file: File, target: Path, place: str, *, timeout: float = TIMEOUT, pauses: Sequence[float] = PAUSES) -> None:
    """Fetch a file to a path; `place` is where users can put it themselves. There is one try more than there are pauses."""
    part = target.with_name(target.name + ".part")
    told = ""
    try:
        with _writing(target):
            part.parent.mkdir(parents=True, exist_ok=True)
        with _alone(part.parent):
            if target.is_file() and trouble(target, file) is None:
                return  # who was here before has fetched it
            for pause in (0.0, *pauses):
                time.sleep(pause)
                try:
                    _try(file, part, timeout)
                    with _writing(target):
                        part.replace(target)
                    return
                except _PassingError as error:
                    told = str(error)
    except DownloadError as error:
        raise DownloadError(f"datasets: {file.url} {error}. Get {_advice(file, place)}") from None
    tries = f"in {len(pauses) + 1} tries" if pauses else "in one try"
    again = "Try again later: what has come is kept." if part.exists() else "Try again later."
    raise DownloadError(f"datasets: {file.url} {told}, {tries}. {again} Or get {_advice(file, place)}")


def _advice(file: File, place: str) -> str:
    return f"{file.name} ({file.bytes:,} bytes, sha256 {file.sha256}) by other means and put it into {place}."


def _try(file: File, part: Path, timeout: float) -> None:
    """Fetch what is missing, and leave the whole file in `part`; messages go on where an address stands."""
    have = _size(part)
    resumed = have > 0
    if have != file.bytes or trouble(part, file) is not None:
        resumed = _receive(file, part, have, timeout)
    wrong = trouble(part, file)
    if wrong is None:
        return
    _remove(part)
    if resumed:  # the beginning may be of another file than the end
        raise _PassingError(f"went on with the beginning of another file: what came {wrong}, and was removed")
    raise DownloadError(f"sent something else: what came {wrong}, and was removed")


def _receive(file: File, part: Path, have: int, timeout: float) -> bool:
    """One request, and whether the server went on where `part` ends."""
    headers = {"User-Agent": "weft"} | ({"Range": f"bytes={have}-"} if have else {})
    until = time.monotonic() + timeout + file.bytes / SLOWEST
    try:
        with cast(HTTPResponse, urlopen(Request(file.url, headers=headers), timeout=timeout)) as answer:
            resumed = answer.status == 206
            if resumed and not (answer.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
                _remove(part)
                raise _PassingError(f"sent another piece than the one from byte {have:,} on")
            _copy(answer, file, part, have if resumed else 0, until)
            return resumed
    except HTTPError as error:
        error.close()
        what = f"answered {error.code} ({error.reason})"
        if error.code == 416:  # nothing follows what is here, and that is not the file
            _remove(part)
            raise _PassingError(what) from None
        if error.code >= 500 or error.code in BUSY:
            raise _PassingError(what) from None
        raise DownloadError(what) from None
    except TimeoutError:
        raise _PassingError(_slow(timeout)) from None
    except URLError as error:
        reason = error.reason
        if isinstance(reason, TimeoutError):
            raise _PassingError(_slow(timeout)) from None
        said = first_line(reason) if isinstance(reason, BaseException) else reason
        raise _PassingError(f"cannot be reached ({said}; is there a connection to the internet?)") from None
    except (OSError, HTTPException) as error:
        raise _PassingError(f"broke off ({first_line(error)})") from None


def _copy(answer: HTTPResponse, file: File, part: Path, begin: int, until: float) -> None:
    exact = file.content is None
    size = begin + answer.length if answer.length is not None else file.bytes if exact else None
    most = file.bytes if exact else 4 * file.bytes  # no server fills the disk
    at = begin
    with _writing(part):
        stream = part.open("ab" if begin else "wb")
    with stream, _bar(file.name, size) as moved:
        while at != size:
            block = answer.read1(BLOCK)
            if not block:
                break
            at += len(block)
            if at > most:
                raise DownloadError(f"sent more than the {most:,} bytes that were expected")
            with _writing(part):
                stream.write(block)
                stream.flush()
            moved(at)
            if time.monotonic() > until:
                raise TimeoutError
    if size is not None and at < size:
        raise _PassingError(f"ended after {at:,} of {size:,} bytes")


def _slow(timeout: float) -> str:
    return f"was too slow: nothing came for {timeout:g} s, or less than {SLOWEST:,} bytes a second all the way"


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"cannot be written to {path} ({error.strerror or error}). Make room there or name another folder: $WEFT_CACHE"
        ) from None


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Until the processes that fetch into this folder are done; on systems that lock no folders, nobody waits."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with _writing(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _size(part: Path) -> int:
    with _writing(part):
        return part.stat().st_size if part.exists() else 0


def _remove(part: Path) -> None:
    with _writing(part):
        part.unlink(missing_ok=True)


@contextmanager
def _bar(name: str, size: int | None) -> Generator[Callable[[int], object]]:
    """A moving line on standard error, where somebody looks."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda at: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("fetching {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=size)
        yield lambda at: progress.update(task, completed=at)
