#include "wavegate/amdgpu/isa/decode.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wavegate/amdgpu/isa/disassemble.h"
#include "wavegate/amdgpu/isa/print.h"

/// Any words decode within their bounds and print; every word belongs to one line of a disassembly.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu::isa;
  if (size < 1) return 0;
  const auto target = static_cast<Target>(data[0] % kTargetCount);
  const WaveWidth wave = (data[0] & 0x80) != 0 && info(target).wave32 ? WaveWidth::wave32 : WaveWidth::wave64;
  std::vector<std::uint32_t> words((size - 1) / 4);
  if (!words.empty()) std::memcpy(words.data(), data + 1, 4 * words.size());
  std::uint64_t offset = 0;
  for (const Line& line : disassemble(words, target, wave)) {
    const Instruction& in = line.instruction;
    if (line.offset != offset || in.words < 1 || in.words > 5) std::abort();
    if (in.destination_count > in.operand_count || in.operand_count > in.operands.size()) std::abort();
    offset += in.bytes();
    if (print(line, words).empty()) std::abort();
    for (unsigned i = 0; i < in.operand_count; ++i)
      if (in.operands[i].is_constant()) (void)constant_bits(in.operands[i]);
  }
  if (offset != 4 * words.size()) std::abort();
  return 0;
}
