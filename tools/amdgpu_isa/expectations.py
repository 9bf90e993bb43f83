#!/usr/bin/env python3
"""Writes tests/amdgpu/isa/expected/<target>.txt: of every opcode of every format some words, and what LLVM 19 says of
them. A line is the wave width, the words of the instruction and a tab before the text; "-" is the text of words that
are no instruction.

usage: expectations.py [TARGET...]
"""

import collections
import pathlib
import random
import re
import sys

import campaign
import oracle

# Differences that tests/amdgpu/isa/differences.txt explains.
NOT_SHOWN = re.compile(r"/\*|vcc\||vcc_lo\||^v_nop |byte_sel")
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "amdgpu" / "isa" / "expected"


def lines_of(target):
    source = random.Random(target)
    for wave in oracle.waves(target):
        candidates = list(campaign.fillings(target, 12, source))
        answers = oracle.probe(target, wave, candidates)
        seen = collections.Counter()
        for words, answer in zip(candidates, answers):
            if answer == "crash" or (answer and (campaign.unsupported(answer[0], target) or campaign.beyond_last(answer[0]) or
                                                 NOT_SHOWN.search(answer[0]))):
                continue
            # What both widths print alike is shown once.
            key = answer[0].partition(" ")[0] if answer else "-"
            most = 150 if key == "-" else 1
            if seen[key] >= most or (wave == 32 and answer and "_lo" not in answer[0] and key.startswith(("v_", "s_"))):
                continue
            seen[key] += 1
            length = answer[1] if answer else 3
            yield f"{wave} {' '.join(f'{word:08x}' for word in (*words, *oracle.PADDING)[:length])}\t" + \
                (answer[0] if answer else "-")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or oracle.TARGETS:
        lines = list(lines_of(name))
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(name, len(lines))
