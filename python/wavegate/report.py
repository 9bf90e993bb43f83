"""What a launch tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a kernel did that it should not have: the first time at this instruction."""

    kind: str
    """ "out-of-bounds read" and "out-of-bounds write" (also of an array that is read-only), "misaligned atomic"; with
    check=True also "uninitialised register", "LDS race" and "global race"."""
    offset: int
    """Of the instruction, in bytes from the kernel's start."""
    instruction: str
    workgroup: tuple[int, int, int]
    wave: int
    lane: int
    address: int
    """What was accessed, or the number of the register."""
    detail: str
    occurrences: int

    def __str__(self) -> str:
        what = "number" if self.kind == "uninitialised register" else "address"
        group = ",".join(map(str, self.workgroup))
        text = (f"{self.kind} at {self.offset:#x} ({self.instruction}): group {group} wave {self.wave} "
                f"lane {self.lane}, {what} {self.address:#x}")
        if self.detail:
            text += f", {self.detail}"
        return text + (f"; {self.occurrences} times" if self.occurrences > 1 else "")


@dataclass(frozen=True)
class Report:
    """What a launch counted. `instructions` are of waves, `lane_instructions` vector instructions of active lanes."""

    workgroups: int
    waves: int
    instructions: int
    lane_instructions: int
    seconds: float
    findings: tuple[Finding, ...] = ()
