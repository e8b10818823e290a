"""Servers that behave badly on purpose, pickles as Python 2 wrote them, and small files of every kind."""

import copyreg
import hashlib
import io
import os
import pickle
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weft.data.datasets import File


@dataclass
class Server:
    """What is served, how each request is treated, and what was asked for: ways are used up from the front, the last stays."""

    body: bytes
    port: int = 0
    ways: list[str] = field(default_factory=lambda: ["whole"])
    ranges: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/example.bin"

    def file(self, **changes: Any) -> File:
        known = {"bytes": len(self.body), "sha256": hashlib.sha256(self.body).hexdigest(), "url": self.url}
        return File(**{"name": "example.bin", **known, **changes})

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
        if way.isdigit():
            request.send_error(int(way))
            return
        begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and way != "no ranges" else 0
        if asked and begin >= len(self.body):
            request.send_error(416)
            return
        body = {"corrupted": bytes(len(self.body)), "endless": self.body * 2, "page": b"<html>"}.get(way, self.body)[begin:]
        request.send_response(206 if begin else 200)
        if begin:
            first = begin + 1 if way == "wrong piece" else begin
            request.send_header("Content-Range", f"bytes {first}-{len(self.body) - 1}/{len(self.body)}")
        if way not in ("no length", "no length, cut"):
            request.send_header("Content-Length", str(len(body) + (100 if way == "lies" else 0)))
        request.end_headers()
        if way == "silent":
            time.sleep(1)
        elif way == "drips":
            for at in range(len(body)):
                request.wfile.write(body[at : at + 1])
                time.sleep(0.02)
        else:
            request.wfile.write(body[: len(body) // 2] if way.endswith("cut") else body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    served = Server(os.urandom(1000) * 100)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                served.answer(self)
            except ConnectionError:
                return  # who asked has gone

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class calls it so)
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        served.port = http.server_port
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        http.shutdown()
        thread.join()


class Python2Pickler(pickle._Pickler):
    """Protocol 2 as Python 2 wrote it: bytes and text are one type, and the libraries' modules have their old names."""

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)
    MODULES: ClassVar[dict[tuple[str, str], str]] = {
        ("numpy._core.multiarray", "_reconstruct"): "numpy.core.multiarray",
        ("scipy.sparse._csr", "csr_matrix"): "scipy.sparse.csr",
        ("builtins", "list"): "__builtin__",
    }

    def save_text(self, text: str | bytes) -> None:
        data = text if isinstance(text, bytes) else text.encode("latin1")
        self.write(pickle.BINSTRING + len(data).to_bytes(4, "little") + data)
        self.memoize(text)

    def save_name(self, thing: Any, name: str | None = None) -> None:
        name = name or thing.__qualname__
        module = self.MODULES.get((thing.__module__, name), thing.__module__)
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(thing)

    save_global = save_name
    dispatch[str] = dispatch[bytes] = save_text
    dispatch[type] = dispatch[type(len)] = save_name

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, csr_matrix):
            return NotImplemented
        state = {"format": "csr", "_shape": value.shape, "maxprint": 50}
        state |= {"indptr": value.indptr, "indices": value.indices, "data": value.data}
        return copyreg.__newobj__, (csr_matrix,), state


def pickled(value: Any) -> bytes:
    stream = io.BytesIO()
    Python2Pickler(stream, 2).dump(value)
    return stream.getvalue()


@pytest.fixture
def as_python2() -> Callable[[Any], bytes]:
    return pickled


Parts = dict[str, Any]
Write = Callable[..., dict[str, Path]]


@pytest.fixture
def tiny_planetoid() -> Parts:
    """Nine nodes of two classes: 0 to 4 in allx, tests 7, 5, 8 in this order, 6 left out; five links and a loop at 3."""
    allx = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], np.float32)
    tx = np.array([[7, 0, 0], [5, 0, 0], [8, 0, 0]], np.float32)
    ally = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], np.int32)
    ty = np.array([[0, 1], [1, 0], [0, 1]], np.int32)
    graph = defaultdict(list, {0: [1], 1: [0, 2, 2], 2: [7, 1, 4], 3: [3], 5: [8], 7: [2], 8: [5]})
    parts: Parts = {"x": csr_matrix(allx[:2]), "y": ally[:2], "allx": csr_matrix(allx), "ally": ally}
    return parts | {"tx": csr_matrix(tx), "ty": ty, "graph": graph, "test.index": b"7\n5\n8\n"}


@pytest.fixture
def write_planetoid(tmp_path: Path, tiny_planetoid: Parts) -> Write:
    """Write the parts of a dataset called tiny, changed where they are told; bytes are written as they are."""

    def write(**changes: Any) -> dict[str, Path]:
        paths: dict[str, Path] = {}
        for part, value in (tiny_planetoid | {name.replace("_", "."): value for name, value in changes.items()}).items():
            paths[f"ind.tiny.{part}"] = path = tmp_path / f"ind.tiny.{part}"
            path.write_bytes(value if isinstance(value, bytes) else pickled(value))
        return paths

    return write
