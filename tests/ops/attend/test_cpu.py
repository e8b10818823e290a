"""Compiled kernels are found again: another process compiles nothing."""

import subprocess
import sys

CALLS = """
import torch
from weft.ops import aggregate, attend
from weft.structure import Sparse
over = Sparse.from_edges([0, 1, 2, 0], [1, 2, 1, 0], 3)
x = torch.randn(3, 2, 5, requires_grad=True)
(attend(x, x, x, over) + aggregate(x, over)).sum().backward()
"""

LISTENER = """
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
"""


def test_another_process_compiles_nothing():
    exec(CALLS, {})
    another = subprocess.run([sys.executable, "-c", LISTENER + CALLS], capture_output=True, text=True, check=True)
    assert another.stdout == ""
