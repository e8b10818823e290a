"""Pickles of data are read to the last number; pickles of anything else are refused before a line of them runs."""

import builtins
import functools
import operator
import os
import pickle
import pickletools
import subprocess
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from weft.data.datasets.pickles import read_array, read_lists, read_matrix
from weft.errors import DataError

READERS = (read_array, read_matrix, read_lists)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ind.tiny.x"


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_comes_back(path, as_python2, dtype, order):
    array = np.asarray(np.arange(-6, 6).reshape(3, 4), dtype, order=order)
    path.write_bytes(as_python2(array))
    found = read_array(path)
    assert found.dtype == array.dtype and found.tolist() == array.tolist()


def test_a_sparse_matrix_comes_back(path, as_python2):
    matrix = csr_matrix(random_array((7, 5), density=0.4, rng=np.random.default_rng(0)), dtype=np.float32)
    path.write_bytes(as_python2(matrix))
    assert np.array_equal(read_matrix(path).dense(), matrix.toarray())


def test_lists_come_back(path, as_python2):
    path.write_bytes(as_python2(defaultdict(list, {0: [1, 2], 70000: [0]})))
    assert read_lists(path) == {0: [1, 2], 70000: [0]}


def test_no_file_asks_for_more_than_six_names(path, as_python2):
    for value in (np.zeros(3), csr_matrix(np.eye(2)), defaultdict(list, {0: [1]})):
        names = {arg for code, arg, _ in pickletools.genops(as_python2(value)) if code.name == "GLOBAL"}
        assert names <= {
            "numpy.core.multiarray _reconstruct",
            "numpy ndarray",
            "numpy dtype",
            "scipy.sparse.csr csr_matrix",
            "collections defaultdict",
            "__builtin__ list",
        }


class Call:
    """Pickles as a call of something with something."""

    def __init__(self, function: Any, *values: Any):
        self.told = function, values

    def __reduce__(self) -> tuple[Any, ...]:
        return self.told


def canary(folder: Path) -> Path:
    return folder / "canary"


EVIL = {
    "os.system": lambda to: Call(os.system, f"touch {to}"),
    "eval": lambda to: Call(eval, f"open({str(to)!r}, 'w')"),
    "exec": lambda to: Call(exec, f"open({str(to)!r}, 'w')"),
    "open": lambda to: Call(open, str(to), "w"),
    "__import__": lambda to: Call(__import__, "antigravity"),
    "subprocess": lambda to: Call(subprocess.call, ["touch", str(to)]),
    "Popen": lambda to: Call(subprocess.Popen, ["touch", str(to)]),
    "functools.partial": lambda to: Call(functools.partial, os.system, f"touch {to}"),
    "functools.reduce": lambda to: Call(functools.reduce, os.system, [f"touch {to}"]),
    "getattr of getattr": lambda to: Call(functools.reduce, getattr, ["system"], Call(getattr, Call(__import__, "os"), "path")),
    "getattr": lambda to: Call(getattr, "text", "format"),
    "operator.attrgetter": lambda to: Call(operator.attrgetter, "__class__.__base__"),
    "Path.touch": lambda to: Call(Path.touch, to),
    "numpy.fromfile": lambda to: Call(np.fromfile, str(to)),
    "numpy.save": lambda to: Call(np.save, str(to), [1]),
    "numpy.memmap": lambda to: Call(np.memmap, str(to), "u1", "w+", 0, (8,)),
    "numpy.load": lambda to: Call(np.load, str(to)),
    "numpy.zeros": lambda to: Call(np.zeros, (3,)),
    "numpy.apply_along_axis": lambda to: Call(np.apply_along_axis, os.system, 0, [f"touch {to}"]),
    "OrderedDict": lambda to: OrderedDict(a=1),
    "a list of harmless things, then a call": lambda to: [np.arange(3), csr_matrix(np.eye(2)), Call(os.system, f"touch {to}")],
}


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_any_other_name_is_refused_and_nothing_runs(path, evil, protocol):
    path.write_bytes(pickle.dumps(evil(canary(path.parent)), protocol))
    for read in READERS:
        with pytest.raises(DataError, match=r"ind\.tiny\.x: the pickle asks for .*Nothing of it was run"):
            read(path)
    assert not canary(path.parent).exists()


def test_the_canary_would_have_sung(path):
    pickle.loads(pickle.dumps(EVIL["open"](canary(path.parent)))).close()
    assert canary(path.parent).exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (b"cos\nsystem\n", "os.system"),
        (b"cposix\nsystem\n", "posix.system"),
        (b"c__builtin__\neval\n", "__builtin__.eval"),
        (b"cbuiltins\nlist\n", "builtins.list"),
        (b"cnumpy\nndarray.tofile\n", "numpy.ndarray.tofile"),
        (b"cnumpy.core.multiarray\nfromfile\n", "fromfile"),
        (b"cscipy.sparse.csr\ncsr_matrix.__init__.__globals__\n", "__globals__"),
        (b"c_codecs\nencode\n", "_codecs.encode"),
        (b"\x8c\x02os\x8c\x06system\x93", "os.system"),
        (b"(ios\nsystem\n", "os.system"),
    ],
)
def test_names_are_refused_in_every_spelling(path, name, told):
    path.write_bytes(name + b"(S'exit 1'\ntR.")
    with pytest.raises(DataError) as refused:
        read_array(path)
    assert told in str(refused.value)


ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"
MISUSED = {
    "ndarray is called": b"cnumpy\nndarray\n(I3\ntR.",
    "list is called": b"c__builtin__\nlist\n(tR.",
    "an array of a dtype": ARRAY + b"(cnumpy\ndtype\n(I0\ntS'b'\ntR.",
    "an array of too few words": ARRAY + b"(tR.",
    "an array without a state": ARRAY + b"(cnumpy\nndarray\n(I0\ntS'b'\ntR.",
    "a dictionary of calls": b"ccollections\ndefaultdict\n(cnumpy\ndtype\ntR.",
    "a dictionary with attributes": b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntR}S'a'\nI1\nsb.",
    "attributes of a class": b"cscipy.sparse.csr\ncsr_matrix\n(N}S'__init__'\nI1\nstb.",
    "attributes of what makes arrays": ARRAY + b"(N}S'__defaults__'\nI1\nstb.",
    "attributes of a dtype's class": b"cnumpy\ndtype\n(N}S'__call__'\nI1\nstb.",
    "attributes of text": b"cnumpy\nndarray\n(N}S'__call__'\nI1\nstb.",
    "a persistent id": b"Pos.system\n.",
    "an extension": b"\x82\x01.",
    "a matrix without parts": b"cscipy.sparse.csr\ncsr_matrix\n)\x81}b.",
    "a matrix of no dictionary": b"cscipy.sparse.csr\ncsr_matrix\n)\x81(I1\ntb.",
    "nothing": b"",
    "a number": b"I1\n.",
    "no pickle": b"<!DOCTYPE html>",
    "an end too soon": b"(I1\n",
    "a reference to nothing": b"g9\n.",
    "itself": b"(lp0\ng0\na.",
}


@pytest.mark.parametrize("text", MISUSED.values(), ids=MISUSED)
def test_misused_names_and_damaged_pickles_are_errors_that_name_the_file(path, text):
    path.write_bytes(text)
    for read in READERS:
        with pytest.raises(DataError, match=r"ind\.tiny\.x: .*fetch it again"):
            read(path)


def test_the_records_stay_as_they_are(path):
    from weft.data.datasets import pickles

    before = {kind: dict(vars(kind)) for kind in (pickles._Array, pickles._Dtype, pickles._Matrix, pickles._Lists)}
    test_misused_names_and_damaged_pickles_are_errors_that_name_the_file(path, MISUSED["attributes of what makes arrays"])
    assert all(dict(vars(kind)) == known for kind, known in before.items())
    assert builtins.list is list


@pytest.mark.parametrize(
    "values", [np.array([1 + 2j]), np.array(["a"]), np.array([None]), np.zeros(2, ">i4"), np.zeros(2, "i4,f4")]
)
def test_elements_of_other_types_are_refused(path, as_python2, values):
    path.write_bytes(as_python2(values))
    with pytest.raises(DataError, match=r"ind\.tiny\.x: "):
        read_array(path)


@pytest.mark.parametrize("cut", [1, 10, 100, 200])
def test_a_truncated_pickle_is_an_error_that_names_the_file(path, as_python2, cut):
    path.write_bytes(as_python2(csr_matrix(np.eye(9)))[:-cut])
    with pytest.raises(DataError, match=r"ind\.tiny\.x: "):
        read_matrix(path)


def test_every_reader_says_what_it_found_instead(path, as_python2):
    path.write_bytes(as_python2(np.zeros(2)))
    with pytest.raises(DataError, match="expected a sparse matrix, but the pickle holds an array"):
        read_matrix(path)
    with pytest.raises(DataError, match="expected a dictionary of lists, but the pickle holds an array"):
        read_lists(path)


@pytest.mark.parametrize("lists", [{"a": [1]}, {1: "text"}, {1: [1.5]}, {1: [[]]}, {True: [1]}])
def test_lists_of_other_things_are_refused(path, as_python2, lists):
    path.write_bytes(as_python2(defaultdict(list, lists)))
    with pytest.raises(DataError, match=r"ind\.tiny\.x: expected lists of whole numbers by number"):
        read_lists(path)


def test_a_missing_file_is_an_error_that_names_the_file(path):
    with pytest.raises(DataError, match=r"ind\.tiny\.x: cannot be read"):
        read_array(path)
