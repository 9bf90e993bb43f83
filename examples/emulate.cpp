#include <wavegate/amdgpu.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace wavegate;
using namespace wavegate::amdgpu;

// The code of a kernel as text, a line an instruction.
Result<void> print_code(const object::CodeObject& object, const object::Kernel& kernel) {
  WAVEGATE_TRY(isa::Target target, object.target.decoder());
  std::vector<uint32_t> words(kernel.code.size() / 4);
  std::memcpy(words.data(), kernel.code.data(), words.size() * 4);
  auto wave = kernel.wave_width == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  for (const isa::Line& line : isa::disassemble(words, target, wave))
    std::printf("  %s\n", isa::print(line, words).c_str());
  return {};
}

// Runs kernel void add(global const float* x, global float* y, uint n), which adds x to y.
Result<std::vector<float>> add(object::CodeObject object, std::vector<float> x, std::vector<float> y) {
  wave::GuestMemory memory;
  WAVEGATE_TRY(auto module, wave::Module::load(std::move(object), memory));
  auto count = static_cast<uint32_t>(y.size());
  wave::Launch launch{"add", {count, 1, 1}, {64, 1, 1}};
  // The kernel works on the vectors' own memory; x it may only read.
  WAVEGATE_CHECK(launch.set(*module, "x", memory.map(std::as_writable_bytes(std::span(x)), "x", false)));
  WAVEGATE_CHECK(launch.set(*module, "y", memory.map(std::as_writable_bytes(std::span(y)), "y")));
  WAVEGATE_CHECK(launch.set(*module, "n", std::as_bytes(std::span(&count, 1))));
  WAVEGATE_TRY(wave::Report report, wave::run(*module, memory, launch));
  for (const wave::Finding& finding : report.findings)
    std::printf("%s at offset %u\n", std::string(wave::to_string(finding.kind)).c_str(),
                static_cast<unsigned>(finding.offset));
  return y;
}

Result<void> show(object::Bytes file) {
  return object::visit_code_objects(file, [](const object::FoundObject& found) -> Result<void> {
    WAVEGATE_TRY(auto object, object::parse_code_object(found.bytes));
    const object::Kernel* kernel = object.find_kernel("add");
    if (kernel == nullptr) return invalid_input("holds no kernel \"add\"", found.place);
    std::printf("%s for %s\n", kernel->name.c_str(), object.target.to_string().c_str());
    WAVEGATE_CHECK(print_code(object, *kernel));
    WAVEGATE_TRY(auto sums, add(std::move(object), {1, 2, 3}, {10, 20, 30}));
    for (float sum : sums) std::printf("%g\n", static_cast<double>(sum));
    return {};
  });
}

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "add.hsaco", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto shown = show(std::as_bytes(std::span(bytes)));
  if (!shown.ok()) std::fprintf(stderr, "%s\n", shown.error().to_string().c_str());
  return shown.ok() ? 0 : 1;
}
