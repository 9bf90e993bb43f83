"""Where the fields of each format lie, by generation. A field is (name, word, lowest bit, bits, kind); kinds:
source: a 9-bit source; scalar: a source below 256; destination: a scalar destination of 7 bits; vector: a VGPR of 8
bits; quad: an SGPR divided by 4; pair: an SGPR divided by 2; immediate: printed as a number."""

from dataclasses import dataclass, field


@dataclass
class Format:
    name: str
    base: tuple  # words with all fields zero
    opcode: tuple  # parts of the opcode, lowest first: (word, lowest bit, bits)
    fields: list
    count: int  # opcodes
    skip: tuple = ()  # ranges of opcodes that belong to another format
    literal: bool = True
    extra: list = field(default_factory=list)  # bits that candidates are tried with, too: (word, mask)

    def opcode_bits(self, number):
        words = [0] * len(self.base)
        for word, low, bits in self.opcode:
            words[word] |= (number & ((1 << bits) - 1)) << low
            number >>= bits
        return words


def _vop(name, base, opcode, count, vdst, vsrc1, skip=()):
    """e32, and its forms with a second word."""
    fields = [("vdst", 0, 17, 8, "vector")] if vdst else []
    second = [("vsrc1", 0, 9, 8, "vector")] if vsrc1 else []
    src0 = ("src0", 0, 0, 9, "source")
    plain = Format(name, (base,), opcode, [*fields, src0, *second], count, skip)
    dpp = [*fields, ("src0", 1, 0, 8, "vector"), *second]
    sdwa = [*fields, ("src0", 1, 0, 8, "vector"), *second]
    if not vdst:
        sdwa = [("sdst", 1, 8, 7, "destination"), *sdwa]
    return [
        plain,
        Format(name + "_dpp16", (base | 0xfa, 0xff00e400), opcode, dpp, count, skip, False),
        Format(name + "_dpp8", (base | 0xe9, 0x05397700), opcode, dpp, count, skip, False),
        Format(name + "_sdwa", (base | 0xf9, (0x00060600 if vdst else 0x00060000) | (0x06000000 if vsrc1 else 0)), opcode, sdwa, count, skip, False),
    ]


SOP2 = Format("sop2", (0x80000000,), ((0, 23, 7),), [
    ("sdst", 0, 16, 7, "destination"), ("ssrc0", 0, 0, 8, "scalar"), ("ssrc1", 0, 8, 8, "scalar")], 0x60)
SOPK = Format("sopk", (0xB0000000,), ((0, 23, 5),), [
    ("sdst", 0, 16, 7, "destination"), ("simm16", 0, 0, 16, "immediate")], 0x1d)
SOP1 = Format("sop1", (0xBE800000,), ((0, 8, 8),), [
    ("sdst", 0, 16, 7, "destination"), ("ssrc0", 0, 0, 8, "scalar")], 0x100)
SOPC = Format("sopc", (0xBF000000,), ((0, 16, 7),), [
    ("ssrc0", 0, 0, 8, "scalar"), ("ssrc1", 0, 8, 8, "scalar")], 0x80)
SOPP = Format("sopp", (0xBF800000,), ((0, 16, 7),), [("simm16", 0, 0, 16, "immediate")], 0x80)
SCALAR = [SOP2, SOPK, SOP1, SOPC, SOPP]

VOP3_SOURCES = [("src0", 1, 0, 9, "source"), ("src1", 1, 9, 9, "source"), ("src2", 1, 18, 9, "source")]
VOP3_FIELDS = [("vdst", 0, 0, 8, "vector"), ("sdst", 0, 8, 7, "destination"), *VOP3_SOURCES]


def vop(generation):
    formats = []
    formats += _vop("vop1", 0x7E000000, ((0, 9, 8),), 0x100, True, False)
    formats += _vop("vop2", 0x00000000, ((0, 25, 6),), 0x3f, True, True, (0x3e, 0x3f))
    formats += _vop("vopc", 0x7C000000, ((0, 17, 8),), 0x100, False, True)
    base3 = 0xD0000000 if generation == 9 else 0xD4000000
    base3p = 0xD3800000 if generation == 9 else 0xCC000000
    # On gfx9 VOP3P lies within the opcodes of VOP3.
    skip = (0x380, 0x400) if generation == 9 else ()
    formats.append(Format("vop3", (base3, 0), ((0, 16, 10),), VOP3_FIELDS, 0x400, skip, generation != 9))
    formats.append(Format("vop3p", (base3p, 0), ((0, 16, 7),), [VOP3_FIELDS[0], *VOP3_SOURCES], 0x80, (),
                          generation != 9))
    if generation >= 11:
        dpp_sources = [("src0", 2, 0, 8, "vector"), *VOP3_SOURCES[1:]]
        for name, base in (("vop3", base3), ("vop3p", base3p)):
            first = VOP3_FIELDS[:2] if name == "vop3" else VOP3_FIELDS[:1]
            count = 0x400 if name == "vop3" else 0x80
            bits = 10 if name == "vop3" else 7
            formats.append(Format(name + "_dpp16", (base, 0xfa, 0xff00e400), ((0, 16, bits),), [*first, *dpp_sources],
                                  count, (), False))
            formats.append(Format(name + "_dpp8", (base, 0xe9, 0x05397700), ((0, 16, bits),), [*first, *dpp_sources],
                                  count, (), False))
    return formats


def _managed(*ranges):
    """Bits that src/amdgpu/isa/decode.cpp decodes by itself: not probed. (word, lowest bit, bits)"""
    return list(ranges)


def memory(target, generation):
    formats = []
    addr, data0, data1, vdst = (("vaddr", 1, 0, 8, "vector"), ("vdata", 1, 8, 8, "vector"),
                                ("vdata1", 1, 16, 8, "vector"), ("vdst", 1, 24, 8, "vector"))
    first = 17 if generation == 9 else 18
    formats.append(Format("ds", (0xD8000000, 0), ((0, first, 8),), [addr, data0, data1, vdst], 0x100, (), False,
                          _managed((0, 0, 16))))
    if generation == 9:
        formats.append(Format("smem", (0xC0020000, 0), ((0, 18, 8),), [
            ("sbase", 0, 0, 6, "pair"), ("sdata", 0, 6, 7, "destination")], 0x100, (), False,
            _managed((0, 14, 1), (0, 17, 1), (1, 0, 21), (1, 25, 7))))
    elif generation <= 11:
        null = 0x7d if generation == 10 else 0x7c
        formats.append(Format("smem", (0xF4000000, null << 25), ((0, 18, 8),), [
            ("sbase", 0, 0, 6, "pair"), ("sdata", 0, 6, 7, "destination")], 0x100, (), False,
            _managed((1, 0, 21), (1, 25, 7))))
    else:
        formats.append(Format("smem", (0xF4000000, 0x7c << 25), ((0, 13, 6),), [
            ("sbase", 0, 0, 6, "pair"), ("sdata", 0, 6, 7, "destination")], 0x40, (), False,
            _managed((1, 0, 24), (1, 25, 7))))
    buffer = [addr, data0, ("srsrc", 1, 16, 5, "quad"), ("soffset", 1, 24, 8, "scalar")]
    if generation == 9:
        formats.append(Format("mubuf", (0xE0001000, 0x80000000), ((0, 18, 7),), buffer, 0x80, (), False,
                              _managed((0, 0, 12), (0, 12, 2))))
        formats.append(Format("mtbuf", (0xE8001000, 0x80000000), ((0, 15, 4),), buffer, 0x10, (), False,
                              _managed((0, 0, 12), (0, 12, 2), (0, 19, 7))))
    elif generation == 10:
        formats.append(Format("mubuf", (0xE0001000, 0x80000000), ((0, 18, 8),), buffer, 0x100, (), False,
                              _managed((0, 0, 12), (0, 12, 2))))
        formats.append(Format("mtbuf", (0xE8001000, 0x80000000), ((0, 16, 3), (1, 21, 1)), buffer, 0x10, (), False,
                              _managed((0, 0, 12), (0, 12, 2), (0, 19, 7))))
    elif generation == 11:
        formats.append(Format("mubuf", (0xE0000000, 0x80400000), ((0, 18, 8),), buffer, 0x100, (), False,
                              _managed((0, 0, 12), (1, 22, 2))))
        formats.append(Format("mtbuf", (0xE8000000, 0x80400000), ((0, 15, 4),), buffer, 0x10, (), False,
                              _managed((0, 0, 12), (1, 22, 2), (0, 19, 7))))
    else:
        fields = [("vaddr", 2, 0, 8, "vector"), ("vdata", 1, 0, 8, "vector"), ("srsrc", 1, 9, 9, "source"),
                  ("soffset", 0, 0, 7, "scalar")]
        base = (0xC4000000, 0x40800000, 0)
        formats.append(Format("mubuf", base, ((0, 14, 8),), fields, 0x80, (), False,
                              _managed((2, 8, 24), (1, 30, 2), (1, 23, 7))))
        formats.append(Format("mtbuf", base, ((0, 14, 8),), fields, 0x90, (0, 0x80), False,
                              _managed((2, 8, 24), (1, 30, 2), (1, 23, 7))))
    if generation == 10:
        # How many registers there are depends on dmask, on how the addresses are given, and on the dimension.
        formats.append(Format("mimg", (0xF0000100, 0), ((0, 18, 7), (0, 0, 1)), [
            addr, data0, ("srsrc", 1, 16, 5, "quad"), ("ssamp", 1, 21, 5, "quad")], 0x100, (), False,
            _managed((0, 1, 5), (0, 8, 4))))
    segments = {"flat": 0, "scratch": 1, "global": 2}
    for name, segment in segments.items():
        if generation <= 11:
            shift = 16 if generation == 11 else 14
            off = {9: 0x7f, 10: 0x7d, 11: 0x7c}[generation]
            if name == "flat" and generation == 9:
                off = 0
            # With the bit that says that scratch has an address in a VGPR.
            vector = {11: 1 << 23}.get(generation, 0) if name == "scratch" else 0
            scratch = 1 << 13 if name == "scratch" and target == "gfx942" else 0
            formats.append(Format(name, (0xDC000000 | segment << shift | scratch, off << 16 | vector), ((0, 18, 7),), [addr, data0, vdst],
                                  0x80, (), False, _managed((0, 0, 13), *([(0, 13, 1)] if scratch else []), (1, 16, 7),
                                                            *([(1, 23, 1)] if generation == 11 else []))))
        else:
            formats.append(Format(name, (0xEC00007C | segment << 24, 1 << 17 if name == "scratch" else 0, 0), ((0, 14, 8),), [
                ("vaddr", 2, 0, 8, "vector"), ("vdata", 1, 23, 8, "vector"), ("vdst", 1, 0, 8, "vector")], 0x100, (),
                False, _managed((0, 0, 7), (2, 8, 24), (1, 17, 1))))
    exports = [(f"vsrc{i}", 1, 8 * i, 8, "vector") for i in range(4)]
    formats.append(Format("exp", (0xC400000F if generation == 9 else 0xF800000F, 0), (), exports, 1, (), False,
                          _managed((0, 0, 10), (0, 11, 1))))
    interpolated = [("vdst", 0, 18, 8, "vector"), ("vsrc", 0, 0, 8, "vector")]
    if generation <= 10:
        formats.append(Format("vintrp", (0xD4000000 if generation == 9 else 0xC8000000,), ((0, 16, 2),), interpolated, 3,
                              (), False, _managed((0, 8, 8))))
    else:
        formats.append(Format("vinterp", (0xCD000000, 0), ((0, 16, 7),), [VOP3_FIELDS[0], *VOP3_SOURCES], 0x80, (), False,
                              _managed((0, 8, 3))))
        formats.append(Format("lds_direct", (0xCE000000,), ((0, 20, 2),), [("vdst", 0, 0, 8, "vector")], 4, (), False,
                              _managed((0, 8, 8), (0, 16, 4), *([(0, 23, 1)] if generation == 12 else []))))
    return formats


def formats_of(target):
    from oracle import generation as number
    generation = number(target)
    return [*SCALAR, *vop(generation), *memory(target, generation)]


def prefix_mask(format, target):
    """The bits of each word that say that it is of this format."""
    from oracle import generation as number
    generation = number(target)
    name = format.name
    stem = name.split("_")[0]
    if name in ("vinterp", "lds_direct"):
        return [0xff000000] + [0] * (len(format.base) - 1)
    high = {"sop2": 2, "sopk": 4, "sop1": 9, "sopc": 9, "sopp": 9, "vop1": 7, "vop2": 1, "vopc": 7, "vop3p": 9}.get(stem, 6)
    masks = [0] * len(format.base)
    masks[0] = ((1 << high) - 1) << (32 - high)
    if stem in ("vop1", "vop2", "vopc") and stem != name:
        masks[0] |= 0x1ff
    if stem in ("vop3", "vop3p") and stem != name:
        masks[1] |= 0x1ff
    if name in ("flat", "scratch", "global"):
        masks[0] |= 3 << {9: 14, 10: 14, 11: 16, 12: 24}[generation]
    return masks
