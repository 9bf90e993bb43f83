#!/usr/bin/env python3
"""Compares our disassembly of whole libraries with LLVM 19's.

usage: compare_corpora.py WAVEGATE [LIBRARY...] [--targets gfx1030,gfx900] [--show 20]

WAVEGATE is the command of a build tree; the libraries are those that tools/fetch_corpora.sh brings. Each code object of
the targets is taken out of its bundle and disassembled by `wavegate disasm --words` and by llvm-objdump-19. Every byte
of every kernel must be covered by instructions, and each must have LLVM's words and text at LLVM's address; branches
are compared by where they lead. Prints the counts of each library and target, and exits with 1 at any difference.
"""

import argparse
import collections
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
LIBRARIES = ("librocrand.so.1.1", "librocsparse.so.0.1")
FUNCTION = re.compile(r"^(\S+):  // (kernel|function), wave(\d+), (\d+) bytes at 0x([0-9a-f]+)$")
OURS = re.compile(r"^    (.*?)\s*// ([0-9a-f]+): ([0-9A-F ]+)$")
THEIRS = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+): ([0-9A-F ]+?)(?: <.*>)?$")
LABEL = re.compile(r"^(s_c?branch\w*|s_call_b64 .*,|s_subvector_loop_\w+ .*,) (L_?[0-9a-f]+)$")


def objects(library, target):
    """The code objects of a target in the uncompressed bundles of a library."""
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(MAGIC)
        while at >= 0:
            count, = struct.unpack_from("<Q", data, at + 24)
            place, end = at + 32, at + 32
            if count > 1000:
                raise SystemExit(f"{library}: a bundle of {count} entries")
            for _ in range(count):
                offset, size, length = struct.unpack_from("<3Q", data, place)
                name = data[place + 24:place + 24 + length].decode()
                place += 24 + length
                end = max(end, at + offset + size)
                if size and name.split("--")[-1].split(":")[0] == target:
                    yield data[at + offset:at + offset + size]
            at = data.find(MAGIC, max(end, place))


def our_lines(wavegate, path):
    """Per function: its name, address, bytes, and the address, words and text of each instruction."""
    run = subprocess.run([wavegate, "disasm", path, "--words"], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"wavegate disasm: {run.stderr}")
    functions = []
    for line in run.stdout.split("\n"):
        if found := OURS.match(line):
            functions[-1][4].append((functions[-1][1] + int(found[2], 16), found[3], found[1]))
        elif found := FUNCTION.match(line):
            functions.append((found[1], int(found[5], 16), int(found[4]), found[2], []))
    return functions


def their_lines(path, target):
    run = subprocess.run(["llvm-objdump-19", "-d", "--no-leading-headers", f"--mcpu={target}", path],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"llvm-objdump-19: {run.stderr}")
    lines = {}
    for line in run.stdout.split("\n"):
        if found := THEIRS.match(line):
            lines[int(found[2], 16)] = (found[3], found[1])
    return lines


def with_place(text, address, start):
    """A branch by the address it leads to: LLVM writes the distance in words, we write the offset in the function."""
    mnemonic, _, operand = text.rpartition(" ")
    if found := LABEL.match(text):
        return f"{found[1]} {start + int(found[2].lstrip('L_'), 16):#x}"
    if re.match(r"s_c?branch|s_call_b64|s_subvector_loop", text) and re.fullmatch(r"\d+", operand):
        distance = int(operand)
        return f"{mnemonic} {address + 4 + 4 * (distance - 0x10000 if distance >= 0x8000 else distance):#x}"
    return text


def compare(functions, theirs, counts, samples):
    for name, start, size, kind, lines in functions:
        counts[kind + "s"] += 1
        counts["bytes"] += size
        end = start
        for address, words, text in lines:
            counts["instructions"] += 1
            if address != end:
                samples["bytes skipped"].append((name, address - start, text, ""))
            end = address + 4 * len(words.split())
            their_words, their_text = theirs.get(address, ("", "nothing"))
            mine = with_place(text, address, start)
            other = with_place(their_text, address, start)
            if words != their_words:
                samples["length"].append((name, address - start, text, their_text))
            elif mine != other:
                samples["text"].append((name, address - start, mine, other))
        if end != start + size:
            samples["bytes left over"].append((name, end - start, "", f"{size} bytes"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wavegate")
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--targets", default="gfx1030,gfx900")
    parser.add_argument("--show", type=int, default=20)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("WAVEGATE_AMD_CORPORA", Path(__file__).parents[2] / "build/data/corpora"))
    failed = False
    for library in arguments.libraries or [str(folder / name) for name in LIBRARIES]:
        for target in arguments.targets.split(","):
            counts, samples = collections.Counter(), collections.defaultdict(list)
            with tempfile.TemporaryDirectory() as scratch:
                path = os.path.join(scratch, "object.hsaco")
                for code in objects(library, target):
                    counts["objects"] += 1
                    Path(path).write_bytes(code)
                    compare(our_lines(arguments.wavegate, path), their_lines(path, target), counts, samples)
            differences = sum(len(found) for found in samples.values())
            print(f"{os.path.basename(library)} {target}:", ", ".join(f"{n} {what}" for what, n in counts.items()) +
                  f"; {differences} differences", flush=True)
            for what, found in samples.items():
                for name, offset, mine, other in found[:arguments.show]:
                    print(f"  {what}: {name}+{offset:#x}\n    ours {mine}\n    LLVM {other}")
            failed = failed or differences != 0 or counts["instructions"] == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
