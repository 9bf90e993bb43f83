#include <algorithm>
#include <iterator>

#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/amdgpu/wave/program.h"
#include "wavegate/base/format.h"

/// Branches, waits, barriers, and registers of the hardware.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

const Step* run_nothing(Wave&, const Step& step) {
  return step.next;
}

template <auto condition>
const Step* run_branch(Wave& wave, const Step& step) {
  return condition(wave) ? step.target : step.next;
}

const Step* run_end(Wave& wave, const Step&) {
  wave.status = Status::ended;
  return nullptr;
}

/// Lets other waves run: who sleeps waits for them.
const Step* run_yield(Wave& wave, const Step& step) {
  wave.pc = step.next;
  wave.status = Status::yielded;
  return nullptr;
}

void signal(Wave& wave) {
  wave.awaited_phase = wave.group->barrier_phase;
  wave.group->arrive();
}
/// Whether the barrier that the wave arrived at has opened; if not, the wave waits at this step.
bool passes(Wave& wave, const Step& step) {
  if (!wave.awaited_phase || *wave.awaited_phase != wave.group->barrier_phase) {
    wave.awaited_phase.reset();
    return true;
  }
  wave.pc = &step;
  wave.status = Status::waiting;
  return false;
}
const Step* run_barrier(Wave& wave, const Step& step) {
  if (!wave.awaited_phase) signal(wave);
  return passes(wave, step) ? step.next : nullptr;
}
const Step* run_barrier_signal(Wave& wave, const Step& step) {
  signal(wave);
  return step.next;
}
const Step* run_barrier_wait(Wave& wave, const Step& step) {
  return passes(wave, step) ? step.next : nullptr;
}

// ---------------------------------------------------------------- jumps

const Step* go_to(Wave& wave, u64 address) {
  if (const Step* const step = wave.machine->program->at(address)) return step;
  return wave.fail(
      invalid_input(format("kernel \"{}\": a jump leads to {:#x}, where no code is", wave.machine->kernel, address)));
}
const Step* run_getpc(Wave& wave, const Step& step) {
  write(wave, step.destination, step.address + step.instruction.bytes());
  return step.next;
}
const Step* run_setpc(Wave& wave, const Step& step) {
  return go_to(wave, read(wave, step.sources[0]));
}
const Step* run_swappc(Wave& wave, const Step& step) {
  const u64 target = read(wave, step.sources[0]);
  write(wave, step.destination, step.address + step.instruction.bytes());
  return go_to(wave, target);
}
const Step* run_call(Wave& wave, const Step& step) {
  write(wave, step.destination, step.address + step.instruction.bytes());
  return step.target;
}

// ---------------------------------------------------------------- hardware registers

enum HardwareRegister : u32 {
  kMode = 1,
  kStatus = 2,
  kMemoryBases = 15,
  kFlatScratchLow = 20,
  kFlatScratchHigh = 21,
  kCycles = 29
};

/// The immediate of s_getreg and s_setreg: a register and a field of it.
struct Field {
  u32 id, offset, mask;
};
Field field_of(const isa::Instruction& instruction) {
  for (const isa::Operand& operand : instruction.operands) {
    if (operand.kind != isa::OperandKind::immediate) continue;
    const u32 width = (operand.value >> 11 & 31) + 1;
    return {operand.value & 63, operand.value >> 6 & 31, width == 32 ? ~0u : (1u << width) - 1};
  }
  return {0, 0, 0};
}
u32 hardware_register(const Wave& wave, u32 id) {
  switch (id) {
    case kMode: return wave.mode.word;
    case kStatus: return wave.scc | (wave.exec() == 0 ? 1u << 9 : 0u) | (wave.vcc() == 0 ? 1u << 10 : 0u);
    case kMemoryBases: return (kSharedAperture & 0xffffu) << 16 | (kPrivateAperture & 0xffffu);
    case kCycles: return static_cast<u32>(wave.instructions) & 0xfffffu;
    default: return static_cast<u32>(wave.hardware_registers[id & 31]);
  }
}
const Step* run_getreg(Wave& wave, const Step& step) {
  const Field field = field_of(step.instruction);
  write(wave, step.destination, hardware_register(wave, field.id) >> field.offset & field.mask);
  return step.next;
}
void set_hardware_register(Wave& wave, const Field& field, u32 value) {
  const u32 bits = field.mask << field.offset;
  const u32 word = (hardware_register(wave, field.id) & ~bits) | (value << field.offset & bits);
  if (field.id == kMode)
    wave.mode.word = word;
  else if (field.id != kStatus)
    wave.hardware_registers[field.id & 31] = word;
}
const Step* run_setreg(Wave& wave, const Step& step) {
  for (const Source& source : step.sources)
    if (source.mode == SourceMode::scalar)
      set_hardware_register(wave, field_of(step.instruction), static_cast<u32>(read(wave, source)));
  return step.next;
}
const Step* run_setreg_constant(Wave& wave, const Step& step) {
  for (const isa::Operand& operand : step.instruction.operands)
    if (operand.kind == isa::OperandKind::literal)
      set_hardware_register(wave, field_of(step.instruction), operand.value);
  return step.next;
}
const Step* run_round_mode(Wave& wave, const Step& step) {
  wave.mode.word = (wave.mode.word & ~0xfu) | (static_cast<u32>(read(wave, step.sources[0])) & 0xfu);
  return step.next;
}
const Step* run_denorm_mode(Wave& wave, const Step& step) {
  wave.mode.word = (wave.mode.word & ~0xf0u) | (static_cast<u32>(read(wave, step.sources[0])) & 0xfu) << 4;
  return step.next;
}

/// Time is counted in instructions of the wave, so that runs are alike.
const Step* run_time(Wave& wave, const Step& step) {
  write(wave, step.destination, wave.instructions);
  return step.next;
}

const Step* run_moved_source(Wave& wave, const Step& step) {
  const unsigned index = std::min<unsigned>(step.sources[0].index + wave.scalars[scalar::kM0], scalar::kVcc - 1);
  write(wave, step.destination, step.sources[0].words >= 2 ? wave.pair(index) : wave.scalars[index]);
  return step.next;
}
const Step* run_moved_destination(Wave& wave, const Step& step) {
  Destination moved = step.destination;
  moved.index =
      static_cast<std::uint16_t>(std::min<unsigned>(moved.index + wave.scalars[scalar::kM0], scalar::kVcc - 1));
  write(wave, moved, read(wave, step.sources[0]));
  return step.next;
}

struct ControlRow {
  isa::Opcode opcode;
  Handler handler;
};
constexpr ControlRow kRows[] = {
    {s_endpgm, run_end},
    {s_endpgm_saved, run_end},
    {s_branch, run_branch<[](const Wave&) { return true; }>},
    {s_cbranch_scc0, run_branch<[](const Wave& wave) { return wave.scc == 0; }>},
    {s_cbranch_scc1, run_branch<[](const Wave& wave) { return wave.scc != 0; }>},
    {s_cbranch_vccz, run_branch<[](const Wave& wave) { return wave.vcc() == 0; }>},
    {s_cbranch_vccnz, run_branch<[](const Wave& wave) { return wave.vcc() != 0; }>},
    {s_cbranch_execz, run_branch<[](const Wave& wave) { return wave.exec() == 0; }>},
    {s_cbranch_execnz, run_branch<[](const Wave& wave) { return wave.exec() != 0; }>},
    {s_barrier, run_barrier},
    {s_barrier_signal, run_barrier_signal},
    {s_barrier_wait, run_barrier_wait},
    {s_sleep, run_yield},
    {s_sleep_var, run_yield},
    {s_getpc_b64, run_getpc},
    {s_setpc_b64, run_setpc},
    {s_swappc_b64, run_swappc},
    {s_call_b64, run_call},
    {s_getreg_b32, run_getreg},
    {s_setreg_b32, run_setreg},
    {s_setreg_imm32_b32, run_setreg_constant},
    {s_round_mode, run_round_mode},
    {s_denorm_mode, run_denorm_mode},
    {s_memtime, run_time},
    {s_memrealtime, run_time},
    {s_movrels_b32, run_moved_source},
    {s_movrels_b64, run_moved_source},
    {s_movreld_b32, run_moved_destination},
    {s_movreld_b64, run_moved_destination},
};

/// What changes no register and no memory: the order of memory accesses, caches, speed. A wave's accesses are in order
/// here.
constexpr std::string_view kNothing[] = {
    "v_nop",
    "s_setprio",
    "s_inst_prefetch",
    "s_icache_inv",
    "s_gl1_inv",
    "s_dcache_discard",
    "s_dcache_discard_x2",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_dcache_wb_vol",
    "s_wakeup",
    "buffer_gl0_inv",
    "buffer_gl1_inv",
    "buffer_wbinvl1",
    "buffer_wbl2",
    "buffer_wbinvl1_vol",
    "buffer_inv",
    "buffer_invl2",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_prefetch_data",
    "s_prefetch_inst",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_prefetch_inst_pc_rel",
    "s_incperflevel",
    "s_decperflevel",
    "v_clrexcp",
    "v_pipeflush",
    "s_prefetch_data_pc_rel",
    "s_singleuse_vdst",
    "s_version",
    "ds_nop",
    "s_buffer_prefetch_data",
};

/// Of what is sent to the hardware's other parts, only that registers are given back early means nothing here.
bool gives_registers_back(const isa::Instruction& instruction) {
  constexpr u32 kDeallocateVgprs = 3;
  return isa::info(instruction.target).generation >= isa::Generation::gfx11 &&
         instruction.operands[0].value == kDeallocateVgprs;
}

/// What of an instruction is missing: where its opcode is there, all of it is told.
std::string name_of(const isa::Instruction& instruction) {
  if (instruction.words == 0) return "a word that is no instruction";
  const bool is_there = instruction.opcode == s_sendmsg || instruction.encoding == isa::Encoding::vop3p;
  return is_there ? isa::print(instruction) : std::string(isa::mnemonic(instruction));
}

}  // namespace

Handler control_handler(const isa::Instruction& instruction) {
  const isa::Opcode opcode = instruction.opcode;
  const auto* const row = std::ranges::find(kRows, opcode, &ControlRow::opcode);
  if (row != std::end(kRows)) return row->handler;
  // They stop a wave, or do not, by what they are given.
  if (opcode == s_sethalt || opcode == s_setkill) return nullptr;
  if (opcode == s_sendmsg) return gives_registers_back(instruction) ? run_nothing : nullptr;
  if (isa::info(opcode).has(isa::OpcodeFlags::wait)) return run_nothing;
  return std::ranges::find(kNothing, isa::to_string(opcode)) != std::end(kNothing) ? run_nothing : nullptr;
}

const Step* run_unsupported(Wave& wave, const Step& step) {
  return wave.fail(unsupported(format("kernel \"{}\": {} at offset {} is not implemented", wave.machine->kernel,
                                      name_of(step.instruction), place_text(wave, step))));
}

}  // namespace wavegate::amdgpu::wave
