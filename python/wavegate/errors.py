"""What goes wrong, by whose fault it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Finding, Report


class Error(Exception):
    """Any error of this module. `kind` is "invalid input", "unsupported", "device", "internal" or "finding"."""

    kind = "internal"


class InvalidInputError(Error, ValueError):
    """The file, the launch or a value is wrong; the message says what to change."""

    kind = "invalid input"


class ArgumentError(InvalidInputError, TypeError):
    """The arguments of a call are not those that the kernel has: one is missing, unknown, or of another type."""


class UnsupportedError(Error, NotImplementedError):
    """Known, named, and not built: an instruction that the interpreter lacks, a kind of argument."""

    kind = "unsupported"


class DeviceError(Error, RuntimeError):
    """The machine failed, for lack of memory for instance."""

    kind = "device"


class InternalError(Error, RuntimeError):
    """A bug of Wavegate."""

    kind = "internal"


class FindingError(Error, RuntimeError):
    """The kernel ran to its end, and did what it should not have: `findings` says what, `report` has the rest.

    Arrays hold what the kernel wrote.
    """

    kind = "finding"

    def __init__(self, kernel: str, report: Report) -> None:
        shown = 5
        lines = [str(finding) for finding in report.findings[:shown]]
        if len(report.findings) > shown:
            lines.append(f"and {len(report.findings) - shown} more")
        super().__init__(f'kernel "{kernel}": ' + "\n  ".join(lines))
        self.kernel = kernel
        self.report = report

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.report.findings

    def __reduce__(self) -> tuple:
        return FindingError, (self.kernel, self.report)


def of_kind(kind: str, message: str, where: str) -> Error:
    """The exception for an error of the C++ part, which calls this."""
    for known in (InvalidInputError, UnsupportedError, DeviceError):
        if known.kind == kind:
            return known(f"{where}: {message}" if where else message)
    return InternalError(f"{where}: {message}" if where else message)
