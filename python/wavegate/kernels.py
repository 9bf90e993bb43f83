"""Files of AMD code, their kernels, and calls of these."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _native, values
from .errors import ArgumentError, Error, FindingError, InvalidInputError, UnsupportedError
from .report import Finding, Report

Sizes = Union[int, tuple[int, ...]]


@dataclass(frozen=True)
class Argument:
    """What a kernel takes."""

    name: str
    """Empty where the file does not tell: clang writes names with -cl-kernel-arg-info."""
    kind: str
    """ "by_value", "global_buffer", "dynamic_shared_pointer", or what else the file says."""
    type: str
    """In the source's language, such as "float*"; empty where the file does not tell."""
    size: int
    """In bytes."""
    offset: int
    """In the memory that holds all arguments."""
    dtype: np.dtype | None
    """Of its value, or of what it leads to, where `type` is one that every program has."""
    lanes: int
    """Numbers of a vector: 4 of "float4"."""


class Kernel:
    """A kernel; calling it runs it.

    kernel(threads, group, *arguments) takes sizes as an int or up to three, in work-items (so that the last groups may
    be partial), and then what the kernel takes, by position or by name:

    - a buffer: a C-contiguous NumPy array, on whose memory the kernel works, or None. Of a read-only array a write is a
      finding. Where the file tells what a pointer leads to, the array's dtype must agree.
    - a number: an int, float or NumPy scalar that its type can hold; for a vector a sequence of them; for a
      structure, or where the file does not tell the type, also anything with as many bytes (bytes, an array, ctypes).
    - a pointer to LDS: an int, the bytes that it needs there.

    It returns a Report, and raises FindingError if the kernel did what it should not have. Calls of one module's kernels
    from several threads run one after the other; other threads of Python run meanwhile.
    """

    def __init__(self, module: Module, index: int, description: dict[str, Any], target: str) -> None:
        self._module = module
        self._object = index
        self.name: str = description["name"]
        self.target = target
        """The processor that it was compiled for, such as "gfx1030"."""
        self.wave: int = description["wave"]
        """Lanes of a wave: 32 or 64."""
        self.lds_bytes: int = description["lds_bytes"]
        """Of a workgroup, besides what a call adds."""
        self.scratch_bytes: int = description["scratch_bytes"]
        """Of a work-item."""
        self.sgprs: int = description["sgprs"]
        self.vgprs: int = description["vgprs"]
        self.max_workgroup: int = description["max_workgroup"]
        """Work-items of a group at most; 0 where the file does not tell."""
        required = tuple(description["required_workgroup"])
        self.required_workgroup: tuple[int, int, int] | None = required if required[0] else None
        """The sizes that its groups must have, or None."""
        told = description["arguments"]
        self.arguments: tuple[Argument, ...] = tuple(map(_argument, told or ()))
        """What a call must give, in order."""
        self._tells_arguments = told is not None

    def __call__(self, threads: Sizes, group: Sizes, /, *arguments: Any, lds: int = 0, check: bool = False,
                 findings: str = "raise", max_instructions: int | None = None, host_threads: int | None = None,
                 **named: Any) -> Report:
        """Runs the kernel on the CPU.

        lds: bytes of LDS besides its own (HIP's third launch parameter).
        check: look for uninitialised registers and races, too; takes much longer.
        findings: "raise" (FindingError) or "return" (in the report).
        max_instructions: of one wave; what runs longer is an error (10**9 if not given).
        host_threads: threads of this machine that run workgroups (all if not given).

        An argument of the kernel that is named as one of these is given by position.
        """
        if findings not in ("raise", "return"):
            raise InvalidInputError(f'findings is "raise" or "return", not {findings!r}')
        bound = self._bind(arguments, named)
        given = [values.given(argument, value, self._where(number))
                 for number, (argument, value) in enumerate(zip(self.arguments, bound))]
        result = self._module._native.run(
            self._object, self.name, _sizes("threads", threads), _sizes("group", group), _count("lds", lds, 1 << 20, 0),
            given, bool(check),
            0 if max_instructions is None else _count("max_instructions", max_instructions, (1 << 64) - 1, 1),
            0 if host_threads is None else _count("host_threads", host_threads, 256, 1))
        result["findings"] = tuple(Finding(**finding) for finding in result["findings"])
        report = Report(**result)
        if report.findings and findings == "raise":
            raise FindingError(self.name, report)
        return report

    def _where(self, number: int) -> str:
        argument = self.arguments[number]
        name = f' "{argument.name}"' if argument.name else ""
        kind = f" ({argument.type})" if argument.type else ""
        return f'kernel "{self.name}": argument {number}{name}{kind}'

    def _bind(self, positional: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """A value for each argument, as Python itself binds them."""
        if not self._tells_arguments:
            raise UnsupportedError(f'kernel "{self.name}": the file does not tell what arguments it takes')
        if len(positional) > len(self.arguments):
            raise ArgumentError(f'kernel "{self.name}" takes {len(self.arguments)} arguments, but {len(positional)} are '
                                "given")
        bound = list(positional)
        names = [argument.name for argument in self.arguments]
        for name in named:
            if not name or name not in names:
                known = ", ".join(filter(None, names)) or "none, since the file does not tell them"
                raise ArgumentError(f'kernel "{self.name}" has no argument "{name}"; its names are {known}')
            if names.index(name) < len(positional):
                raise ArgumentError(f'kernel "{self.name}": argument "{name}" is given by position and by name')
        for number in range(len(positional), len(names)):
            if not names[number] or names[number] not in named:
                raise ArgumentError(f"{self._where(number)} is not given")
            bound.append(named[names[number]])
        return bound

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}: {a.type or a.kind}" if a.name else a.type or a.kind for a in self.arguments)
        shown = arguments if self._tells_arguments else "..."
        return f"<wavegate.Kernel {self.name}({shown}) for {self.target}, wave{self.wave}>"


class Module(Mapping[str, Kernel]):
    """The kernels of a file by name, in the file's order. Made by load().

    Variables of the code keep their values from call to call; load() again for fresh ones.
    """

    def __init__(self, content: bytes, target: str | None, name: str) -> None:
        self.name = name
        """The file's, or "" for bytes."""
        self._native = _native.File(content, target or "")
        objects = self._native.objects()
        self.targets: tuple[str, ...] = tuple(sorted({target for target, _ in objects}))
        """The processors that it has code for, such as "gfx1030"; one of a module that load() returns."""
        self._kernels: dict[str, Kernel] = {}
        for index, (of, kernels) in enumerate(objects):
            for kernel in kernels:
                self._kernels.setdefault(kernel["name"], Kernel(self, index, kernel, of))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(self._kernels.values())

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self._kernels[name]
        except KeyError:
            shown = 8
            names = ", ".join(list(self._kernels)[:shown])
            more = f" and {len(self) - shown} more" if len(self) > shown else ""
            raise KeyError(f"there is no kernel {name!r}; there are {names or 'none'}{more}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._kernels

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        shown = 8
        names = ", ".join(list(self)[:shown]) + (", ..." if len(self) > shown else "")
        return (f"<wavegate.Module {self.name or 'of bytes'} for {', '.join(self.targets)}, "
                f"{len(self)} kernel{'' if len(self) == 1 else 's'}: {names}>")


def load(file: str | os.PathLike[str] | bytes | bytearray | memoryview, target: str | None = None) -> Module:
    """Reads a code object, an offload bundle, or a program or library that holds bundles.

    file: its path, or its bytes.
    target: the processor whose code is wanted, as "gfx1030" or "gfx90a:xnack-"; needed if there is code for several.

    Raises InvalidInputError for what is none or is damaged, UnsupportedError for what is known and not read, and what
    open() raises for a path.
    """
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _load(bytes(file), target, "")
    with open(file, "rb") as stream:
        content = stream.read()
    name = os.fsdecode(file)
    try:
        return _load(content, target, name)
    except Error as error:
        raise type(error)(f"{name}: {error}") from None


def _load(content: bytes, target: str | None, name: str) -> Module:
    module = Module(content, target, name)
    if len(module.targets) > 1:
        raise InvalidInputError(f"holds code for {', '.join(module.targets)}; say which with target=")
    return module


def _argument(description: dict[str, Any]) -> Argument:
    number = description.pop("number") or {"dtype": None, "lanes": 1}
    dtype = None
    if number["dtype"]:
        dtype = np.dtype(f"{number['dtype'][0]}{int(number['dtype'][1:]) // 8}")
    return Argument(**description, dtype=dtype, lanes=number["lanes"])


def _count(name: str, value: Any, most: int, least: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is an integer, not {type(value).__name__}") from None
    if not least <= count <= most:
        raise InvalidInputError(f"{name} is {least} to {most}, not {count}")
    return count


def _sizes(name: str, value: Any) -> tuple[int, int, int]:
    try:
        sizes = [operator.index(value)]
    except TypeError:
        try:
            sizes = [operator.index(size) for size in value]
        except TypeError:
            raise ArgumentError(f"{name} is an integer or up to three, not {value!r}") from None
    if not 1 <= len(sizes) <= 3 or not all(1 <= size < 1 << 32 for size in sizes):
        raise InvalidInputError(f"{name} is one to three sizes of at least 1, not {value!r}")
    x, y, z = sizes + [1] * (3 - len(sizes))
    return x, y, z
