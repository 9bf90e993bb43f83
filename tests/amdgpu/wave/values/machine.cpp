#include "amdgpu/wave/values/machine.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/wave/program.h"

namespace wavegate::amdgpu::wave::testing {

Interpreter::Interpreter(isa::Target target, isa::WaveWidth width)
    : target_(target), width_(width), wave_(std::make_unique<Wave>()) {
  wave_->vectors = std::move(wave::allocate_rows()).value();
  image_.segments.push_back({0x1000, {}, false, true});
}
Interpreter::~Interpreter() = default;

std::optional<std::string> Interpreter::run(std::span<const u32> words, const Registers& before) {
  const u32 end = isa::info(target_).generation >= isa::Generation::gfx11 ? 0xbfb00000u : 0xbf810000u;
  std::vector<std::byte>& code = image_.segments[0].bytes;
  code.resize((words.size() + 1) * 4);
  std::memcpy(code.data(), words.data(), words.size() * 4);
  std::memcpy(code.data() + words.size() * 4, &end, 4);
  Program program(image_, target_, width_);
  Findings found;
  Machine machine;
  machine.memory = &memory;
  machine.program = &program;
  machine.target = target_;
  machine.generation = isa::info(target_).generation;
  machine.kernel = "value";
  machine.code_base = image_.segments[0].address;
  machine.findings = &found;
  Workgroup group;
  group.machine = &machine;
  group.alive = 1;
  group.lds.swap(lds);
  Wave& wave = *wave_;
  wave.group = &group;
  wave.machine = &machine;
  wave.lanes = before.lanes;
  wave.full = before.full();
  wave.status = Status::running;
  wave.error.reset();
  wave.awaited_phase.reset();
  wave.range = nullptr;
  wave.scratch_base = scratch_base;
  wave.scratch_bytes = scratch_bytes;
  wave.scc = before.scc;
  wave.mode.word = before.mode;
  wave.scalars.fill(0);
  std::memcpy(wave.scalars.data(), before.scalars.data(), sizeof(before.scalars));
  std::memcpy(static_cast<void*>(wave.vectors.get()), before.rows.data(),
              Registers::kRows * sizeof(Registers::VectorRow));
  constexpr unsigned kMost = 1000;
  const Step* step = program.at(machine.code_base);
  for (unsigned i = 0; step != nullptr && i < kMost; ++i) {
    ++wave.instructions;
    step = step->run(wave, *step);
    if (wave.status == Status::yielded || wave.status == Status::waiting) step = wave.pc, wave.status = Status::running;
  }
  group.lds.swap(lds);
  if (wave.status == Status::ended) return std::nullopt;
  return wave.error ? wave.error->to_string() : "it does not end";
}

Registers Interpreter::registers() const {
  Registers now;
  now.lanes = wave_->lanes;
  now.generation = isa::info(target_).generation;
  now.scc = wave_->scc;
  now.mode = wave_->mode.word;
  std::memcpy(now.scalars.data(), wave_->scalars.data(), sizeof(now.scalars));
  std::memcpy(static_cast<void*>(now.rows.data()), wave_->vectors.get(),
              Registers::kRows * sizeof(Registers::VectorRow));
  return now;
}

std::vector<Sample> samples(isa::Target target) {
  std::ifstream file(WAVEGATE_SOURCE_DIR "/tests/amdgpu/isa/expected/" + std::string(isa::to_string(target)) + ".txt");
  std::vector<Sample> all;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (line.substr(tab + 1) == "-") continue;
    std::istringstream head(line.substr(0, tab));
    int lanes = 0;
    head >> lanes;
    Sample sample;
    sample.width = lanes == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
    for (std::string word; head >> word;) sample.words.push_back(static_cast<u32>(std::stoul(word, nullptr, 16)));
    if (isa::try_decode(sample.words, target, sample.width, sample.instruction)) all.push_back(std::move(sample));
  }
  return all;
}

Sample varied(const Sample& sample, isa::Target target, u64& random) {
  Sample best = sample;
  for (unsigned tries = 0, changes = 0; tries < 200 && changes < 40; ++tries) {
    Sample next = best;
    for (u64 flips = 1 + next_random(random) % 4; flips != 0; --flips) {
      const u64 place = next_random(random) % (next.words.size() * 32);
      next.words[place / 32] ^= u32{1} << (place % 32);
    }
    if (!isa::try_decode(next.words, target, next.width, next.instruction)) continue;
    const bool same = next.instruction.opcode == best.instruction.opcode &&
                      next.instruction.second_opcode == best.instruction.second_opcode &&
                      next.instruction.encoding == best.instruction.encoding &&
                      next.instruction.words == best.instruction.words;
    if (!same) continue;
    best = next;
    ++changes;
  }
  return best;
}

}  // namespace wavegate::amdgpu::wave::testing
