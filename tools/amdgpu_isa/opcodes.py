"""What the mnemonics of AMD GPUs mean: which names are one opcode, and what an opcode does besides its operands.

Written and reviewed by hand. `canonical` gives the base opcode of a name without its suffix, `flags` what
src/amdgpu/isa/opcode.h calls OpcodeFlags.
"""

import re

SUFFIX = re.compile(r"_(e64_dpp8|e64_dpp|e32|e64|dpp8|dpp|sdwa)$")

# Whole names that only changed. The meaning is the same, also in the order of operands.
RENAMED = dict(line.split() for line in """
v_add_u32 v_add_nc_u32
v_sub_u32 v_sub_nc_u32
v_subrev_u32 v_subrev_nc_u32
v_add_u16 v_add_nc_u16
v_sub_u16 v_sub_nc_u16
v_add_i16 v_add_nc_i16
v_sub_i16 v_sub_nc_i16
v_add_i32 v_add_nc_i32
v_sub_i32 v_sub_nc_i32
v_addc_co_u32 v_add_co_ci_u32
v_subb_co_u32 v_sub_co_ci_u32
v_subbrev_co_u32 v_subrev_co_ci_u32
v_mad_co_u64_u32 v_mad_u64_u32
v_mad_co_i64_i32 v_mad_i64_i32
v_cvt_pk_rtz_f16_f32 v_cvt_pkrtz_f16_f32
v_cvt_pk_norm_i16_f32 v_cvt_pknorm_i16_f32
v_cvt_pk_norm_u16_f32 v_cvt_pknorm_u16_f32
v_cvt_pk_norm_i16_f16 v_cvt_pknorm_i16_f16
v_cvt_pk_norm_u16_f16 v_cvt_pknorm_u16_f16
v_cvt_floor_i32_f32 v_cvt_flr_i32_f32
v_cvt_nearest_i32_f32 v_cvt_rpi_i32_f32
v_clz_i32_u32 v_ffbh_u32
v_cls_i32 v_ffbh_i32
v_ctz_i32_b32 v_ffbl_b32
v_dot2acc_f32_f16 v_dot2c_f32_f16
v_mul_dx9_zero_f32 v_mul_legacy_f32
v_fma_dx9_zero_f32 v_fma_legacy_f32
v_fmac_dx9_zero_f32 v_fmac_legacy_f32
s_and_not1_b32 s_andn2_b32
s_and_not1_b64 s_andn2_b64
s_or_not1_b32 s_orn2_b32
s_or_not1_b64 s_orn2_b64
s_and_not0_saveexec_b32 s_andn1_saveexec_b32
s_and_not0_saveexec_b64 s_andn1_saveexec_b64
s_and_not1_saveexec_b32 s_andn2_saveexec_b32
s_and_not1_saveexec_b64 s_andn2_saveexec_b64
s_or_not0_saveexec_b32 s_orn1_saveexec_b32
s_or_not0_saveexec_b64 s_orn1_saveexec_b64
s_or_not1_saveexec_b32 s_orn2_saveexec_b32
s_or_not1_saveexec_b64 s_orn2_saveexec_b64
s_and_not0_wrexec_b32 s_andn1_wrexec_b32
s_and_not0_wrexec_b64 s_andn1_wrexec_b64
s_and_not1_wrexec_b32 s_andn2_wrexec_b32
s_and_not1_wrexec_b64 s_andn2_wrexec_b64
s_cls_i32 s_flbit_i32
s_cls_i32_i64 s_flbit_i32_i64
s_clz_i32_u32 s_flbit_i32_b32
s_clz_i32_u64 s_flbit_i32_b64
s_ctz_i32_b32 s_ff1_i32_b32
s_ctz_i32_b64 s_ff1_i32_b64
s_add_co_i32 s_add_i32
s_add_co_u32 s_add_u32
s_add_co_ci_u32 s_addc_u32
s_sub_co_i32 s_sub_i32
s_sub_co_u32 s_sub_u32
s_sub_co_ci_u32 s_subb_u32
s_addk_co_i32 s_addk_i32
s_set_inst_prefetch_distance s_inst_prefetch
s_wait_alu s_waitcnt_depctr
ds_direct_load lds_direct_load
ds_param_load lds_param_load
export exp
ds_load_addtid_b32 ds_read_addtid_b32
ds_store_addtid_b32 ds_write_addtid_b32
image_atomic_add_flt image_atomic_add_f32
""".strip().splitlines())

MEMORY_PARTS = [
    (r"^(buffer|global|flat|scratch|s|s_buffer)_(load|store)_b32$", r"\1_\2_dword"),
    (r"^(buffer|global|flat|scratch|s|s_buffer)_(load|store)_b64$", r"\1_\2_dwordx2"),
    (r"^(buffer|global|flat|scratch)_(load|store)_b96$", r"\1_\2_dwordx3"),
    (r"^(buffer|global|flat|scratch|s|s_buffer)_(load|store)_b128$", r"\1_\2_dwordx4"),
    (r"^(s|s_buffer)_load_b256$", r"\1_load_dwordx8"),
    (r"^(s|s_buffer)_load_b512$", r"\1_load_dwordx16"),
    (r"^(\w+)_load_u8$", r"\1_load_ubyte"),
    (r"^(\w+)_load_i8$", r"\1_load_sbyte"),
    (r"^(\w+)_load_u16$", r"\1_load_ushort"),
    (r"^(\w+)_load_i16$", r"\1_load_sshort"),
    (r"^(\w+)_load_d16_u8$", r"\1_load_ubyte_d16"),
    (r"^(\w+)_load_d16_hi_u8$", r"\1_load_ubyte_d16_hi"),
    (r"^(\w+)_load_d16_i8$", r"\1_load_sbyte_d16"),
    (r"^(\w+)_load_d16_hi_i8$", r"\1_load_sbyte_d16_hi"),
    (r"^(\w+)_load_d16_b16$", r"\1_load_short_d16"),
    (r"^(\w+)_load_d16_hi_b16$", r"\1_load_short_d16_hi"),
    (r"^(\w+)_store_b8$", r"\1_store_byte"),
    (r"^(\w+)_store_d16_hi_b8$", r"\1_store_byte_d16_hi"),
    (r"^(\w+)_store_b16$", r"\1_store_short"),
    (r"^(\w+)_store_d16_hi_b16$", r"\1_store_short_d16_hi"),
    (r"^(t?buffer)_(load|store)_d16_format_(\w+)$", r"\1_\2_format_d16_\3"),
    (r"^(t?buffer)_(load|store)_d16_hi_format_x$", r"\1_\2_format_d16_hi_x"),
    (r"^(\w+)_(load|store)_addtid_b32$", r"\1_\2_dword_addtid"),
    (r"^(\w+)_atomic_(add|sub|inc|dec)_u32$", r"\1_atomic_\2"),
    (r"^(\w+)_atomic_(add|sub|inc|dec)_u64$", r"\1_atomic_\2_x2"),
    (r"^(\w+)_atomic_(and|or|xor|swap|cmpswap)_b32$", r"\1_atomic_\2"),
    (r"^(\w+)_atomic_(and|or|xor|swap|cmpswap)_b64$", r"\1_atomic_\2_x2"),
    (r"^(\w+)_atomic_(min|max)_u32$", r"\1_atomic_u\2"),
    (r"^(\w+)_atomic_(min|max)_i32$", r"\1_atomic_s\2"),
    (r"^(\w+)_atomic_(min|max)_u64$", r"\1_atomic_u\2_x2"),
    (r"^(\w+)_atomic_(min|max)_i64$", r"\1_atomic_s\2_x2"),
    (r"^(\w+)_atomic_(min|max)(_num)?_f32$", r"\1_atomic_f\2"),
    (r"^(\w+)_atomic_(min|max)_f64$", r"\1_atomic_f\2_x2"),
    (r"^(\w+)_atomic_cmpswap_f32$", r"\1_atomic_fcmpswap"),
    (r"^(\w+)_atomic_(csub|sub_clamp)_u32$", r"\1_atomic_csub"),
    (r"^image_atomic_(min|max)_uint$", r"image_atomic_u\1"),
    (r"^image_atomic_(min|max)_int$", r"image_atomic_s\1"),
    (r"^image_atomic_(min|max)_flt$", r"image_atomic_f\1"),
    (r"^image_atomic_(\w+)_uint$", r"image_atomic_\1"),
    # ds_cmpstore is not among them: its data come in the other order.
    (r"^ds_load_(?!2addr)(\w+)$", r"ds_read_\1"),
    (r"^ds_load_2addr_(b\d+)$", r"ds_read2_\1"),
    (r"^ds_load_2addr_stride64_(b\d+)$", r"ds_read2st64_\1"),
    (r"^ds_store_(?!2addr)(\w+)$", r"ds_write_\1"),
    (r"^ds_store_2addr_(b\d+)$", r"ds_write2_\1"),
    (r"^ds_store_2addr_stride64_(b\d+)$", r"ds_write2st64_\1"),
    (r"^ds_storexchg_2addr_rtn_(b\d+)$", r"ds_wrxchg2_rtn_\1"),
    (r"^ds_storexchg_2addr_stride64_rtn_(b\d+)$", r"ds_wrxchg2st64_rtn_\1"),
    (r"^ds_storexchg_rtn_(b\d+)$", r"ds_wrxchg_rtn_\1"),
    (r"^ds_(min|max)_num_(rtn_)?(f32|f64)$", r"ds_\1_\2\3"),
    (r"^v_cmp(x?)_t_f(\d+)$", r"v_cmp\1_tru_f\2"),
    (r"^(v|s)_(\w+)_num_(f16|f32|f64)$", r"\1_\2_\3"),
    (r"^v_dual_(\w+)$", r"v_\1"),
    (r"^(v_s?mfma[c]?_[a-z0-9]+_\d+x\d+x\d+)_(?:\d+b_)?(\w+)$", r"\1\2"),
    (r"^(v_mfma_f32_\d+x\d+x\d+)_(?:\d+b_)?bf16$", r"\1bf16_1k"),
]
MEMORY_PARTS = [(re.compile(pattern), to) for pattern, to in MEMORY_PARTS]


def canonical(name, known):
    """The base opcode of a mnemonic without its suffix. `known`: the names of gfx9, gfx10 and gfx11, which come first. A rule
    whose result nobody has does not apply, so that what is new on gfx11 and gfx12 keeps its name."""
    if name.startswith("v_dual_"):
        name = "v_" + name[len("v_dual_"):]
    if name in RENAMED:
        return RENAMED[name]
    if re.match(r"v_mfma_f32_\d+x\d+x\d+_(\d+b_)?bf16$", name):
        old = re.sub(r"_(\d+b_)?bf16$", "bf16_1k", name)
        if old in known:
            return old
    for pattern, to in MEMORY_PARTS:
        if pattern.match(name):
            old = pattern.sub(to, name)
            if old in known:
                return old
    return name


def _scalar_flags(name):
    flags = {"scalar"}
    base = re.sub(r"_[a-z0-9]+$", "", name)
    if name.startswith(("s_load", "s_buffer_load", "s_scratch_load", "s_memtime", "s_memrealtime", "s_atc", "s_dcache",
                        "s_gl1", "s_store", "s_buffer_store", "s_scratch_store", "s_atomic", "s_buffer_atomic",
                        "s_prefetch", "s_buffer_prefetch", "s_get_waveid", "s_icache")):
        if "_load" in name:
            flags.add("load")
        if "_store" in name:
            flags.add("store")
        if "_atomic" in name:
            flags |= {"load", "store", "atomic", "reads_destination"}
        return flags
    if re.match(r"s_(add|sub)_[iu]32$|s_absdiff|s_abs_|s_(min|max)_[iu]32$|s_lshl\d_add|s_addk_i32", name):
        flags.add("writes_scc")
    if re.match(r"s_(addc|subb)_u32", name):
        flags |= {"writes_scc", "reads_scc"}
    if re.match(r"s_(and|or|xor|nand|nor|xnor|andn2|orn2|not|wqm|quadmask|bcnt0_i32|bcnt1_i32)_b\d+$", name):
        flags.add("writes_scc")
    if re.match(r"s_(lshl|lshr|ashr|bfe)_[biu]\d+$", name):
        flags.add("writes_scc")
    if re.match(r"s_cmpk?_|s_bitcmp", name):
        flags.add("writes_scc")
    if re.match(r"s_cselect|s_cmov", name):
        flags.add("reads_scc")
    if re.match(r"s_cmov|s_bitset|s_addk|s_mulk|s_fmac_", name):
        flags.add("reads_destination")
    if "saveexec" in name or "wrexec" in name:
        flags |= {"writes_scc", "reads_exec", "writes_exec"}
    if name.startswith("s_movrel"):
        flags.add("reads_m0")
    if name in ("s_sendmsg", "s_sendmsghalt"):
        flags.add("reads_m0")
    if name.startswith("s_set_gpr_idx"):
        flags |= {"writes_m0", "writes_mode"}
    if name.startswith(("s_setreg", "s_round_mode", "s_denorm_mode", "s_setvskip")):
        flags.add("writes_mode")
    if name.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_rfe", "s_subvector_loop", "s_endpgm",
                        "s_trap")):
        flags.add("branch")
    if name.startswith(("s_branch", "s_setpc", "s_swappc", "s_call", "s_rfe", "s_endpgm")):
        flags.add("terminator")
    if "scc0" in name or "scc1" in name:
        flags.add("reads_scc")
    if "vccz" in name or "vccnz" in name:
        flags.add("reads_vcc")
    if "execz" in name or "execnz" in name or name.startswith("s_subvector_loop"):
        flags.add("reads_exec")
    if name.startswith("s_subvector_loop"):
        flags.add("writes_exec")
    if re.match(r"s_barrier(_wait)?$", name):
        flags.add("barrier")
    if name in ("s_barrier_signal_isfirst", "s_barrier_leave"):
        flags.add("writes_scc")
    if re.match(r"s_nop|s_wait|s_delay_alu|s_clause|s_inst_prefetch|s_sleep|s_setprio|s_wakeup$|s_code_end|s_version|"
                r"s_incperflevel|s_decperflevel|s_ttracedata|s_singleuse_vdst|s_sethalt|s_setkill", name):
        flags.add("wait")
    return flags


def _vector_flags(name):
    flags = set()
    if name.startswith("v_cmpx"):
        flags.add("writes_exec")
    if name.startswith("v_div_fmas"):
        flags.add("reads_vcc")
    if re.match(r"v_(mac|fmac|pk_fmac|dot\dc|dot2acc|writelane|swap|movreld)", name):
        flags.add("reads_destination")
    if re.match(r"v_(fma|mad)_mix(lo|hi)_f16|v_cvt_(pk|sr)_(fp8|bf8)_f32", name):
        flags.add("reads_destination")  # the other part of the destination stays
    if re.match(r"v_permlane|v_swmmac|v_smfmac", name):
        flags.add("reads_destination")  # permlane: what a lane that reads nothing keeps; smfmac: the accumulator
    if name.startswith("v_swap"):
        flags.add("swaps")
    if re.match(r"v_movrel|v_swaprel|v_interp", name):
        flags.add("reads_m0")
    if re.match(r"v_(readlane|readfirstlane|writelane|permlane|wmma|swmmac|mfma|smfmac)", name):
        flags.add("cross_lane")
    if re.match(r"v_(wmma|swmmac|mfma|smfmac)", name):
        flags.add("matrix")
    if name.startswith("v_pk_") and not name.startswith("v_pk_mov"):
        flags.add("packed")
    return flags


def _ds_flags(name):
    if name in ("ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32"):
        return {"cross_lane"}
    if name == "ds_nop":
        return {"wait"}
    if name.startswith("ds_gws"):
        return {"reads_m0"} | ({"barrier"} if name == "ds_gws_barrier" else set())
    if name in ("ds_append", "ds_consume", "ds_ordered_count"):
        return {"load", "store", "atomic", "reads_m0"}
    if name.startswith("ds_read"):
        return {"load"} | ({"reads_destination"} if "_d16" in name else set())
    if name.startswith("ds_write"):
        return {"store"}
    return {"load", "store", "atomic"}


def _vector_memory_flags(name):
    if re.search(r"_(inv|wb|wbinv|invl2|wbl2|wbinvl1|wbinvl1_vol)$", name):
        return {"wait"}
    flags = set()
    if name.startswith("image"):
        flags.add("image")
    if "_atomic" in name:
        flags |= {"load", "store", "atomic"}
    elif "_store" in name:
        flags.add("store")
    else:
        flags.add("load")
        if "_d16" in name and not name.startswith("image"):
            flags.add("reads_destination")
    if "_lds_" in name:
        flags |= {"reads_m0"}
    return flags


def flags(name):
    """The names of OpcodeFlags that hold for a base opcode."""
    if name == "exp":
        return {"export_"}
    if name.startswith("lds_"):
        return {"load", "reads_m0"}
    if name.startswith("s_"):
        return _scalar_flags(name)
    if name.startswith("v_"):
        return _vector_flags(name)
    if name.startswith("ds_"):
        return _ds_flags(name)
    return _vector_memory_flags(name)
