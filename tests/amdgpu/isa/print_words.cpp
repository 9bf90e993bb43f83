// Prints what the decoder makes of words, for tools/amdgpu_isa/campaign.py to compare with LLVM.
// usage: isa_print_words TARGET WAVE < records of 5 words; prints a line for each: its length, a tab and the text, or
// "-".

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/isa/print.h"

int main(int argc, char** argv) {
  namespace isa = wavegate::amdgpu::isa;
  if (argc != 3) return 2;
  const auto id = isa::parse_target(argv[1]);
  if (!id.ok()) {
    std::fprintf(stderr, "%s\n", id.error().to_string().c_str());
    return 2;
  }
  const auto wave = std::atoi(argv[2]) == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  std::array<std::uint32_t, 5> words{};
  isa::Instruction instruction;
  std::string text;
  while (std::fread(words.data(), sizeof words, 1, stdin) == 1) {
    text.clear();
    if (isa::try_decode(words, id->target, wave, instruction)) {
      text += std::to_string(instruction.words) + '\t';
      isa::print(instruction, text);
    } else {
      text += '-';
    }
    std::puts(text.c_str());
  }
  return 0;
}
