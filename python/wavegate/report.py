"""What a launch tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a kernel did that it should not have: the first time at this instruction."""

    kind: str
    """ "out-of-bounds read" and "out-of-bounds write" (also of an array that is read-only), "misaligned atomic"; with
    check=True also "uninitialised register", "LDS race", "global race", and "unwatched accesses" where races may have been
    missed, because too many words were accessed."""
    offset: int
    """Of the instruction, in bytes from the start of `function`, or of the kernel."""
    function: str
    """That the kernel called; empty in the kernel's own code."""
    file: str
    """The source's, empty where the object does not tell: clang writes it with -g."""
    line: int
    instruction: str
    workgroup: tuple[int, int, int]
    wave: int
    lane: int
    address: int
    """What was accessed, or the number of the register."""
    detail: str
    """The other side of a race, the name of a register."""
    occurrences: int
    text: str
    """All of this in a sentence."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Report:
    """What a launch counted. `instructions` are of waves, `lane_instructions` vector instructions of active lanes."""

    workgroups: int
    waves: int
    instructions: int
    lane_instructions: int
    seconds: float
    findings: tuple[Finding, ...] = ()
