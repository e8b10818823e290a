"""`weft reproduce`, run as its user runs it."""

import json
import os
import subprocess
import sys

import pytest

from weft.reproduce import names
from weft.reproduce.runner import kept


def weft(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "weft", "reproduce", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_all_studies_are_listed():
    lines = weft().stdout.splitlines()
    assert [line.split()[0] for line in lines] == names() and any("reproduced" in line for line in lines)
    told = json.loads(weft("--json").stdout)["studies"]
    assert [each["study"] for each in told] == names()


def test_pages_are_written_and_named(tmp_path):
    told = json.loads(weft("--pages", tmp_path / "pages", "--json").stdout)["pages"]
    assert len(told) == 1 + sum(kept(name) is not None for name in names())
    assert sorted(told) == sorted(str(path) for path in (tmp_path / "pages").iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("kipf2017_gcn_coda",), 1, ["no study", "Did you mean 'kipf2017_gcn_cora'?"]),
        (("--seeds", "3"), 2, ["none is named", "weft reproduce NAME"]),
        (("--out", "x"), 2, ["none is named"]),
        (("cora-board", "--pages", "x"), 2, ["--pages", "use --out"]),
    ],
)
def test_what_is_wrong_is_said(arguments, code, words):
    said = weft(*arguments, code=code).stderr
    assert all(word in said for word in words), said


@pytest.mark.skipif("WEFT_DATA" not in os.environ, reason="needs the published files of Cora: set WEFT_DATA")
def test_a_study_leaves_its_result_and_its_page(tmp_path):
    name = "zhu2002_label_propagation_cora"
    done = weft(name.replace("_", "-"), "--out", tmp_path)
    assert "  seed 0: " in done.stdout and "deviation: " in done.stdout and done.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.html", f"{name}.json"]
    (value,) = json.loads((tmp_path / f"{name}.json").read_text())["values"]
    assert f"{value:.2f}" in (tmp_path / f"{name}.html").read_text()
