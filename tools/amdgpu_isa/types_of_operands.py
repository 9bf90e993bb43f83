"""How the bits of operands are read, from the names of instructions."""

import re

WHOLE = {1: "b32", 2: "b64"}
SUFFIX = re.compile(r"_(?:e64_dpp8|e64_dpp|e32|e64|dpp8|dpp|sdwa)$")
TYPE = re.compile(r"^(?:[iubf](?:8|16|32|64)|bf16|bf8|fp8|i4|u4|iu8|iu4|xf32)$")
SIMPLE = {"f16": "f16", "bf16": "bf16", "i16": "i16", "u16": "u16", "b16": "b16", "f32": "f32", "i32": "i32", "u32": "u32",
          "f64": "f64", "i64": "i64", "u64": "u64"}
# Sources of a type that the name does not tell, by position.
SOURCES = {
    r"v_ldexp_f16": {1: "i16"}, r"v_ldexp_f32": {1: "i32"}, r"v_ldexp_f64": {1: "i32"},
    r"v_cmpx?_class_f16": {1: "b16"}, r"v_cmpx?_class_f\d+": {1: "bits"}, r"v_trig_preop_f64": {1: "i32"},
    r"v_cndmask_b32": {}, r"v_div_scale_\w+": {}, r"v_cvt_pk_u8_f32": {1: "u32", 2: "u32"}, r"v_cvt_pkaccum_u8_f32": {1: "u32"},
    r"v_(lshlrev|lshrrev|ashrrev)_[bi]64": {0: "u32"}, r"v_mad_[iu]64_[iu]32": {2: "u64"},
    r"v_mad_[iu]32_[iu]16": {2: "i32"}, r"v_dot\d\w*_f32_f16": {2: "f32"}, r"v_dot\d\w*_f32_bf16": {2: "f32"},
    r"v_pack_b32_f16": {}, r"s_pack_\w+": {0: "bits", 1: "bits"}, r"v_lshl_add_u64": {1: "u32"}, r"v_dot2\w*_[iu]32_[iu]16": {2: "i32"},
    r"s_(lshl|lshr|ashr)_[bi]64": {1: "u32"}, r"s_bfe_[iu]64": {1: "u32"},
}


def base_type(part):
    return SIMPLE.get(part, "bits")


def type_of(mnemonic, is_destination, source, words):
    """The ValueType of an operand: `source` is its index among the sources."""
    name = SUFFIX.sub("", mnemonic)
    if name.startswith("v_dual_"):
        name = "v_" + name[7:]
    parts = name.split("_")
    types = [part for part in parts[1:] if TYPE.match(part)]
    if not name.startswith(("v_", "s_")) or not types:
        return "bits"
    if re.match(r"v_s?mfmac?_|v_s?wmmac?_", name):
        return "bits"
    if name.startswith("v_pk_") and not is_destination or (name.startswith("v_pk_") and is_destination):
        if types[-1] == "f32":
            return "packed_f32"
        return {"f16": "packed_f16", "bf16": "packed_bf16"}.get(types[-1], "packed_i16" if types[-1][1:] == "16" else "bits")
    if re.match(r"v_dot2\w*_(f32|i32|u32|f16|bf16)_(f16|i16|u16|bf16)$", name) and not is_destination and source < 2:
        return {"f16": "packed_f16", "bf16": "packed_bf16"}.get(types[-1], "packed_i16")
    if re.match(r"v_(fma|mad)_mix", name):
        return ("f32" if name.endswith("f32") else "f16") if is_destination else "f32"
    kind = types[0] if is_destination else types[-1]
    if not is_destination:
        for pattern, special in SOURCES.items():
            if re.fullmatch(pattern, name) and source in special:
                kind = special[source]
    if name.startswith("s_") and kind in ("i16", "u16", "b16"):
        return "bits"
    if name == "v_sad_u16":
        return "bits"
    if name.startswith("v_sat_pk"):
        return "packed_i16"
    answer = base_type(kind)
    size = {"f16": 1, "bf16": 1, "i16": 1, "u16": 1, "b16": 1, "f32": 1, "i32": 1, "u32": 1, "f64": 2, "i64": 2, "u64": 2,
            "bits": words}[answer]
    if size == words:
        return answer
    # The name tells another operand's type, as in v_lshlrev_b64 v[0:1], v2, v[4:5].
    return "u32" if words == 1 and answer in ("f64", "i64", "u64") else "bits"
