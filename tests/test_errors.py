"""The tree of errors is the one its docstring draws, and each is also what Python would have raised."""

import re

import pytest

from weft import errors

CLASSES = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and kind.__module__ == errors.__name__}
PYTHONS = ("ValueError", "TypeError", "AttributeError", "FileNotFoundError")


def test_the_docstring_names_every_error_and_no_other():
    drawn = re.findall(r"(\w*Error)\b", errors.__doc__ or "")
    assert {name for name in drawn if name not in PYTHONS} == CLASSES.keys()


@pytest.mark.parametrize("name", CLASSES)
def test_each_is_a_weft_error_that_says_what_it_is(name):
    assert issubclass(CLASSES[name], errors.WeftError) and CLASSES[name].__doc__


@pytest.mark.parametrize(
    ("error", "python"),
    [
        (errors.EdgeError, ValueError),
        (errors.ShapeError, ValueError),
        (errors.SizeError, ValueError),
        (errors.DeviceError, ValueError),
        (errors.OrderError, ValueError),
        (errors.DtypeError, TypeError),
        (errors.StructureError, TypeError),
    ],
)
def test_python_code_may_catch_its_own_kind(error, python):
    with pytest.raises(python):
        raise error("no")
