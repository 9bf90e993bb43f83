#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace wavegate::amdgpu::wave::testing {

// Mnemonics that control_values_test.cpp is about, by what it says of them.
inline constexpr std::string_view kBranchNames[] = {"s_branch",        "s_cbranch_scc0",  "s_cbranch_scc1",
                                                    "s_cbranch_vccz",  "s_cbranch_vccnz", "s_cbranch_execz",
                                                    "s_cbranch_execnz"};
inline constexpr std::string_view kJumpNames[] = {"s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_call_b64"};
inline constexpr std::string_view kEndNames[] = {"s_endpgm", "s_endpgm_saved"};
inline constexpr std::string_view kModeNames[] = {"s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32", "s_round_mode",
                                                  "s_denorm_mode"};
inline constexpr std::string_view kTimeNames[] = {"s_memtime", "s_memrealtime"};

/// What has no value: it orders memory accesses or empties caches, where a wave's accesses are in order and there are
/// no caches; it waits; it tells the hardware or a debugger something. A barrier of a wave that is alone is passed
/// (waves that are not are groups_test's).
inline constexpr std::string_view kNothingNames[] = {
    // caches
    "buffer_gl0_inv",
    "buffer_gl1_inv",
    "buffer_inv",
    "buffer_invl2",
    "buffer_wbinvl1",
    "buffer_wbinvl1_vol",
    "buffer_wbl2",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_dcache_discard",
    "s_dcache_discard_x2",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_dcache_wb_vol",
    "s_gl1_inv",
    "s_icache_inv",
    "s_inst_prefetch",
    "s_prefetch_data",
    "s_prefetch_inst",
    "s_prefetch_data_pc_rel",
    "s_prefetch_inst_pc_rel",
    "s_buffer_prefetch_data",
    // waiting
    "s_nop",
    "v_nop",
    "ds_nop",
    "s_sleep",
    "s_sleep_var",
    "s_wakeup",
    "s_barrier",
    "s_barrier_signal",
    "s_barrier_wait",
    "s_waitcnt",
    "s_waitcnt_depctr",
    "s_waitcnt_expcnt",
    "s_waitcnt_lgkmcnt",
    "s_waitcnt_vmcnt",
    "s_waitcnt_vscnt",
    "s_wait_bvhcnt",
    "s_wait_dscnt",
    "s_wait_event",
    "s_wait_expcnt",
    "s_wait_idle",
    "s_wait_kmcnt",
    "s_wait_loadcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_samplecnt",
    "s_wait_storecnt",
    "s_wait_storecnt_dscnt",
    "s_wait_alu",
    // hints
    "s_clause",
    "s_delay_alu",
    "s_setprio",
    "s_singleuse_vdst",
    "s_version",
    "s_code_end",
    "v_clrexcp",
    "v_pipeflush",
    // messages
    "s_sendmsg",
    "s_incperflevel",
    "s_decperflevel",
    "s_ttracedata",
    "s_ttracedata_imm",
};
inline bool changes_nothing(std::string_view name) {
  return std::ranges::find(kNothingNames, name) != std::end(kNothingNames);
}
inline bool is_control(std::string_view name) {
  for (const std::span<const std::string_view> names :
       {std::span<const std::string_view>(kBranchNames), std::span<const std::string_view>(kJumpNames),
        std::span<const std::string_view>(kEndNames), std::span<const std::string_view>(kModeNames),
        std::span<const std::string_view>(kTimeNames)})
    if (std::ranges::find(names, name) != names.end()) return true;
  return false;
}

}  // namespace wavegate::amdgpu::wave::testing
