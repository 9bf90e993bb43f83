#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "amdgpu/wave/values/compared.h"
#include "amdgpu/wave/values/control_names.h"
#include "amdgpu/wave/values/cross_lane_model.h"
#include "amdgpu/wave/values/machine.h"
#include "amdgpu/wave/values/memory_model.h"
#include "amdgpu/wave/values/operands.h"
#include "amdgpu/wave/wave_testing.h"
#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/isa/disassemble.h"
#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/amdgpu/wave/program.h"
#include "wavegate/base/format.h"

/// Single instructions of every target, as LLVM writes them, with chosen and random operands and modifiers: the
/// interpreter against the rows in values/, which know nothing of it.
namespace wavegate::amdgpu::wave::testing {
namespace {

using isa::Encoding;

bool is_scalar(Encoding encoding) {
  return encoding <= Encoding::sopp;
}

/// What is held against rows under one MODE only: no document says what others do to it.
bool has_one_mode(std::string_view name) {
  for (const std::string_view part :
       {"v_rcp",        "v_rsq",        "v_sqrt",       "v_exp",         "v_log",   "v_sin",   "v_cos",
        "v_div",        "pknorm",       "norm",         "v_cube",        "v_frexp", "v_fract", "v_mul_legacy",
        "v_mad_legacy", "v_mac_legacy", "v_fma_legacy", "v_fmac_legacy", "rpi",     "v_dot"})
    if (name.find(part) != std::string_view::npos) return true;
  return name.starts_with("s_");
}
u32 random_mode(const Row& row, isa::Generation generation, u64& random) {
  constexpr u32 kPlain = 0xf0 | 1u << 8 | 1u << 9;
  const bool has_ieee = generation < isa::Generation::gfx12;
  u32 mode = kPlain;
  if (has_ieee && next_random(random) % 2 == 0) mode ^= 1u << 9;
  if (next_random(random) % 4 == 0) mode ^= 1u << 8;
  // No document says what these do with denormals; compilers choose them only where there are none.
  if (row.name.starts_with("v_mad_mix") || row.name == "v_mad_legacy_f32" || row.name == "v_mac_legacy_f32")
    mode &= ~0x30u;
  const bool is_half_mad = row.types == "h=hhh" && row.name.starts_with("v_ma");
  if (!has_floats(row) || has_one_mode(row.name) || next_random(random) % 2 == 0) return mode;
  const u32 round = next_random(random) % 4, flush = is_half_mad || next_random(random) % 2 == 0 ? 0xf0 : 0;
  return (mode & ~0xffu) | round | round << 2 | flush;
}

struct Bench {
  isa::Target target;
  isa::WaveWidth width;
  Interpreter interpreter{target, width};
  u64 random;
  Registers registers;
  bool tells = false;  ///< whether the last comparison had failed if the instruction did nothing

  Bench(isa::Target which, isa::WaveWidth wide)
      : target(which), width(wide), random(static_cast<u64>(which) * 2 + (wide == isa::WaveWidth::wave32 ? 1 : 0)) {
    registers = random_registers(isa::info(target).generation, isa::lanes(width), random);
  }

  /// Runs a sample with operands of its own; what went wrong, or nothing.
  std::string check(const Sample& sample, const Row& row, const Row* second) {
    const isa::Instruction& instruction = sample.instruction;
    registers.scc = static_cast<u32>(next_random(random) & 1);
    registers.mode = random_mode(row, registers.generation, random);
    if (next_random(random) % 4 == 0) registers.set(Registers::kExec, random_exec(registers.lanes, random), 2);
    // Something else than the last results, so that new ones tell.
    for (unsigned i = 0; i < instruction.destination_count && i < 2; ++i)
      if (const unsigned index = Registers::scalar_index(instruction.operands[i]); index < Registers::kExec - 1)
        registers.set(index, next_random(random), 2);
    fill_sources(registers, instruction, row, random);
    Registers expected = registers;
    const Loose loose = second != nullptr                 ? execute_dual(expected, instruction, row, *second)
                        : is_scalar(instruction.encoding) ? execute_scalar(expected, instruction, row)
                                                          : execute_vector(expected, instruction, row);
    if (const auto error = interpreter.run(sample.words, registers)) return *error;
    const Registers got = interpreter.registers();
    std::string wrong = difference(expected, got, loose);
    tells = !difference(expected, registers, loose).empty();
    if (!wrong.empty())
      wrong += format("; MODE {:#x}, exec {:#x}", registers.mode, registers.exec()) + operands(instruction, wrong);
    registers = got;
    return wrong;
  }
  /// The sources' values in the lane that a difference names.
  std::string operands(const isa::Instruction& instruction, const std::string& wrong) const {
    const std::size_t at = wrong.find("lane ");
    const unsigned lane = at == std::string::npos ? 0 : static_cast<unsigned>(std::stoul(wrong.substr(at + 5)));
    std::string text = "; of";
    for (const isa::Operand& operand : instruction.sources())
      text += format(" {:#x}:{:08x}", operand.words >= 2 ? registers.word(operand, 1, lane) : 0,
                     registers.word(operand, 0, lane));
    return text;
  }
};

/// How often an instruction of each sample is varied: more for a long campaign.
int repeats() {
  const char* const wanted = std::getenv("WAVEGATE_VALUE_REPEATS");
  return wanted != nullptr ? std::atoi(wanted) : 4;
}

/// Without the bits that negate and take absolute values, which mean nothing to products of integers, and of floats of
/// 8 bits to the addend alone.
void take_signs_off(Sample& sample, isa::Target target) {
  Sample plain = sample;
  if (plain.words.size() < 2) return;
  const u32 meaningless = isa::to_string(sample.instruction.opcode).starts_with("v_dot4_f32") ? 3 : 7;
  plain.words[0] &= ~(meaningless << 8);
  plain.words[1] &= ~(meaningless << 29);
  if (isa::try_decode(plain.words, target, plain.width, plain.instruction) &&
      plain.instruction.opcode == sample.instruction.opcode)
    sample = plain;
}

class Values : public ::testing::TestWithParam<int> {
 protected:
  isa::Target target() const { return static_cast<isa::Target>(GetParam()); }
};

TEST_P(Values, RegistersAreWhatTheDocumentsSay) {
  std::map<std::string, int> wrong, told;
  Bench narrow(target(), isa::WaveWidth::wave32), wide(target(), isa::WaveWidth::wave64);
  for (const Sample& sample : samples(target())) {
    const isa::Instruction& instruction = sample.instruction;
    const Row* const row = find_row(isa::to_string(instruction.opcode));
    const Row* const second =
        instruction.encoding == Encoding::vopd ? find_row(isa::to_string(instruction.second_opcode)) : nullptr;
    if (row == nullptr || (instruction.encoding == Encoding::vopd && second == nullptr)) continue;
    if (!is_implemented(instruction)) continue;
    Bench& bench = sample.width == isa::WaveWidth::wave32 ? narrow : wide;
    int& tells = told[std::string(row->name)];
    for (int i = 0; i < repeats() || (tells == 0 && i < 100); ++i) {
      Sample one = varied(sample, target(), bench.random);
      if (i % 4 != 0 && row->name.starts_with("v_dot")) take_signs_off(one, target());
      if (!is_implemented(one.instruction)) continue;
      const std::string fault = bench.check(one, *row, second);
      tells += bench.tells ? 1 : 0;
      if (fault.empty()) continue;
      if (++wrong[std::string(row->name)] == 1) ADD_FAILURE() << isa::print(one.instruction) << ": " << fault;
    }
  }
  for (const auto& [name, times] : told) {
    // What is always true leaves exec as it is.
    if (name.starts_with("v_cmpx_t")) continue;
    EXPECT_GT(times, 0) << name << " is compared with nothing";
  }
}

/// A bench with memories.
struct MemoryBench : Bench {
  Memories memories, kept;

  MemoryBench(isa::Target which, isa::WaveWidth wide) : Bench(which, wide) {
    for (std::vector<std::byte>* const bytes : {&memories.global, &memories.lds, &memories.scratch}) fill(*bytes);
    memories.global_base = interpreter.memory.map(memories.global, "global");
    interpreter.scratch_base = interpreter.memory.map(memories.scratch, "scratch");
    interpreter.scratch_bytes = Memories::kScratchBytes;
    interpreter.lds = memories.lds;
    kept = memories;
  }

  /// Random bytes, and among them words that floats treat in a way of their own.
  void fill(std::vector<std::byte>& bytes) {
    constexpr u32 kSpecial[] = {0, 0x80000000u, 0x3f800000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1, ~0u};
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next_random(random));
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      const u64 choice = next_random(random) % 32;
      if (choice < std::size(kSpecial)) std::memcpy(&bytes[at + 4], &kSpecial[choice], 4);
      if (choice < 2) std::memset(&bytes[at], 0, 4);
    }
  }

  /// What went wrong, or nothing; `ran` is whether there were operands that lead into memory.
  std::string check(const Sample& sample, const MemoryRow& row, bool& ran) {
    registers.mode = 0xf0 | 1u << 8 | 1u << 9;
    if (next_random(random) % 4 == 0) registers.set(Registers::kExec, random_exec(registers.lanes, random), 2);
    Registers before = registers;
    ran = lead_into_memory(before, memories, sample.instruction, row, random);
    if (!ran) return {};
    Registers expected = before;
    Memories unchanged = kept;
    const Loose loose = execute_memory(expected, kept, sample.instruction, row);
    if (const auto error = interpreter.run(sample.words, before)) return *error;
    tells = !testing::difference(expected, before, loose).empty() || !testing::difference(unchanged, kept, row).empty();
    memories.lds = interpreter.lds;
    const Registers got = interpreter.registers();
    std::string wrong = testing::difference(expected, got, loose);
    if (wrong.empty()) wrong = testing::difference(kept, memories, row);
    kept = memories;
    registers = got;
    return wrong;
  }
};

/// Loads to LDS, of which formats_test has some.
bool loads_to_lds(const isa::Instruction& instruction) {
  return instruction.encoding != Encoding::ds && instruction.has(isa::MemoryFlags::lds);
}

TEST_P(Values, MemoryIsWhatTheDocumentsSay) {
  std::map<std::string, int> wrong, runs, told;
  MemoryBench narrow(target(), isa::WaveWidth::wave32), wide(target(), isa::WaveWidth::wave64);
  for (const Sample& sample : samples(target())) {
    const MemoryRow* const row = find_memory_row(isa::to_string(sample.instruction.opcode));
    if (row == nullptr || !is_implemented(sample.instruction) || loads_to_lds(sample.instruction)) continue;
    const std::string name(isa::to_string(sample.instruction.opcode));
    MemoryBench& bench = sample.width == isa::WaveWidth::wave32 ? narrow : wide;
    runs.try_emplace(name, 0);
    for (int i = 0, tries = 0; (i < repeats() || (told[name] == 0 && i < 100)) && tries < (told[name] == 0 ? 4000 : 40);
         ++tries) {
      const Sample one = varied(sample, target(), bench.random);
      if (!is_implemented(one.instruction) || loads_to_lds(one.instruction)) continue;
      bool ran = false;
      const std::string fault = bench.check(one, *row, ran);
      i += ran ? 1 : 0;
      runs[name] += ran ? 1 : 0;
      told[name] += ran && bench.tells ? 1 : 0;
      if (!fault.empty() && ++wrong[name] == 1) ADD_FAILURE() << isa::print(one.instruction) << ": " << fault;
    }
  }
  for (const auto& [name, times] : runs) {
    EXPECT_GT(times, 0) << name;
    EXPECT_GT(told[name], 0) << name << " is compared with nothing";
  }
}

TEST_P(Values, LanesGetWhatTheDocumentsSayFromOthers) {
  std::map<std::string, int> wrong, runs, told;
  Bench narrow(target(), isa::WaveWidth::wave32), wide(target(), isa::WaveWidth::wave64);
  for (const Sample& sample : samples(target())) {
    const std::string name(isa::to_string(sample.instruction.opcode));
    if (!is_cross_lane(name) || !is_implemented(sample.instruction)) continue;
    Bench& bench = sample.width == isa::WaveWidth::wave32 ? narrow : wide;
    runs.try_emplace(name, 0);
    for (int i = 0; i < 8 * repeats(); ++i) {
      const Sample one = varied(sample, target(), bench.random);
      Registers before = bench.registers;
      before.set(Registers::kExec, random_exec(before.lanes, bench.random), 2);
      if (!is_implemented(one.instruction) || !prepare_cross_lane(before, one.instruction, bench.random)) continue;
      Registers expected = before;
      execute_cross_lane(expected, one.instruction);
      const auto error = bench.interpreter.run(one.words, before);
      const std::string fault = error ? *error : difference(expected, bench.interpreter.registers(), {});
      ++runs[name];
      told[name] += difference(expected, before, {}).empty() ? 0 : 1;
      if (!fault.empty() && ++wrong[name] == 1) ADD_FAILURE() << isa::print(one.instruction) << ": " << fault;
    }
  }
  for (const auto& [name, times] : runs) {
    EXPECT_GT(times, 0) << name;
    EXPECT_GT(told[name], 0) << name << " is compared with nothing";
  }
}

/// The opcodes of kernels that call one instruction each and whose results are held against plain loops: matrix
/// instructions (mfma_test, wmma_test, sparse_test) and those of instructions_test. Of buffers with formats and loads
/// to LDS formats_test has some of each kind.
const std::set<isa::Opcode>& opcodes_of_kernels() {
  static const std::set<isa::Opcode> kOpcodes = [] {
    std::set<isa::Opcode> opcodes;
    for (const auto& file : std::filesystem::directory_iterator(WAVEGATE_AMD_KERNELS_DIR)) {
      const std::string name = file.path().filename().string();
      const bool single = std::ranges::any_of(std::array{"matrix.", "sparse.", "wmma.", "instructions.", "formats."},
                                              [&](const char* prefix) { return name.starts_with(prefix); });
      if (!single || !name.ends_with(".hsaco")) continue;
      const std::vector<std::byte> bytes = read_bytes(file.path().string());
      const auto object = object::parse_code_object(bytes);
      if (!object.ok()) continue;
      for (const object::Kernel& kernel : object->kernels) {
        std::vector<u32> words(kernel.code.size() / 4);
        std::memcpy(words.data(), kernel.code.data(), words.size() * 4);
        const auto width = kernel.wave_width == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
        for (const isa::Line& line : isa::disassemble(words, *object->target.decoder(), width))
          if (line.decoded) opcodes.insert(line.instruction.opcode);
      }
    }
    return opcodes;
  }();
  return kOpcodes;
}

TEST_P(Values, EveryOpcodeThatIsImplementedHasAValueTest) {
  std::set<std::string> without;
  for (const Sample& sample : samples(target())) {
    if (!is_implemented(sample.instruction)) continue;
    for (const isa::Opcode opcode : {sample.instruction.opcode, sample.instruction.second_opcode}) {
      const std::string_view name = isa::to_string(opcode);
      const bool has_value = find_row(name) != nullptr || find_memory_row(name) != nullptr || is_cross_lane(name) ||
                             opcodes_of_kernels().contains(opcode) || name.find("_format_") != std::string_view::npos ||
                             name.find("load_lds_") != std::string_view::npos;
      if (!has_value && !is_control(name) && !changes_nothing(name)) without.insert(std::string(name));
    }
  }
  EXPECT_EQ(without, std::set<std::string>());
}

INSTANTIATE_TEST_SUITE_P(All, Values, ::testing::Range(0, isa::kTargetCount), [](const auto& parameter) {
  return std::string(isa::to_string(static_cast<isa::Target>(parameter.param)));
});

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
