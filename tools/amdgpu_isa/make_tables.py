#!/usr/bin/env python3
"""Makes src/amdgpu/isa/tables from what llvm-objdump-19 accepts and prints.

usage: make_tables.py [TARGET...]    (default: all; a few minutes each)

Of every opcode of every format it finds words that are accepted, then changes one field at a time: which operand of the
text follows which field, which values the field takes, which bits must be zero and which are ignored. The result of one
target lies in build/isa/<target>.json; the tables are written from all that are there.
"""

import itertools
import json
import pathlib
import re
import sys

import emit
import formats
import oracle

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "isa"

FILL = {"vdst": 8, "sdst": 12, "src0": 16, "ssrc0": 16, "vsrc1": 24, "src1": 24, "ssrc1": 24, "src2": 40, "vaddr": 16,
        "vdata": 24, "vsrc0": 4, "vsrc1": 24, "vsrc2": 12, "vsrc3": 16, "vsrc": 1, "vdata1": 40, "sbase": 8, "sdata": 32, "srsrc": 12, "ssamp": 5, "soffset": 50, "simm16": 0}
SAMPLES = [0, 1, 2, 4, 5, 20, 26, 27, 28, 30, 53, 54, 56, 60, 61, 62, 63, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 112, 116, 120, 122, 123, 124,
           125, 126, 127, 128, 129, 192, 193, 208, 209, 234, 235, 236, 237, 238, 239, 240, 242, 247, 248, 249, 250, 251,
           252, 253, 254, 255, 256, 257, 258, 300, 500, 510, 511]
REGISTER = re.compile(r"^(v|s|a|ttmp)(?:(\d+)|\[(\d+):(\d+)\])$")
NAMED = {"vcc": "vcc", "vcc_lo": "vcc", "vcc_hi": "vcc", "exec": "exec", "exec_lo": "exec", "exec_hi": "exec",
         "m0": "m0", "null": "null", "flat_scratch": "flat_scratch", "flat_scratch_lo": "flat_scratch",
         "flat_scratch_hi": "flat_scratch", "xnack_mask": "xnack_mask", "xnack_mask_lo": "xnack_mask",
         "xnack_mask_hi": "xnack_mask", "src_scc": "scc", "scc": "scc", "src_vccz": "vccz", "src_execz": "execz",
         "src_shared_base": "shared_base", "src_shared_limit": "shared_limit", "src_private_base": "private_base",
         "src_private_limit": "private_limit", "src_pops_exiting_wave_id": "pops_exiting_wave_id",
         "src_lds_direct": "lds_direct", "lds_direct": "lds_direct", "off": "off"}
BANKS = {"v": "vgpr", "s": "sgpr", "a": "agpr", "ttmp": "ttmp"}


def split(text):
    """Mnemonic, operands, modifiers of a line. What follows the last operand after a space are modifiers."""
    mnemonic, _, rest = text.partition(" ")
    rest = rest.strip()
    operands, depth, start = [], 0, 0
    for i, c in enumerate(rest):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            operands.append(rest[start:i].strip())
            start = i + 1
    last = rest[start:].strip()
    modifiers = ""
    match = re.match(r"^((?:\S*\([^)]*\)|[^\s(]\S*))(?:\s+(.*))?$", last)
    if match:
        last, modifiers = match[1], match[2] or ""
    if last:
        operands.append(last)
    return mnemonic, operands, modifiers


def bare(token):
    token = re.sub(r"^(?:neg|sext|abs)\((.*)\)$", r"\1", token)
    token = re.sub(r"^-(?=[|vsat])", "", token)
    token = re.sub(r"^\|(.*)\|$", r"\1", token)
    token = re.sub(r"^sext\((.*)\)$", r"\1", token)
    return token


def kind_of(token, value=None):
    """(kind, words) of an operand's text; words is 0 where the text does not say."""
    token = bare(token)
    match = REGISTER.match(token)
    if match:
        return BANKS[match[1]], 1 if match[2] else int(match[4]) - int(match[3]) + 1
    if token in NAMED:
        return NAMED[token], 0
    if value == 255:
        return "literal", 0
    if value is not None and 240 <= value <= 248:
        return "real", 0
    if re.match(r"^-?\d+$", token):
        return "integer", 0
    return "other", 0


class Prober:
    found = {}  # (target, wave, format): its opcodes

    def __init__(self, target, wave, format):
        self.target, self.wave, self.format = target, wave, format
        self.base = list(format.base)
        self.flipped = {}  # opcode: bits that its words need

    def words_of(self, number, values, flips=()):
        words = [a | b for a, b in zip(self.base, self.format.opcode_bits(number))]
        for word, bit in self.flipped.get(number, ()):
            words[word] ^= 1 << bit
        for (_, word, low, bits, _), value in zip(self.format.fields, values):
            if value is not None:
                words[word] = words[word] & ~(((1 << bits) - 1) << low) | value << low
        for word, bit in flips:
            words[word] ^= 1 << bit
        return tuple(words)

    def ask(self, candidates):
        # LLVM prints some words with a register that the instruction cannot have: those are no instruction.
        return [None if answer and "/*Invalid" in answer[0] else answer
                for answer in oracle.probe(self.target, self.wave, candidates)]

    def choices(self, field):
        name, _, _, bits, kind = field
        fill = FILL[name]
        if kind == "source":
            return [256 + fill, fill, 0]
        if kind == "vector":
            return [fill, 0, 126] if name == "vdst" and self.format.name.startswith("vop3") else [fill, 0]
        if kind == "destination":
            # A VOP3's bits for it are mostly modifiers.
            return [None, fill, 0] if self.format.name.startswith("vop3") else [fill, 0, 126, 124]
        return [fill, 0]

    def bases(self):
        """Of each opcode the first accepted values of its fields."""
        numbers = [n for n in range(self.format.count)
                   if not (self.format.skip and self.format.skip[0] <= n < self.format.skip[1])]
        # A form with DPP is one of an opcode that there is without.
        plain = Prober.found.get((self.target, self.wave, self.format.name.split("_")[0]))
        if plain is not None and self.format.name.startswith("vop3"):
            numbers = [n for n in numbers if n in plain]
        combinations = list(itertools.product(*(self.choices(field) for field in self.format.fields)))
        candidates = [(n, c) for n in numbers for c in combinations]
        answers = self.ask([self.words_of(n, c) for n, c in candidates])
        found = {}
        for (number, values), answer in zip(candidates, answers):
            if answer and answer != "crash" and number not in found:
                found[number] = (values, answer[0])
        # Some atomics are there only with the bit that returns the value before.
        alternatives = self.alternatives()
        if alternatives:
            rest = [(n, c) for n, c in candidates if n not in found]
            for flips in alternatives:
                answers = self.ask([self.words_of(n, c, flips) for n, c in rest])
                for (number, values), answer in zip(rest, answers):
                    if answer and answer != "crash" and number not in found:
                        found[number] = (values, answer[0])
                        self.flipped[number] = flips
        Prober.found[self.target, self.wave, self.format.name] = set(found)
        return found

    def alternatives(self):
        """Sets of bits that are tried besides the format's."""
        generation = oracle.generation(self.target)
        if self.format.name in ("flat", "global", "scratch"):
            return [((0, 16),)] if generation <= 10 else [((0, 14),)] if generation == 11 else [((1, 20),)]
        if self.format.name == "mubuf":
            return {9: [((0, 14),), ((0, 12),)], 10: [((0, 14),), ((0, 12),)], 11: [((0, 14),), ((1, 22),)],
                    12: [((1, 20),), ((1, 30),)]}[generation]
        if self.format.name == "smem" and generation == 9:
            return [((0, 17),)]
        if self.format.name == "ds":
            return [((0, 16 if generation == 9 else 17),)]  # gds
        if self.format.name.startswith("vop3p") and generation == 12:
            return [((0, 14), (1, 27), (1, 28))]  # op_sel_hi: WMMA and dot products of fp8 have no other
        return []

    def free_bits(self, number):
        taken = [0] * len(self.base)
        for word, low, bits in self.format.opcode:
            taken[word] |= ((1 << bits) - 1) << low
        for _, word, low, bits, kind in self.format.fields:
            if not (self.format.name.startswith("vop3") and kind == "destination"):
                taken[word] |= ((1 << bits) - 1) << low
        for word, low, bits in self.format.extra:
            taken[word] |= ((1 << bits) - 1) << low
        selects = [(1, 16, 3)]
        if not self.format.name.startswith("vopc"):
            selects.append((1, 8, 5))
        if not self.format.name.startswith("vop1"):
            selects.append((1, 24, 3))
        fixed = {"_sdwa": selects, "_dpp16": [(1, 8, 9)], "_dpp8": [(1, 8, 24)]}
        for ending, ranges in fixed.items():
            if self.format.name.endswith(ending):
                for word, low, bits in ranges:
                    taken[len(self.base) - 1] |= ((1 << bits) - 1) << low
        return [(w, b) for w in range(len(self.base)) for b in range(32)
                if not taken[w] >> b & 1 and not self.in_prefix(w, b)]

    def in_prefix(self, word, bit):
        name = self.format.name
        if word == 0:
            low = {"sop2": 30, "sopk": 28, "sop1": 23, "sopc": 23, "sopp": 23, "vop1": 25, "vop2": 31, "vopc": 25,
                   "vop3": 26, "vop3p": 23, "mtbuf": 26, "vinterp": 24, "lds": 24}.get(name.split("_")[0], 26)
            if name.startswith(("vop1", "vop2", "vopc")) and name.endswith(("dpp16", "dpp8", "sdwa")) and bit < 9:
                return True
            if self.format.name in ("flat", "global", "scratch"):
                generation = oracle.generation(self.target)
                if bit in {9: (14, 15), 10: (14, 15), 11: (16, 17), 12: (24, 25)}[generation]:
                    return True
            return bit >= low
        if word == 1 and name.startswith("vop3") and name.endswith(("dpp16", "dpp8")):
            return bit < 9
        return False

    def only_low(self, index, accepted):
        """Whether a field takes VGPRs below 128 alone, as 16-bit operands of gfx11 do."""
        kind = self.format.fields[index][4]
        first = {"source": 256, "vector": 0}.get(kind)
        if first is None:
            return False
        below = [ok for value, ok in accepted.items() if first <= value < first + 128]
        above = [ok for value, ok in accepted.items() if first + 128 <= value]
        return all(below) and bool(above) and not any(above)

    def sdst(self):
        """The index of the field of VOP3's second, scalar destination."""
        return next((i for i, field in enumerate(self.format.fields) if field[0] == "sdst"), None)

    def rows(self):
        found = self.bases()
        candidates, notes = [], []
        for number, (values, text) in found.items():
            for index, field in enumerate(self.format.fields):
                if values[index] is None:
                    continue
                top = 1 << field[3]
                for sample in SAMPLES:
                    if sample < top:
                        changed = list(values)
                        changed[index] = sample
                        candidates.append(self.words_of(number, changed))
                        notes.append((number, "field", index, sample))
            for word, bit in self.free_bits(number):
                candidates.append(self.words_of(number, values, [(word, bit)]))
                notes.append((number, "bit", word, bit))
        answers = self.ask(candidates)
        by_number = {}
        for note, answer in zip(notes, answers):
            by_number.setdefault(note[0], []).append((note[1:], answer))
        return {number: self.row(number, *found[number], by_number.get(number, [])) for number in found}

    def row(self, number, values, text, answers):
        mnemonic, tokens, _ = split(text)
        row = {"mnemonic": mnemonic, "operands": [], "fixed": [0] * len(self.base), "value": [0] * len(self.base),
               "ignored": [0] * len(self.base), "example": text}
        changes = {}
        kinds = {}
        accepted = {}
        for (what, a, b), answer in answers:
            ok = answer is not None and answer != "crash" and answer[0].split(" ")[0] == mnemonic
            if what == "bit":
                if not ok:
                    row["fixed"][a] |= 1 << b
                    if self.words_of(number, values)[a] >> b & 1:
                        row["value"][a] |= 1 << b
                elif answer[0] == text:
                    row["ignored"][a] |= 1 << b
                else:
                    new = split(answer[0])[1]
                    for i, (old, now) in enumerate(zip(tokens, new)):
                        if a == 0 and 8 <= b <= 14 and self.format.name.startswith("vop3") and \
                                old in ("s0", "s[0:1]", "s[12:13]") and now != old:
                            changes.setdefault(self.sdst(), set()).add(i)
                            words = kind_of(old)[1]
                            kinds[self.sdst()] = {"sgpr": words, "vcc": 0, "ttmp": words, "null": 0, "exec": 0,
                                                  **({"m0": 0} if words == 1 else {})}
                        if bare(old)[:1] == "v" and bare(now)[:1] == "a" and old[1:] == now[1:]:
                            row.setdefault("acc", {})[str(i)] = [a, b]
                continue
            accepted.setdefault(a, {})[b] = ok
            if not ok:
                continue
            new = split(answer[0])[1]
            if len(new) != len(tokens):
                continue
            for i, (old, now) in enumerate(zip(tokens, new)):
                if old != now:
                    changes.setdefault(a, set()).add(i)
        if self.sdst() in changes:
            row["fixed"][0] &= ~0x7f00
            row["ignored"][0] &= ~0x7f00
        by_token = {}
        for index, field in enumerate(self.format.fields):
            if values[index] is None:
                for position in changes.get(index, ()):
                    by_token.setdefault(position, []).append(index)
                continue
            positions = changes.get(index, set())
            if not positions:
                word, low, bits = field[1:4]
                mask = ((1 << bits) - 1) << low
                if all(accepted.get(index, {}).values()):
                    row["ignored"][word] |= mask
                else:
                    row["fixed"][word] |= mask
                    row["value"][word] |= values[index] << low
                continue
            for position in positions:
                by_token.setdefault(position, []).append(index)
            for (what, a, b), answer in answers:
                if what == "field" and a == index and answer and answer != "crash" and \
                        answer[0].split(" ")[0] == mnemonic:
                    new = split(answer[0])[1]
                    if len(new) == len(tokens):
                        kind, words = kind_of(new[min(positions)], b if field[4] in ("source", "scalar") else None)
                        kinds.setdefault(index, {}).setdefault(kind, 0)
                        kinds[index][kind] = max(kinds[index][kind], words)
        low = {index for index, values_of in accepted.items() if self.only_low(index, values_of)}
        for position, token in enumerate(tokens):
            fields = by_token.get(position, [])
            if fields:
                index = fields[0]
                row["operands"].append({"field": self.format.fields[index][0], "kinds": kinds[index],
                                        "token": token, "also": [self.format.fields[i][0] for i in fields[1:]],
                                        "low": index in low})
            else:
                kind, words = kind_of(token)
                row["operands"].append({"field": None, "kinds": {kind: words}, "token": token})
        return row


def probe_target(target):
    result = {}
    for format in formats.formats_of(target):
        for wave in oracle.waves(target):
            rows = Prober(target, wave, format).rows()
            result.setdefault(format.name, {})[str(wave)] = rows
            print(target, format.name, wave, len(rows), flush=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / f"{target}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    for name in sys.argv[1:] or oracle.TARGETS:
        probe_target(name)
    emit.emit(CACHE, ROOT / "src" / "amdgpu" / "isa" / "tables",
              [target for target in oracle.TARGETS if (CACHE / f"{target}.json").exists()])
