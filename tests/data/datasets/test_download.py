"""Fetching from a real server that breaks off, lies, dawdles or sends something else."""

import io
import re
import socket
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from weft.data.datasets import DownloadError
from weft.data.datasets.download import PAUSES, SLOWEST, download
from weft.errors import DataError

PLACE = "$WEFT_DATA/example/example.bin"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "example" / "example.bin"


@pytest.fixture
def part(target: Path) -> Path:
    target.parent.mkdir(parents=True)
    return target.with_name("example.bin.part")


def fetch(server, target, timeout=5.0, **changes):
    download(server.file(**changes), target, PLACE, timeout=timeout, pauses=(0.0, 0.0))


def refused(server, target, **settings) -> str:
    """What a user is told, who always learns which file it is, where it was sought and where to put it."""
    with pytest.raises(DownloadError) as error:
        fetch(server, target, **settings)
    told = str(error.value)
    assert isinstance(error.value, DataError) and not target.exists()
    assert told.startswith("datasets: http://127.0.0.1:") and "example.bin (" in told
    assert told.endswith(f"by other means and put it into {PLACE}.")
    return told


@pytest.mark.parametrize("way", ["whole", "no length", "lies"])
def test_a_file_comes_whole_and_nothing_is_left_beside_it(server, target, way):
    server.ways = [way]
    fetch(server, target)
    assert target.read_bytes() == server.body
    assert [path.name for path in target.parent.iterdir()] == ["example.bin"]


def test_one_request_is_enough(server, target):
    fetch(server, target)
    assert server.ranges == [None]


def test_the_pauses_grow():
    assert all(a < b for a, b in pairwise(PAUSES)) and len(PAUSES) == 2


@pytest.mark.parametrize("code", ["400", "403", "404", "410"])
def test_a_refusal_is_final(server, target, code):
    server.ways = [code]
    assert f"answered {code}" in refused(server, target)
    assert len(server.ranges) == 1


@pytest.mark.parametrize("code", ["408", "429", "500", "503"])
def test_a_busy_server_is_asked_three_times(server, target, code):
    server.ways = [code]
    assert re.search(rf"answered {code} .* in 3 tries\. Try again later", refused(server, target))
    assert len(server.ranges) == 3


def test_a_server_that_was_busy_is_forgiven(server, target):
    server.ways = ["503", "500", "whole"]
    fetch(server, target)
    assert target.read_bytes() == server.body


@pytest.mark.parametrize("way", ["cut", "no length, cut"])
def test_what_breaks_off_goes_on_where_it_ended(server, target, way):
    server.ways = [way, "whole"]
    fetch(server, target)
    assert target.read_bytes() == server.body
    assert server.ranges == [None, "bytes=50000-"]


def test_what_breaks_off_every_time_is_kept_for_the_next_call(server, target):
    server.ways = ["cut"]
    assert "ended after 87,500 of 100,000 bytes, in 3 tries. Try again later: what has come is kept" in refused(server, target)
    server.ways = ["whole"]
    fetch(server, target)
    assert target.read_bytes() == server.body
    assert server.ranges == [None, "bytes=50000-", "bytes=75000-", "bytes=87500-"]


def test_a_part_from_an_earlier_call_is_gone_on_with(server, target, part):
    part.write_bytes(server.body[:12345])
    fetch(server, target)
    assert target.read_bytes() == server.body and server.ranges == ["bytes=12345-"]


def test_a_server_without_ranges_sends_everything_again(server, target, part):
    part.write_bytes(server.body[:12345])
    server.ways = ["no ranges"]
    fetch(server, target)
    assert target.read_bytes() == server.body and server.ranges == ["bytes=12345-"]


def test_a_server_that_sends_another_piece_is_asked_for_everything(server, target, part):
    part.write_bytes(server.body[:12345])
    server.ways = ["wrong piece", "whole"]
    fetch(server, target)
    assert target.read_bytes() == server.body and server.ranges == ["bytes=12345-", None]


def test_a_part_that_is_whole_needs_no_server(server, target, part):
    part.write_bytes(server.body)
    fetch(server, target)
    assert target.read_bytes() == server.body and server.ranges == []


@pytest.mark.parametrize("size", [100, 99_999, 100_000, 100_001, 500_000])
def test_a_part_of_another_file_is_thrown_away(server, target, part, size):
    part.write_bytes(b"?" * size)
    fetch(server, target)
    assert target.read_bytes() == server.body and server.ranges[-1] is None


def test_other_bytes_are_removed_and_both_sums_are_told(server, target, part):
    server.ways = ["corrupted"]
    told = refused(server, target)
    sums = re.search(r"100,000 bytes and sha256 (\w{64}), where 100,000 bytes and sha256 (\w{64})", told)
    assert sums is not None and sums[1] != sums[2] == server.file().sha256 and "was removed" in told
    assert not part.exists() and len(server.ranges) == 1


def test_a_page_in_place_of_a_file_is_refused(server, target, part):
    server.ways = ["page"]
    assert "sent something else: what came has 6 bytes" in refused(server, target)
    assert not part.exists()


def test_a_server_that_never_ends_is_left(server, target):
    server.ways = ["endless"]
    assert "sent more than the 100,000 bytes" in refused(server, target)


def test_a_silent_server_is_given_up(server, target):
    server.ways = ["silent"]
    assert "was too slow: nothing came for 0.1 s" in refused(server, target, timeout=0.1)
    assert len(server.ranges) == 3


def test_a_server_that_drips_is_given_up_and_what_came_is_kept(server, target, part):
    server.body, server.ways = server.body[:200], ["drips"]
    assert len(server.body) / SLOWEST + 0.3 < len(server.body) * 0.02
    assert f"less than {SLOWEST:,} bytes a second" in refused(server, target, timeout=0.3)
    assert 0 < len(part.read_bytes()) < 200 and server.body.startswith(part.read_bytes())


def test_no_server_at_all(server, target):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        told = refused(server, target, url=f"http://127.0.0.1:{free.getsockname()[1]}/example.bin")
    assert "cannot be reached" in told and "connection to the internet" in told and "in 3 tries" in told


def test_a_name_that_does_not_exist(server, target):
    with pytest.raises(DownloadError, match="cannot be reached"):
        fetch(server, target, url="http://example.invalid/example.bin")


def test_a_server_that_speaks_another_language(target, server):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _ in range(3):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"SSH-2.0\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        told = refused(server, target, url=f"http://127.0.0.1:{listener.getsockname()[1]}/example.bin")
        thread.join()
    assert "broke off" in told


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    told = refused(server, tmp_path / "file" / "example.bin")
    assert "cannot be written to" in told and "$WEFT_CACHE" in told


def test_a_folder_in_the_place_of_the_file_is_named(server, target):
    target.mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"cannot be written to .*example\.bin .*\$WEFT_CACHE"):
        fetch(server, target)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named(server, target, part):
    part.symlink_to("/dev/full")
    assert re.search(r"cannot be written to .* \(No space left on device\)\. Make room there", refused(server, target))


def test_two_at_once_both_find_the_file(server, target):
    failures: list[BaseException] = []

    def run() -> None:
        try:
            fetch(server, target)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and target.read_bytes() == server.body


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_where_somebody_looks(server, target, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    fetch(server, target)
    assert "fetching example.bin" in shown.getvalue()


def test_nothing_is_shown_elsewhere(server, target, capfd):
    fetch(server, target)
    assert capfd.readouterr() == ("", "")
