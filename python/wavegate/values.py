"""Python's values as the bytes and buffers that a kernel's arguments take."""

from __future__ import annotations

import numbers
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError, InvalidInputError, UnsupportedError

if TYPE_CHECKING:
    from .kernels import Argument

# What the C++ part takes for an argument: bytes by value, a buffer, or an int, which is bytes of LDS.
Given = Any

_NULL = bytes(8)
_BY_SIZE = {2: "f2", 4: "f4", 8: "f8"}


def given(argument: Argument, value: Any, where: str) -> Given:
    """The value as the kernel takes it. `where` names kernel and argument in errors."""
    if argument.kind == "global_buffer":
        return _buffer(argument, value, where)
    if argument.kind == "dynamic_shared_pointer":
        return _lds(value, where)
    if argument.kind != "by_value":
        raise UnsupportedError(f'{where} is of kind "{argument.kind}", which is not implemented')
    if argument.dtype is None:
        return _untold(argument.size, value, where)
    if argument.lanes > 1:
        return _vector(argument, value, where)
    return _number(argument.dtype, value, where)


def _number(dtype: np.dtype, value: Any, where: str) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, dtype.type):
        return value.tobytes()
    return _float(dtype, value, where) if dtype.kind == "f" else _integer(dtype, value, where)


def _integer(dtype: np.dtype, value: Any, where: str) -> bytes:
    try:
        number = int(value) if isinstance(value, np.bool_) else operator.index(value)
    except TypeError:
        raise ArgumentError(f"{where} takes an integer, not {_kind(value)}") from None
    limits = np.iinfo(dtype)
    if not limits.min <= number <= limits.max:
        raise InvalidInputError(f"{where} takes {limits.min} to {limits.max}, not {number}")
    return number.to_bytes(dtype.itemsize, "little", signed=dtype.kind == "i")


def _float(dtype: np.dtype, value: Any, where: str) -> bytes:
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise ArgumentError(f"{where} takes a number, not {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = None
    if number is not None:
        with np.errstate(over="ignore", under="ignore"):
            narrow = dtype.type(number)
        if np.isfinite(narrow) or not np.isfinite(number):
            return narrow.tobytes()
    raise InvalidInputError(f"{where} takes {dtype.name}, whose largest number is {np.finfo(dtype).max}, not {value}")


def _vector(argument: Argument, value: Any, where: str) -> bytes:
    dtype, lanes = argument.dtype, argument.lanes
    assert dtype is not None
    try:
        elements = None if isinstance(value, (str, bytes)) else list(value)
    except TypeError:
        elements = None
    if elements is None or len(elements) != lanes:
        raise ArgumentError(f"{where} takes {lanes} numbers, not {_kind(value)}"
                            + (f" of {len(elements)}" if elements is not None else ""))
    return b"".join(_number(dtype, element, where) for element in elements).ljust(argument.size, b"\0")


def _untold(size: int, value: Any, where: str) -> bytes:
    """By value, of a type that the file does not tell: an int is an integer, a float a float, the rest its bytes."""
    if isinstance(value, int):
        if size not in (1, 2, 4, 8):
            raise ArgumentError(f"{where} has {size} bytes; give them as bytes, or as an array or structure of so many")
        if not -(1 << size * 8 - 1) <= value < 1 << size * 8:
            raise InvalidInputError(f"{where} has {size} bytes, which {value} does not fit in")
        return (value % (1 << size * 8)).to_bytes(size, "little")
    if isinstance(value, float) and not isinstance(value, np.generic):
        if size not in _BY_SIZE:
            raise ArgumentError(f"{where} has {size} bytes, which no float has")
        return _float(np.dtype(_BY_SIZE[size]), value, where)
    try:
        content = memoryview(value).tobytes()
    except (TypeError, ValueError):
        raise ArgumentError(f"{where} takes a number, or {size} bytes, not {_kind(value)}") from None
    if len(content) != size:
        raise ArgumentError(f"{where} has {size} bytes, but what is given, {_kind(value)}, has {len(content)}")
    return content


def _lds(value: Any, where: str) -> int:
    try:
        size = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{where} is a pointer to LDS; give the bytes that it needs there, not "
                            f"{_kind(value)}") from None
    if not 0 <= size < 1 << 20:
        raise InvalidInputError(f"{where}: {size} is no size of LDS")
    return size


def _buffer(argument: Argument, value: Any, where: str) -> Given:
    if value is None:
        return _NULL
    if not isinstance(value, np.ndarray):
        raise ArgumentError(f"{where} is a buffer; give a NumPy array, or None for a null pointer, not {_kind(value)}")
    if value.dtype.hasobject:
        raise ArgumentError(f"{where}: an array of Python's objects has nothing that a kernel could read")
    if not value.dtype.isnative:
        raise ArgumentError(f"{where}: the array's bytes are in the other order; astype(dtype.newbyteorder('=')) turns "
                            "them around")
    if not value.flags.c_contiguous:
        raise ArgumentError(f"{where}: the array has gaps, or its axes in another order; numpy.ascontiguousarray makes "
                            "a copy without")
    if argument.dtype is not None and not _leads_to(argument.dtype, argument.lanes, value.dtype):
        raise ArgumentError(f"{where} leads to {argument.dtype.name}, but the array is of {value.dtype.name}")
    return np.asarray(value).reshape(-1).view(np.uint8)


def _leads_to(told: np.dtype, lanes: int, dtype: np.dtype) -> bool:
    """Integers of one size are as good signed as not, and a complex number is two floats."""
    if dtype.kind == "c":
        return told.kind == "f" and lanes == 2 and dtype.itemsize == 2 * told.itemsize
    integers = "iub"
    return dtype.itemsize == told.itemsize and (dtype.kind in integers) == (told.kind in integers) \
        and dtype.kind in integers + "f"


def _kind(value: Any) -> str:
    """What a value is, for errors."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name}"
    return type(value).__name__
