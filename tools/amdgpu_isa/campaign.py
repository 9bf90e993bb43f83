#!/usr/bin/env python3
"""Compares the decoder with LLVM 19 on many words.

usage: campaign.py PRINT_WORDS [--targets gfx900,gfx1030] [--random 1000000] [--each 60] [--seed 1] [--show 20]

PRINT_WORDS is the program isa_print_words of the build tree. Every opcode of every format is tried with --each random
fillings, then --random words that know no format. Length, mnemonic and operands must be equal wherever LLVM accepts;
what only one of the two accepts is counted by its reason (tests/amdgpu/isa/differences.txt), and without one it fails.
"""

import argparse
import collections
import random
import re
import struct
import subprocess
import sys

import formats
import oracle

BIASED = (0x80, 0x81, 0xff, 0xf2, 0xfa, 0xf9, 0xe9, 0x7c, 0x7d, 0x7e, 0x6a, 0x6b, 0x00, 0x100, 0x10, 0x20)


def fillings(target, each, random):
    """Words of every opcode of every format with the other bits random, half of them mostly zero."""
    for format in formats.formats_of(target):
        for number in range(format.count):
            opcode = format.opcode_bits(number)
            fixed = [0] * len(format.base)
            for word, low, bits in format.opcode:
                fixed[word] |= ((1 << bits) - 1) << low
            prefix = formats.prefix_mask(format, target)
            for i in range(each):
                words = []
                for index, base in enumerate(format.base):
                    known = fixed[index] | (prefix[index] if index < len(prefix) else 0)
                    noise = random.getrandbits(32)
                    if i % 3 == 1:
                        noise &= random.getrandbits(32) & random.getrandbits(32)
                    elif i % 3 == 2:
                        noise = base & ~known
                        for _, word, low, bits, _ in format.fields:
                            if word == index:
                                value = random.choice(BIASED) if random.random() < 0.5 else random.getrandbits(bits)
                                noise = noise & ~(((1 << bits) - 1) << low) | (value & ((1 << bits) - 1)) << low
                        if random.random() < 0.5:
                            noise ^= 1 << random.randrange(32)
                    words.append((noise & ~known | base & known) & ~fixed[index] | opcode[index])
                if format.name.startswith("vop3p") and oracle.generation(target) == 12 and random.random() < 0.5:
                    # What WMMA and others have for op_sel and op_sel_hi; sources are VGPRs.
                    words[0] = words[0] & ~(0xf800 if random.random() < 0.5 else 0xa000) | 0x4000
                    words[1] |= 3 << 27 | 1 << 26 | 1 << 17 | 1 << 8
                while len(words) < 3:
                    words.append(random.getrandbits(32))
                yield tuple(words[:3])


def ours(program, target, wave, candidates):
    data = b"".join(struct.pack("<5I", *(*words, *oracle.PADDING, 0)[:5]) for words in candidates)
    run = subprocess.run([program, target, str(wave)], input=data, capture_output=True, check=True)
    lines = run.stdout.decode().split("\n")[:-1]
    return [None if line == "-" else (line.partition("\t")[2], int(line.partition("\t")[0])) for line in lines]


def unsupported(text, target):
    """Instructions that the decoder leaves out, by name: tests/amdgpu/isa/differences.txt."""
    if oracle.generation(target) != 10 and text.startswith("image_"):
        return True
    return re.match(r"image_bvh|v_mov_b16|v_\w+_t16|s_prefetch|s_buffer_prefetch|buffer_store_lds|s_atc_probe", text) is not None


def beyond_last(text):
    """Whether an image instruction has registers so high that there may not be as many as it needs."""
    return re.match(r"image_", text) and any(int(n) > 240 for n in re.findall(r"\bv\[?(\d+)", re.split(r", (?:s|ttmp)\[", text)[0]))


def reason_of(theirs, mine, target):
    """Why one accepts what the other does not; None: no known reason."""
    if theirs == "crash":
        return "LLVM crashes"
    if theirs and mine is None and unsupported(theirs[0], target):
        return "left out"
    if theirs and mine is None and beyond_last(theirs[0]):
        return "registers beyond the last"
    if theirs and "/*Invalid" in theirs[0]:
        return "illegal register"
    if theirs and mine and theirs[0].replace("vcc|", "vcc").replace("vcc_lo|", "vcc_lo").replace("|", "") == \
            mine[0].replace("|", ""):
        return "bars misplaced"  # LLVM closes |x| behind the implied vcc
    if theirs and mine and theirs[0].startswith("v_nop "):
        return "v_nop of a form"
    if theirs and "/* " in theirs[0]:
        return "reserved value"
    return None


def compare(program, target, wave, candidates, show, counts, samples):
    theirs = oracle.probe(target, wave, candidates)
    mine = ours(program, target, wave, candidates)
    for words, a, b in zip(candidates, theirs, mine):
        if a == b:
            counts["equal" if a else "both refuse"] += 1
            continue
        reason = reason_of(a, b, target)
        if reason:
            counts[reason] += 1
            continue
        kind = "differ" if a and b else "only LLVM" if a else "only ours"
        counts[kind] += 1
        mnemonic = (a or b)[0].split(" ")[0]
        key = (kind, mnemonic)
        samples[key].append((target, wave, words, a, b))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--targets", default=",".join(oracle.TARGETS))
    parser.add_argument("--random", type=int, default=1000000)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--formats", default="")
    arguments = parser.parse_args()
    failed = False
    for target in arguments.targets.split(","):
        for wave in oracle.waves(target):
            counts, samples = collections.Counter(), collections.defaultdict(list)
            source = random.Random(f"{arguments.seed} {target} {wave}")
            if arguments.each:
                compare(arguments.program, target, wave, list(fillings(target, arguments.each, source)), arguments.show,
                        counts, samples)
            left = arguments.random
            while left > 0:
                part = min(left, 200000)
                left -= part
                words = [tuple(source.getrandbits(32) for _ in range(3)) for _ in range(part)]
                compare(arguments.program, target, wave, words, arguments.show, counts, samples)
            print(target, wave, dict(counts), flush=True)
            order = sorted(samples.items(), key=lambda item: -len(item[1]))
            for (kind, mnemonic), found in order[:arguments.show]:
                _, _, words, a, b = min(found, key=lambda sample: sum(bin(word).count("1") for word in sample[2]))
                print("  ", kind, len(found), " ".join(f"{word:08x}" for word in words), "\n      LLVM", a, "\n      ours", b)
            failed = failed or bool(samples)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
