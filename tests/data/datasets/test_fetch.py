"""Where a file is sought, in which order, and what is done about a wrong one."""

from pathlib import Path

import pytest

from weft.data.datasets import DownloadError
from weft.data.datasets.fetch import cache_folder, locate
from weft.errors import DataError


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the file in the user's own folder."""
    monkeypatch.setenv("WEFT_DATA", str(tmp_path / "given"))
    (tmp_path / "given" / "example").mkdir(parents=True)
    return tmp_path / "given" / "example" / "example.bin"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the file in the cache."""
    monkeypatch.delenv("WEFT_DATA", raising=False)
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "example" / "example.bin"


def test_the_users_own_folder_comes_first(server, given, kept):
    given.write_bytes(server.body)
    kept.parent.mkdir(parents=True)
    kept.write_bytes(server.body)
    assert locate("example", server.file()) == given and server.ranges == []


def test_then_the_cache(server, given, kept):
    kept.parent.mkdir(parents=True)
    kept.write_bytes(server.body)
    assert locate("example", server.file()) == kept and server.ranges == []


def test_then_the_server_once(server, kept):
    assert locate("example", server.file()) == kept == locate("example", server.file())
    assert kept.read_bytes() == server.body and server.ranges == [None]


@pytest.mark.parametrize("body", [b"", b"other bytes", bytes(100_000)], ids=["empty", "shorter", "as long"])
def test_a_wrong_file_of_the_user_is_named_and_left(server, given, body):
    given.write_bytes(body)
    with pytest.raises(DataError, match=f"has {len(body):,} bytes and sha256") as error:
        locate("example", server.file())
    assert str(given) in str(error.value) and server.url in str(error.value)
    assert given.read_bytes() == body and server.ranges == []


def test_a_file_of_the_user_that_is_put_right_is_taken(server, given):
    given.write_bytes(bytes(100_000))
    with pytest.raises(DataError):
        locate("example", server.file())
    given.unlink()
    given.write_bytes(server.body)
    assert locate("example", server.file()) == given


def test_a_file_is_checked_once_per_process(server, given, monkeypatch):
    given.write_bytes(server.body)
    locate("example", server.file())
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("read again"))
    assert locate("example", server.file()) == given


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("nowhere")], ids=["folder", "dangling link"])
def test_what_is_no_file_is_named(server, given, make):
    make(given)
    with pytest.raises(DataError, match=r"example\.bin: the file cannot be read"):
        locate("example", server.file())


def test_a_wrong_file_in_the_cache_is_replaced(server, kept):
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"damaged")
    assert locate("example", server.file()).read_bytes() == server.body


def test_an_error_says_where_to_put_the_file(server):
    server.ways = ["404"]
    with pytest.raises(DownloadError, match=r"put it into \$WEFT_DATA/example/example\.bin\."):
        locate("example", server.file())


def test_settings_go_through(server):
    server.ways = ["silent"]
    with pytest.raises(DownloadError, match=r"nothing came for 0\.05 s.*in one try"):
        locate("example", server.file(), timeout=0.05, pauses=())


def test_the_cache_is_where_the_system_has_its_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("WEFT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "weft"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == Path.home() / ".cache" / "weft"
