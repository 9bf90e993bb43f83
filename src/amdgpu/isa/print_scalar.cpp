#include <array>
#include <span>

#include "wavegate/amdgpu/isa/printer.h"
#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

namespace {

Generation generation(const Printer& printer) {
  return info(printer.in.target).generation;
}

/// A part of an immediate that is printed as "name(value)".
struct Count {
  std::string_view name;
  std::uint32_t value;
  std::uint32_t most;  ///< waits for nothing: left out unless all are so
};

void print_counts(Printer& printer, std::span<const Count> counts) {
  bool all = true;
  for (const Count& count : counts) all = all && count.value == count.most;
  bool first = true;
  for (const Count& count : counts) {
    if (!all && count.value == count.most) continue;
    if (!first) printer.put(" ");
    first = false;
    printer.put(count.name);
    printer.put("(");
    printer.put_number(count.value);
    printer.put(")");
  }
}

void print_waitcnt(Printer& printer, std::uint32_t value) {
  std::uint32_t vm = (value & 0xf) | (value >> 14 & 3) << 4;
  std::uint32_t exp = value >> 4 & 7;
  std::uint32_t lgkm = value >> 8 & 0x3f;
  std::uint32_t most_lgkm = 63;
  if (generation(printer) == Generation::gfx9) lgkm &= most_lgkm = 15;
  if (generation(printer) >= Generation::gfx11) {
    vm = value >> 10 & 0x3f;
    exp = value & 7;
    lgkm = value >> 4 & 0x3f;
  }
  print_counts(printer, std::array{Count{"vmcnt", vm, 63}, Count{"expcnt", exp, 7}, Count{"lgkmcnt", lgkm, most_lgkm}});
}

/// gfx10 and later. Bits that no counter has must be set, or it is a number.
void print_dependencies(Printer& printer, std::uint32_t value) {
  const bool holds = printer.in.target != Target::gfx1010 && printer.in.target != Target::gfx1013;
  const Count counts[] = {{"depctr_hold_cnt", value >> 7 & 1, 1},   {"depctr_sa_sdst", value & 1, 1},
                          {"depctr_va_vdst", value >> 12 & 15, 15}, {"depctr_va_sdst", value >> 9 & 7, 7},
                          {"depctr_va_ssrc", value >> 8 & 1, 1},    {"depctr_va_vcc", value >> 1 & 1, 1},
                          {"depctr_vm_vsrc", value >> 2 & 7, 7}};
  if ((value & (holds ? 0x60 : 0xe0)) != 0) return printer.put_hexadecimal(value);
  print_counts(printer, std::span(counts).subspan(holds ? 0 : 1));
}

constexpr std::string_view kHardwareRegisters[4][33] = {
    // gfx9
    {"", "MODE", "STATUS", "TRAPSTS", "HW_ID", "GPR_ALLOC",    "LDS_ALLOC", "IB_STS", "",       "",
     "", "",     "",       "",        "",      "SH_MEM_BASES", "TBA_LO",    "TBA_HI", "TMA_LO", "TMA_HI"},
    // gfx10
    {"",
     "MODE",
     "STATUS",
     "TRAPSTS",
     "",
     "GPR_ALLOC",
     "LDS_ALLOC",
     "IB_STS",
     "",
     "",
     "",
     "",
     "",
     "",
     "",
     "SH_MEM_BASES",
     "TBA_LO",
     "TBA_HI",
     "TMA_LO",
     "TMA_HI",
     "FLAT_SCR_LO",
     "FLAT_SCR_HI",
     "XNACK_MASK",
     "HW_ID1",
     "HW_ID2",
     "POPS_PACKER"},
    // gfx11
    {"",
     "MODE",
     "STATUS",
     "TRAPSTS",
     "",
     "GPR_ALLOC",
     "LDS_ALLOC",
     "IB_STS",
     "",
     "",
     "",
     "",
     "",
     "",
     "",
     "SH_MEM_BASES",
     "",
     "",
     "PERF_SNAPSHOT_PC_LO",
     "PERF_SNAPSHOT_PC_HI",
     "FLAT_SCR_LO",
     "FLAT_SCR_HI",
     "",
     "HW_ID1",
     "HW_ID2",
     "",
     "",
     "PERF_SNAPSHOT_DATA",
     "",
     "SHADER_CYCLES"},
    // gfx12
    {"",
     "MODE",
     "STATUS",
     "",
     "STATE_PRIV",
     "GPR_ALLOC",
     "LDS_ALLOC",
     "IB_STS",
     "",
     "",
     "PERF_SNAPSHOT_DATA",
     "PERF_SNAPSHOT_PC_LO",
     "PERF_SNAPSHOT_PC_HI",
     "",
     "",
     "PERF_SNAPSHOT_DATA1",
     "PERF_SNAPSHOT_DATA2",
     "EXCP_FLAG_PRIV",
     "EXCP_FLAG_USER",
     "TRAP_CTRL",
     "SCRATCH_BASE_LO",
     "SCRATCH_BASE_HI",
     "",
     "HW_ID1",
     "HW_ID2",
     "",
     "",
     "",
     "",
     "SHADER_CYCLES_LO",
     "SHADER_CYCLES_HI",
     "DVGPR_ALLOC_LO",
     "DVGPR_ALLOC_HI"},
};
/// What gfx942 has from 20 on.
constexpr std::string_view kGfx942Registers[] = {"XCC_ID", "SQ_PERF_SNAPSHOT_DATA", "SQ_PERF_SNAPSHOT_DATA1",
                                                 "SQ_PERF_SNAPSHOT_PC_LO", "SQ_PERF_SNAPSHOT_PC_HI"};

std::string_view hardware_register(const Printer& printer, unsigned number) {
  const Target target = printer.in.target;
  if (target == Target::gfx942 && number >= 20) return number <= 24 ? kGfx942Registers[number - 20] : "";
  if (target == Target::gfx1030) {
    if (number == 22) return "";
    if (number == 29) return "SHADER_CYCLES";
  }
  return number < 33 ? kHardwareRegisters[static_cast<std::size_t>(generation(printer))][number] : "";
}

void print_hwreg(Printer& printer, std::uint32_t value) {
  const unsigned number = value & 0x3f;
  const unsigned offset = value >> 6 & 0x1f;
  const unsigned size = (value >> 11 & 0x1f) + 1;
  printer.put("hwreg(");
  const std::string_view name = hardware_register(printer, number);
  if (name.empty()) {
    printer.put_number(number);
  } else {
    printer.put("HW_REG_");
    printer.put(name);
  }
  if (offset != 0 || size != 32) {
    printer.put(", ");
    printer.put_number(offset);
    printer.put(", ");
    printer.put_number(size);
  }
  printer.put(")");
}

struct Message {
  unsigned number;
  std::string_view name;
  Generation first;
  Generation last;
};
constexpr Message kMessages[] = {
    {1, "INTERRUPT", Generation::gfx9, Generation::gfx12},
    {2, "GS", Generation::gfx9, Generation::gfx10},
    {2, "HS_TESSFACTOR", Generation::gfx11, Generation::gfx12},
    {3, "GS_DONE", Generation::gfx9, Generation::gfx10},
    {3, "DEALLOC_VGPRS", Generation::gfx11, Generation::gfx12},
    {4, "SAVEWAVE", Generation::gfx9, Generation::gfx10},
    {5, "STALL_WAVE_GEN", Generation::gfx9, Generation::gfx11},
    {6, "HALT_WAVES", Generation::gfx9, Generation::gfx11},
    {7, "ORDERED_PS_DONE", Generation::gfx9, Generation::gfx10},
    {8, "EARLY_PRIM_DEALLOC", Generation::gfx9, Generation::gfx9},
    {8, "EARLY_PRIM_DEALLOC", Generation::gfx10, Generation::gfx10},
    {9, "GS_ALLOC_REQ", Generation::gfx9, Generation::gfx12},
    {10, "GET_DOORBELL", Generation::gfx9, Generation::gfx10},
    {11, "GET_DDID", Generation::gfx10, Generation::gfx10},
    {15, "SYSMSG", Generation::gfx9, Generation::gfx10},
    {128, "RTN_GET_DOORBELL", Generation::gfx11, Generation::gfx12},
    {129, "RTN_GET_DDID", Generation::gfx11, Generation::gfx12},
    {130, "RTN_GET_TMA", Generation::gfx11, Generation::gfx12},
    {131, "RTN_GET_REALTIME", Generation::gfx11, Generation::gfx12},
    {132, "RTN_SAVE_WAVE", Generation::gfx11, Generation::gfx12},
    {133, "RTN_GET_TBA", Generation::gfx11, Generation::gfx12},
    {134, "RTN_GET_TBA_TO_PC", Generation::gfx11, Generation::gfx12},
    {135, "RTN_GET_SE_AID_ID", Generation::gfx12, Generation::gfx12},
};
constexpr std::string_view kGsOperations[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
constexpr std::string_view kSystemOperations[] = {"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "",
                                                  "SYSMSG_OP_TTRACE_PC"};

/// Message, operation and stream by name, if they have one.
bool print_named_message(Printer& printer, unsigned number, unsigned operation, unsigned stream) {
  const Message* message = nullptr;
  for (const Message& known : kMessages)
    if (known.number == number && known.first <= generation(printer) && generation(printer) <= known.last)
      message = &known;
  if (message == nullptr) return false;
  const bool gs = message->name == "GS" || message->name == "GS_DONE";
  std::string_view name;
  if (gs) {
    if (operation > 3 || (operation == 0 && (message->name == "GS" || stream != 0))) return false;
    name = kGsOperations[operation];
  } else if (message->name == "SYSMSG") {
    if (operation >= std::size(kSystemOperations) || kSystemOperations[operation].empty() || stream != 0) return false;
    name = kSystemOperations[operation];
  } else if (operation != 0 || stream != 0) {
    return false;
  }
  printer.put("sendmsg(MSG_");
  printer.put(message->name);
  if (!name.empty()) {
    printer.put(", ");
    printer.put(name);
  }
  if (gs && operation != 0) {
    printer.put(", ");
    printer.put_number(stream);
  }
  printer.put(")");
  return true;
}

void print_message(Printer& printer, std::uint32_t value) {
  const bool wide = generation(printer) >= Generation::gfx11;
  const unsigned number = wide ? value & 0xff : value & 0xf;
  const unsigned operation = wide ? 0 : value >> 4 & 7;
  const unsigned stream = wide ? 0 : value >> 8 & 3;
  if (print_named_message(printer, number, operation, stream)) return;
  if ((number | operation << 4 | stream << 8) != value) return printer.put_number(value);
  printer.put("sendmsg(");
  printer.put_number(number);
  printer.put(", ");
  printer.put_number(operation);
  printer.put(", ");
  printer.put_number(stream);
  printer.put(")");
}

/// The version, and flags that are added one by one: "((A|B)|C)".
void print_version(Printer& printer, std::uint32_t value) {
  struct Name {
    std::uint32_t bits;
    std::string_view name;
  };
  constexpr Name kVersions[] = {
      {0, "UC_VERSION_GFX7"}, {4, "UC_VERSION_GFX10"}, {6, "UC_VERSION_GFX11"}, {9, "UC_VERSION_GFX12"}};
  constexpr Name kFlags[] = {
      {0x2000, "UC_VERSION_W64_BIT"}, {0x4000, "UC_VERSION_W32_BIT"}, {0x8000, "UC_VERSION_MDP_BIT"}};
  if ((value & 0x1f00) != 0) return printer.put_immediate(value);
  std::string text;
  for (const Name& version : kVersions)
    if (version.bits == (value & 0xff)) text = version.name;
  if (text.empty()) {
    if ((value & 0xe000) == 0) return printer.put_number(value);
    text = std::to_string(value & 0xff);
  }
  bool first = true;
  for (const Name& flag : kFlags) {
    if ((value & flag.bits) == 0) continue;
    if (!first) text.insert(0, 1, '(').push_back(')');
    text.push_back('|');
    text += flag.name;
    first = false;
  }
  printer.put(text);
}

void print_wait_instance(Printer& printer, unsigned value) {
  constexpr std::string_view kNames[] = {
      "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",        "VALU_DEP_3",   "VALU_DEP_4",   "TRANS32_DEP_1",
      "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"};
  printer.put(value < std::size(kNames) ? kNames[value] : "/* invalid instid value */");
}

void print_delay(Printer& printer, std::uint32_t value) {
  constexpr std::string_view kSkips[] = {"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
  const unsigned first = value & 0xf;
  const unsigned skip = value >> 4 & 7;
  const unsigned second = value >> 7 & 0xf;
  bool any = false;
  const auto begin = [&](std::string_view name) {
    if (any) printer.put(" | ");
    any = true;
    printer.put(name);
    printer.put("(");
  };
  if (first != 0) {
    begin("instid0");
    print_wait_instance(printer, first);
    printer.put(")");
  }
  if (skip != 0) {
    begin("instskip");
    printer.put(skip < std::size(kSkips) ? kSkips[skip] : "/* invalid instskip value */");
    printer.put(")");
  }
  if (second != 0) {
    begin("instid1");
    print_wait_instance(printer, second);
    printer.put(")");
  }
  if (!any) printer.put("0");
}

/// Which operands s_set_gpr_idx_on makes relative.
void print_gpr_index(Printer& printer, std::uint32_t value) {
  constexpr std::string_view kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  if (value > 15) return printer.put_hexadecimal(value);
  printer.put("gpr_idx(");
  bool first = true;
  for (unsigned i = 0; i < 4; ++i) {
    if ((value >> i & 1) == 0) continue;
    if (!first) printer.put(",");
    first = false;
    printer.put(kNames[i]);
  }
  printer.put(")");
}

using PrintImmediate = void (*)(Printer&, std::uint32_t);
struct Special {
  Opcode opcode;
  PrintImmediate print;
};

void print_decimal_or_hexadecimal(Printer& printer, std::uint32_t value) {
  printer.put_immediate(value);
}
/// A parameter of v_interp_mov.
void print_parameter(Printer& printer, std::uint32_t value) {
  constexpr std::string_view kNames[] = {"p10", "p20", "p0"};
  if (value < std::size(kNames)) return printer.put(kNames[value]);
  printer.put("invalid_param_");
  printer.put_number(value);
}
void print_decimal(Printer& printer, std::uint32_t value) {
  printer.put_number(value);
}

constexpr Special kSpecial[] = {
    {Opcode::s_waitcnt, print_waitcnt},
    {Opcode::s_waitcnt_depctr, print_dependencies},
    {Opcode::s_sendmsg, print_message},
    {Opcode::s_sendmsghalt, print_message},
    {Opcode::s_sendmsg_rtn_b32, print_message},
    {Opcode::s_sendmsg_rtn_b64, print_message},
    {Opcode::s_getreg_b32, print_hwreg},
    {Opcode::s_setreg_b32, print_hwreg},
    {Opcode::s_setreg_imm32_b32, print_hwreg},
    {Opcode::s_version, print_version},
    {Opcode::s_delay_alu, print_delay},
    {Opcode::s_endpgm, print_decimal},
    {Opcode::s_set_gpr_idx_on, print_gpr_index},
    {Opcode::s_set_gpr_idx_mode, print_gpr_index},
    {Opcode::s_atc_probe, print_decimal_or_hexadecimal},
    {Opcode::s_atc_probe_buffer, print_decimal_or_hexadecimal},
    {Opcode::v_interp_mov_f32, print_parameter},
    {Opcode::s_nop, print_decimal_or_hexadecimal},
    {Opcode::s_barrier_wait, print_decimal_or_hexadecimal},
    {Opcode::s_setkill, print_decimal_or_hexadecimal},
    {Opcode::s_sethalt, print_decimal_or_hexadecimal},
    {Opcode::s_sleep, print_decimal_or_hexadecimal},
    {Opcode::s_setprio, print_decimal_or_hexadecimal},
    {Opcode::s_trap, print_decimal_or_hexadecimal},
    {Opcode::s_incperflevel, print_decimal_or_hexadecimal},
    {Opcode::s_decperflevel, print_decimal_or_hexadecimal},
    {Opcode::s_denorm_mode, print_decimal_or_hexadecimal},
};

}  // namespace

void print_immediate(Printer& printer, std::uint32_t value) {
  for (const Special& special : kSpecial)
    if (special.opcode == printer.in.opcode) return special.print(printer, value);
  printer.put_hexadecimal(value);
}

}  // namespace wavegate::amdgpu::isa
