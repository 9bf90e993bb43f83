"""Writes src/amdgpu/isa/tables from what make_tables.py found."""

import json
import re

import formats
import opcodes
import oracle
import types_of_operands as types

LITERALS = re.compile(r"^(v_(dual_)?(madak|madmk|fmaak|fmamk)|s_(fmaak|fmamk|setreg_imm32))")
LANE_MASKS = re.compile(r"^v_(cmpx?_|cndmask|\w*_co_|div_scale|mad_[iu]64_[iu]32)")
ROLES = {"src0": 0, "ssrc0": 0, "vsrc1": 1, "src1": 1, "ssrc1": 1, "src2": 2}
TWO_DESTINATIONS = re.compile(r"^v_(div_scale|mad_[iu]64_[iu]32|mad_co_|\w+_co_u32|\w+_co_ci_u32|addc_co|subb_co|subbrev_co)")
NO_DESTINATION = re.compile(r"^s_(setpc|rfe|cmp|bitcmp|cmpk|setreg|set_gpr|setvskip|cbranch|waitcnt|barrier_(init|join|signal|wait)|"
                            r"sleep_var|wakeup_barrier|dcache|icache|gl1|atc|store|buffer_store|scratch_store|prefetch|"
                            r"buffer_prefetch|subvector)|v_nop|v_clrexcp|v_pipeflush|v_illegal")
LABELS = re.compile(r"^s_(c?branch|subvector_loop|call)")


def special_rows(name, row):
    """What probing with zeros does not show."""
    if name == "exp":
        row["operands"] = [{"field": f"vsrc{i}", "kinds": {"vgpr": 1}, "token": "v0", "also": []} for i in range(4)]
    if name in ("sopp", "sopk") and any(operand["field"] is None for operand in row["operands"]):
        row["ignored"] = [row["ignored"][0] & ~0xffff]  # what the first samples do not show is an operand nevertheless
    if name == "sopp" and row["mnemonic"] == "s_endpgm" and not row["operands"]:
        row["operands"].append({"field": "simm16", "kinds": {}, "token": "0", "also": []})
        row["ignored"] = [0]


# What is decoded wrong rather than not at all if it came into the tables: tests/amdgpu/isa/differences.txt.
LEFT_OUT = re.compile(r"s_prefetch|s_buffer_prefetch|buffer_store_lds|v_mov_b16|\w+_t16")
VOPD = ["fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32", "mul_dx9_zero_f32", "mov_b32",
        "cndmask_b32", "max_f32", "min_f32", "dot2acc_f32_f16", "dot2acc_f32_bf16", None, None, "add_nc_u32",
        "lshlrev_b32", "and_b32"]
SOURCE = ("exec | execz | integer | lds_direct | literal | m0 | null | pops_exiting_wave_id | private_base | private_limit | real | scc | "
          "sgpr | shared_base | shared_limit | ttmp | vcc | vccz | vgpr")


def dual_rows(generation):
    """The two halves of VOPD, by hand: what each can be is a list in the ISA document. (format, number, mnemonic, rules)"""
    for half, last in (("vopdx", 14), ("vopdy", 19)):
        source0, vsrc1, vdst = (0, 9, "56, 8") if half == "vopdx" else (32, 41, "49, 7")
        for number, name in enumerate(VOPD[:last]):
            if name is None:
                continue
            if generation == 12:
                name = name.replace("max_f32", "max_num_f32").replace("min_f32", "min_num_f32")
                if name.startswith("dot2acc"):
                    continue
            elif name == "dot2acc_f32_bf16":
                continue
            kind = types.type_of("v_" + name, False, 0, 1)
            result = types.type_of("v_" + name, True, 0, 1)
            rules = [f"O(vector, 4, {vdst}, 1, {result}, 255, vgpr)",
                     f"O(source, 0, {source0}, 9, 1, {kind}, 255, {SOURCE})"]
            second = f"O(vector, 1, {vsrc1}, 8, 1, {kind}, 255, vgpr)"
            literal = f"O(literal, 3, 0, 0, 1, {kind}, 255, literal)"
            if name.startswith("fmamk"):
                rules += [literal, second]
            elif name.startswith("fmaak"):
                rules += [second, literal]
            elif name == "cndmask_b32":
                rules += [second, "O(implied, 3, 0, 0, 1, lane_mask, 255, vcc)"]
            elif name != "mov_b32":
                rules.append(second)
            yield half, number, "v_dual_" + name, rules


def destinations(mnemonic, format, operands):
    if not operands:
        return 0
    if format.startswith("vop"):
        if mnemonic.startswith("v_cmpx") and operands[0]["field"] in ROLES:
            return 0
        if NO_DESTINATION.match(mnemonic):
            return 0
        return 2 if TWO_DESTINATIONS.match(mnemonic) else 1
    if format in ("sop1", "sop2", "sopk", "sopc", "sopp", "smem"):
        if format in ("sopc", "sopp") or NO_DESTINATION.match(mnemonic) or \
                (format == "sopk" and re.match(r"s_waitcnt", mnemonic)):
            return 0
        if mnemonic == "s_get_barrier_state" or operands[0]["field"] in ("sdst", "sdata"):
            return 1
        return 0
    if operands[0]["field"] == "vdst":
        return 1
    if format == "mimg":
        return 0 if "_store" in mnemonic or "_atomic" in mnemonic else 1
    if format in ("mubuf", "mtbuf") and "_load" in mnemonic and "_lds_" not in mnemonic:
        return 1
    return 0


def position_of(format, name):
    for field in format.fields:
        if field[0] == name:
            return field[1] * 32 + field[2], field[3], field[4]
    raise KeyError((format.name, name))


def operand_rule(format, row, index, count):
    """One operand as the text of a rule: O(how, role, position, bits, words, type, acc, kinds)"""
    operand, mnemonic = row["operands"][index], row["mnemonic"]
    is_destination = index < count
    source = index - count
    token = operand["token"]
    acc = 255
    if str(index) in row.get("acc", {}):
        word, bit = row["acc"][str(index)]
        acc = word * 32 + bit
    if LITERALS.match(mnemonic) and (token.startswith("0x") or token == "-1.0"):
        return f"O(literal, 3, 0, 0, 1, {types.type_of(mnemonic, False, 1, 1)}, 255, literal)"
    field = operand["field"]
    kinds = {k: v for k, v in operand["kinds"].items() if k != "other"}
    if token.startswith("attr"):
        if format.name in ("vintrp", "lds_direct"):
            return "O(attribute, 3, 8, 8, 0, bits, 255, attribute)"
        return "O(attribute, 3, 32, 9, 0, bits, 255, attribute)"
    if mnemonic.startswith("v_interp_mov") and token.startswith(("p", "invalid_param")):
        position = position_of(format, field)[0] if field else (0 if format.name == "vintrp" else 41)
        bits = 8 if format.name == "vintrp" else 9
        return f"O(immediate, 3, {position}, {bits}, 0, bits, 255, immediate)"
    if mnemonic.startswith("v_interp") and format.name == "vop3" and field in ("src1", "src2"):
        position = position_of(format, field)[0]
        return f"O(source, {ROLES[field]}, {position}, 9, 1, f32, 255, {' | '.join(sorted(kinds))})"
    if format.name == "smem" and field is None:
        return "O(offset, 13, 0, 0, 0, bits, 255, immediate)"
    if field == "sdata" and "integer" in kinds:
        return f"O(immediate, 12, 6, 7, 0, bits, 255, immediate)"
    if mnemonic.startswith(("s_sendmsg_rtn", "s_set_gpr_idx_on")) and index == 1:
        return f"O(immediate, 3, {0 if mnemonic.startswith('s_sendmsg') else 8}, 8, 0, bits, 255, immediate)"
    if token == "gds":
        return None  # a modifier, where there is no operand before it
    if field is None:
        if token in ("off", "null") or kinds.keys() & {"vcc", "exec", "m0", "scc"}:
            kind = next(iter(kinds))
            words = {"vcc": 2, "exec": 2, "vcc_lo": 1, "exec_lo": 1, "m0": 1}.get(token, 0)
            kind_type = "lane_mask" if kind in ("vcc", "exec") else "bits"
            return f"O(implied, 3, 0, 0, {words}, {kind_type}, 255, {kind})"
        position = {"sopp": 0, "sopk": 0}.get(format.name)
        if position is not None:
            how = "label" if LABELS.match(mnemonic) else "immediate"
            return f"O({how}, 3, 0, 16, 0, bits, 255, {how})"
        return f"O(immediate, 3, 0, 16, 0, bits, 255, immediate) /* {token} */"
    position, bits, how = position_of(format, field)
    if how == "immediate":
        how = "label" if LABELS.match(mnemonic) else "immediate"
        return f"O({how}, 3, {position}, {bits}, 0, bits, 255, {how})"
    words = max(kinds.values()) if kinds else 0
    if not words:
        words = 1
    kind_type = types.type_of(mnemonic, is_destination, source, words)
    if LANE_MASKS.match(mnemonic) and how in ("destination", "source", "vector", "scalar") and \
            "vgpr" not in kinds and (index == count - 1 or index == len(row["operands"]) - 1):
        kind_type = "lane_mask"
    role = ROLES.get(field, 3)
    if role == 3:
        role = {"vdst": 4, "sdst": 5, "vaddr": 6, "vdata": 7, "vdata1": 8, "srsrc": 9, "soffset": 10, "sbase": 11,
                "sdata": 12}.get(field, 3)
    if field == "sdst" and row["gfx9"] and "sgpr" in kinds:
        kinds = {**kinds, "flat_scratch": 0, "xnack_mask": 0}
    if how == "pair":
        kinds = {**kinds, "ttmp": words}
    if how == "quad":
        kinds = {**kinds, "ttmp": 4}
    if how == "quad" and row["gfx11"]:
        kinds = {**kinds, "null": 0}
    if how == "pair" and words == 2:
        kinds = {**kinds, "exec": 0, "vcc": 0, "ttmp": 2}
        if row["gfx9"]:
            kinds = {**kinds, "flat_scratch": 0, "xnack_mask": 0}
    if how == "vector" and "vgpr" not in kinds and "agpr" in kinds:
        how = "accumulator"
    elif how == "vector" and "vgpr" not in kinds:
        how = "scalar"  # v_readlane's destination
    how = {"destination": "scalar"}.get(how, how)
    if operand.get("low") and words == 1:
        how += "_low"
    if acc != 255:
        kinds = {**kinds, "agpr": 0, "vgpr": 0}
    kinds = " | ".join(sorted(kinds)) or "0"
    return f"O({how}, {role}, {position}, {bits}, {words}, {kind_type}, {acc}, {kinds})"


def emit(cache, folder, targets):
    shapes, classes, rows = {}, {}, {}
    names = set()
    found = {target: json.loads((cache / f"{target}.json").read_text()) for target in targets}
    for target, all_formats in found.items():
        for waves in all_formats.values():
            for numbers in waves.values():
                names |= {opcodes.SUFFIX.sub("", row["mnemonic"]) for row in numbers.values()}
    old = {opcodes.SUFFIX.sub("", row["mnemonic"]) for target in targets if oracle.generation(target) < 12
           for waves in found[target].values() for numbers in waves.values() for row in numbers.values()}
    # The names of gfx9 and gfx10 that are themselves renamed are no base names.
    renamed = {}

    def base(name):
        name = opcodes.SUFFIX.sub("", name)
        first = name
        for _ in range(4):
            name = opcodes.canonical(name, old)
        if name != first:
            renamed[first] = name
        return name

    for target in targets:
        generation_formats = {format.name: format for format in formats.formats_of(target)}
        for name, waves in found[target].items():
            format = generation_formats[name]
            for wave, numbers in waves.items():
                for number, row in numbers.items():
                    if name.endswith(("_dpp16", "_dpp8", "_sdwa")) and \
                            not row["mnemonic"].endswith(("_dpp", "_dpp8", "_sdwa")) and \
                            "dpp8:" not in row["example"] and "quad_perm:" not in row["example"]:
                        continue  # the plain form, of which these bits are no field
                    if LEFT_OUT.match(row["mnemonic"]) or \
                            (oracle.generation(target) == 12 and row["mnemonic"].startswith("s_atc")):
                        continue
                    row["gfx11"] = oracle.generation(target) == 11
                    row["gfx9"] = oracle.generation(target) == 9
                    special_rows(name, row)
                    count = destinations(row["mnemonic"], name, row["operands"])
                    rules = []
                    for index in range(len(row["operands"])):
                        rule = operand_rule(format, row, index, count)
                        if rule:
                            kinds = rule[rule.rindex(", ") + 2:-1]
                            if "/*" not in rule and kinds not in classes:
                                classes[kinds] = f"k{len(classes)}"
                            rules.append(rule if "/*" in rule else rule[:rule.rindex(", ") + 2] + classes[kinds] + ")")
                    fixed, value, ignored = row["fixed"], row["value"], row["ignored"]
                    if any(o["field"] == "sdst" for o in row["operands"]) and name.startswith("vop3"):
                        pass
                    words = [f"{{{', '.join(f'{w:#x}u' for w in (*part, 0, 0, 0)[:3])}}}" for part in (fixed, value, ignored)]
                    text = f"{', '.join(words)}, {count}, {len(rules)}, {{{', '.join(rules)}}}"
                    shape = shapes.setdefault(text, len(shapes) + 1)
                    key = (target, name, int(number))
                    entry = rows.setdefault(key, {"mnemonic": {}, "shape": {}})
                    entry["mnemonic"][wave] = row["mnemonic"]
                    entry["shape"][wave] = shape
    for target in targets:
        if oracle.generation(target) >= 11:
            for half, number, mnemonic, rules in dual_rows(oracle.generation(target)):
                named = []
                for rule in rules:
                    kinds = rule[rule.rindex(", ") + 2:-1]
                    named.append(rule[:rule.rindex(", ") + 2] + classes.setdefault(kinds, f"k{len(classes)}") + ")")
                fixed = "0, 0, 0"
                if mnemonic.endswith("mov_b32"):  # no second source
                    fixed = "0x1fe00u, 0, 0" if half == "vopdx" else "0, 0x1fe00u, 0"
                text = f"{{{fixed}}}, {{0, 0, 0}}, {{0, 0, 0}}, 1, {len(rules)}, {{{', '.join(named)}}}"
                shape = shapes.setdefault(text, len(shapes) + 1)
                rows[target, half, number] = {"mnemonic": {"32": mnemonic}, "shape": {"32": shape}}
    head = "// Made by tools/amdgpu_isa/make_tables.py.{}\n// clang-format off\n"
    with open(folder / "shapes.inc", "w") as file:
        file.write(head.format(" Which operands an instruction has, and which bits it fixes."))
        for kinds, name in classes.items():
            file.write(f"WAVEGATE_KINDS({name}, {kinds})\n")
        for text, number in shapes.items():
            file.write(f"WAVEGATE_SHAPE({number}, {text})\n")
    used = {}
    for target in targets:
        with open(folder / f"{target}.inc", "w") as file:
            file.write(head.format(" WAVEGATE_ROW(format, number, opcode, mnemonic, shape in wave32, shape in wave64)"))
            for (row_target, name, number), entry in rows.items():
                if row_target != target:
                    continue
                mnemonics = entry["mnemonic"]
                mnemonic = mnemonics.get("64", mnemonics.get("32"))
                opcode = base(mnemonic)
                used[opcode] = opcodes.flags(opcode)
                shape = entry["shape"]
                file.write(f'WAVEGATE_ROW({name}, {number:#x}, {opcode}, "{mnemonic}", {shape.get("32", 0)}, '
                           f'{shape.get("64", 0)})\n')
    with open(folder / "opcodes.inc", "w") as file:
        file.write(head.format(" WAVEGATE_OPCODE(name, flags), sorted"))
        for opcode in sorted(used):
            file.write(f"WAVEGATE_OPCODE({opcode}, {' | '.join(sorted(used[opcode])) or 'none'})\n")
    with open(folder / "renamed.inc", "w") as file:
        file.write(head.format(" WAVEGATE_RENAMED(name, opcode): other names of an opcode, sorted"))
        for name in sorted(renamed):
            if name not in used:
                file.write(f"WAVEGATE_RENAMED({name}, {renamed[name]})\n")
    print(len(shapes), "shapes", len(classes), "classes", len(used), "opcodes")
