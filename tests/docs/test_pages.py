"""Every Python block of the pages runs, one after the other; every file they name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "STYLE.md"])
def test_examples_run(page: str, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", ["README.md", "STYLE.md", "CONTRIBUTING.md"])
def test_named_files_exist(page: str):
    named = re.findall(r"`((?:nn|ops|structure|tests|docs|benchmarks)/[\w/.]+)`", (ROOT / page).read_text())
    for path in named:
        assert (ROOT / path).exists() or (ROOT / "src" / "weft" / path).exists(), path
