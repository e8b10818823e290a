"""Vectors of a stated number of lanes inside Numba functions.

Numba leaves it to LLVM to find vectors in loops; a row of features kept in registers over all edges of a
target is not among those it finds. These intrinsics say it outright: `load` reads `lanes` numbers as one
value, the arithmetic works on such values, and LLVM splits them into the registers the machine has.

Arrays are flat and contiguous, offsets count elements. `lanes` must be a constant of the kernel.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, register_model

from weft.ops.random import BITS, GOLDEN, MIX_1, MIX_2

FLAGS = ("contract", "reassoc", "nsz")
"""Floating-point liberties: fused multiply-add and any order of summation; NaN and infinity keep their meaning."""

KERNEL: dict[str, Any] = {"nogil": True, "cache": True, "fastmath": set(FLAGS), "error_model": "numpy"}
"""How every kernel is compiled: `njit(**KERNEL)`."""

INLINE: dict[str, Any] = {"nogil": True, "fastmath": set(FLAGS), "error_model": "numpy", "forceinline": True}
"""How the parts of kernels are compiled: they become part of their caller."""

_ELEMENTS = {
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
    types.int32: ir.IntType(32),
    types.boolean: ir.IntType(1),
}
_I32 = ir.IntType(32)


class Lanes(types.Type):
    """The Numba type of a vector."""

    def __init__(self, element: types.Type, lanes: int):
        self.element, self.lanes = element, lanes
        super().__init__(name=f"Lanes({element}, {lanes})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes):
        super().__init__(manager, lanes, ir.VectorType(_ELEMENTS[lanes.element], lanes.lanes))


def _vector(lanes: Lanes) -> ir.VectorType:
    return ir.VectorType(_ELEMENTS[lanes.element], lanes.lanes)


def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


def _call(builder: Any, name: str, result: Any, args: list[Any], fastmath: tuple[str, ...] = ()) -> Any:
    kind = ir.FunctionType(result, [arg.type for arg in args])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, args, fastmath=fastmath)


def _suffix(vector: ir.VectorType) -> str:
    element = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64"}[str(vector.element)]
    return f"v{vector.count}{element}"


def _broadcast(builder: Any, scalar: Any, lanes: int) -> Any:
    vector = ir.VectorType(scalar.type, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
    order = ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), order)


def _first(builder: Any, count: Any, lanes: int) -> Any:
    """A mask of the first `count` lanes."""
    numbers = ir.Constant(ir.VectorType(_I32, lanes), list(range(lanes)))
    return builder.icmp_signed("<", numbers, _broadcast(builder, builder.trunc(count, _I32), lanes))


def _wide(array: Any) -> types.Type:
    """The element a load from `array` yields: bfloat16 travels as uint16 and is computed in float32."""
    return types.float32 if array.dtype == types.uint16 else array.dtype


def _widen(builder: Any, halves: Any, lanes: int) -> Any:
    words = builder.zext(halves, ir.VectorType(_I32, lanes))
    return builder.bitcast(builder.shl(words, _broadcast(builder, _I32(16), lanes)), ir.VectorType(ir.FloatType(), lanes))


def _narrow(builder: Any, vector: Any, lanes: int) -> Any:
    """float32 to bfloat16, to the nearest, ties to even; NaN stays NaN."""
    words = builder.bitcast(vector, ir.VectorType(_I32, lanes))
    odd = builder.and_(builder.lshr(words, _broadcast(builder, _I32(16), lanes)), _broadcast(builder, _I32(1), lanes))
    bump = builder.add(odd, _broadcast(builder, _I32(0x7FFF), lanes))
    rounded = builder.lshr(builder.add(words, bump), _broadcast(builder, _I32(16), lanes))
    nan = builder.fcmp_unordered("uno", vector, vector)
    kept = builder.select(nan, _broadcast(builder, _I32(0x7FC0), lanes), rounded)
    return builder.trunc(kept, ir.VectorType(ir.IntType(16), lanes))


@intrinsic(prefer_literal=True)
def load(typing: Any, array: Any, offset: Any, lanes: Any):
    """The numbers at `offset` … `offset + lanes - 1`."""
    result = Lanes(_wide(array), lanes.literal_value)

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        at = _address(context, builder, signature.args[0], args[0], args[1])
        if array.dtype == types.uint16:
            halves = builder.bitcast(at, ir.VectorType(ir.IntType(16), result.lanes).as_pointer())
            return _widen(builder, builder.load(halves, align=2), result.lanes)
        return builder.load(builder.bitcast(at, _vector(result).as_pointer()), align=4)

    return result(array, types.int64, lanes), generate


@intrinsic(prefer_literal=True)
def load_part(typing: Any, array: Any, offset: Any, lanes: Any, count: Any):
    """Like `load`, reading only the first `count` lanes; the others are zero."""
    result = Lanes(_wide(array), lanes.literal_value)

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        at = _address(context, builder, signature.args[0], args[0], args[1])
        mask = _first(builder, args[3], result.lanes)
        bf16 = array.dtype == types.uint16
        vector = ir.VectorType(ir.IntType(16), result.lanes) if bf16 else _vector(result)
        name = f"llvm.masked.load.{'v' + str(result.lanes) + 'i16' if bf16 else _suffix(vector)}.p0"
        pointer = builder.bitcast(at, vector.as_pointer())
        read = _call(builder, name, vector, [pointer, _I32(2 if bf16 else 4), mask, ir.Constant(vector, None)])
        return _widen(builder, read, result.lanes) if bf16 else read

    return result(array, types.int64, lanes, types.int64), generate


@intrinsic(prefer_literal=True)
def store(typing: Any, array: Any, offset: Any, vector: Any):
    """Write a vector at `offset`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        at = _address(context, builder, signature.args[0], args[0], args[1])
        value = _narrow(builder, args[2], vector.lanes) if array.dtype == types.uint16 else args[2]
        builder.store(value, builder.bitcast(at, value.type.as_pointer()), align=2 if array.dtype == types.uint16 else 4)
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@intrinsic(prefer_literal=True)
def store_part(typing: Any, array: Any, offset: Any, vector: Any, count: Any):
    """Write the first `count` lanes of a vector at `offset`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        at = _address(context, builder, signature.args[0], args[0], args[1])
        bf16 = array.dtype == types.uint16
        value = _narrow(builder, args[2], vector.lanes) if bf16 else args[2]
        name = f"llvm.masked.store.{'v' + str(vector.lanes) + 'i16' if bf16 else _suffix(value.type)}.p0"
        mask = _first(builder, args[3], vector.lanes)
        pointer = builder.bitcast(at, value.type.as_pointer())
        _call(builder, name, ir.VoidType(), [value, pointer, _I32(2 if bf16 else 4), mask])
        return context.get_dummy_value()

    return types.void(array, types.int64, vector, types.int64), generate


@intrinsic(prefer_literal=True)
def prefetch(typing: Any, array: Any, offset: Any):
    """Ask for the cache line at `offset`, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        at = _address(context, builder, signature.args[0], args[0], args[1])
        line = builder.bitcast(at, ir.IntType(8).as_pointer())
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), [line, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic(prefer_literal=True)
def zeros(typing: Any, array: Any, lanes: Any):
    """A vector of zeros of the kind a load from `array` yields."""
    result = Lanes(_wide(array), lanes.literal_value)

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return ir.Constant(_vector(result), None)

    return result(array, lanes), generate


@intrinsic(prefer_literal=True)
def splat(typing: Any, like: Any, scalar: Any):
    """One number in every lane of a vector like `like`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return _broadcast(builder, args[1], like.lanes)

    return like(like, like.element), generate


@intrinsic(prefer_literal=True)
def splat_int(typing: Any, like: Any, scalar: Any):
    """One whole number in every lane of an int32 vector as long as `like`."""
    result = Lanes(types.int32, like.lanes)

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return _broadcast(builder, args[1], like.lanes)

    return result(like, types.int32), generate


def _binary(build: str) -> Any:
    @intrinsic(prefer_literal=True)
    def operation(typing: Any, a: Any, b: Any):
        def generate(context: Any, builder: Any, signature: Any, args: Any):
            return getattr(builder, build)(args[0], args[1], flags=FLAGS)

        return a(a, b), generate

    return operation


add, sub, mul = _binary("fadd"), _binary("fsub"), _binary("fmul")


@intrinsic(prefer_literal=True)
def fma(typing: Any, a: Any, b: Any, c: Any):
    """a · b + c."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return builder.fadd(builder.fmul(args[0], args[1], flags=FLAGS), args[2], flags=FLAGS)

    return a(a, b, c), generate


@intrinsic(prefer_literal=True)
def exceeds(typing: Any, a: Any, b: Any):
    """Where a > b, or a is NaN: a running maximum that lets NaN through."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        larger = builder.fcmp_ordered(">", args[0], args[1])
        return builder.or_(larger, builder.fcmp_unordered("uno", args[0], args[0]))

    return Lanes(types.boolean, a.lanes)(a, b), generate


@intrinsic(prefer_literal=True)
def positive(typing: Any, a: Any):
    """Where a > 0, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return builder.fcmp_ordered(">", args[0], ir.Constant(args[0].type, None))

    return Lanes(types.boolean, a.lanes)(a), generate


@intrinsic(prefer_literal=True)
def same_int(typing: Any, a: Any, b: Any):
    """Where two vectors of whole numbers agree."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return builder.icmp_signed("==", args[0], args[1])

    return Lanes(types.boolean, a.lanes)(a, b), generate


@intrinsic(prefer_literal=True)
def select(typing: Any, mask: Any, a: Any, b: Any):
    """a where the mask holds, b elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return builder.select(args[0], args[1], args[2])

    return a(mask, a, b), generate


@intrinsic(prefer_literal=True)
def total(typing: Any, a: Any):
    """The sum of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        vector = args[0].type
        start = ir.Constant(vector.element, 0.0)
        return _call(builder, f"llvm.vector.reduce.fadd.{_suffix(vector)}", vector.element, [start, args[0]], FLAGS)

    return a.element(a), generate


@intrinsic(prefer_literal=True)
def largest(typing: Any, a: Any):
    """The largest of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        vector = args[0].type
        return _call(builder, f"llvm.vector.reduce.fmax.{_suffix(vector)}", vector.element, [args[0]])

    return a.element(a), generate


@intrinsic(prefer_literal=True)
def maximum(typing: Any, a: Any, b: Any):
    """The larger of two, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return a(a, b), generate


@intrinsic(prefer_literal=True)
def exp(typing: Any, a: Any):
    """e to the power of each lane; float32 by a polynomial within 2 units in the last place."""

    def generate(context: Any, builder: Any, signature: Any, args: Any):
        vector = args[0].type
        if str(vector.element) != "float":
            return _call(builder, f"llvm.exp.{_suffix(vector)}", vector, [args[0]])
        return _exp32(builder, args[0])

    return a(a), generate


def _exp32(builder: Any, x: Any) -> Any:
    """exp(x) = 2^n · exp(r), x = n ln 2 + r with |r| ≤ ln 2 / 2, exp(r) by its Taylor series to r^7."""
    vector, lanes = x.type, x.type.count

    def constant(number: float) -> Any:
        return ir.Constant(vector, [number] * lanes)

    low, high = constant(-87.0), constant(88.0)
    vanishes = builder.fcmp_ordered("<", x, low)
    x = builder.select(vanishes, low, x)
    x = builder.select(builder.fcmp_ordered(">", x, high), high, x)
    scaled = builder.fmul(x, constant(1.4426950408889634), flags=FLAGS)
    n = _call(builder, f"llvm.rint.{_suffix(vector)}", vector, [scaled])
    r = builder.fadd(x, builder.fmul(n, constant(-0.693359375)), flags=("contract",))
    r = builder.fadd(r, builder.fmul(n, constant(2.12194440e-4)), flags=("contract",))
    series = constant(1 / 5040)
    for coefficient in (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0):
        series = builder.fadd(builder.fmul(series, r, flags=FLAGS), constant(coefficient), flags=FLAGS)
    words = ir.VectorType(_I32, lanes)
    exponent = builder.add(builder.fptosi(n, words), ir.Constant(words, [127] * lanes))
    power = builder.bitcast(builder.shl(exponent, ir.Constant(words, [23] * lanes)), vector)
    return builder.select(vanishes, constant(0.0), builder.fmul(series, power, flags=FLAGS))


_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_30, _27, _31, _REST = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(64 - BITS)


@njit(**INLINE)
def keeps(seed, number, limit):
    """Whether the numbered thing survives dropout; the same as `weft.ops.random.kept`."""
    mixed = np.uint64(seed) + np.uint64(number) * _GOLDEN
    mixed = (mixed ^ (mixed >> _30)) * _MIX_1
    mixed = (mixed ^ (mixed >> _27)) * _MIX_2
    return ((mixed ^ (mixed >> _31)) >> _REST) >= np.uint64(limit)
