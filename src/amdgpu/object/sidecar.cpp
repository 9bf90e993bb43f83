#include "wavegate/amdgpu/object/sidecar.h"

#include <algorithm>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "wavegate/amdgpu/object/registers.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestSidecar = std::size_t{64} << 10;
constexpr std::uint32_t kLargestWorkgroup = 1024;

/// A register word: a number, or text such as "0x00af0041", as registers are written.
Result<std::uint32_t> read_word(const Json& value, std::string_view key) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kLargest) return value.get<std::uint32_t>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    if (text.size() > 2 && text.size() <= 10 && text.starts_with("0x") &&
        text.find_first_not_of(kDigits, 2) == std::string::npos)
      return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
  }
  return invalid_input(format("\"{}\" is no whole number from 0 to {}, nor one as \"0x1f\"", key, kLargest));
}

Result<std::vector<std::uint32_t>> read_words(const Json& value, std::string_view key, std::size_t most) {
  if (!value.is_array() || value.size() > most)
    return invalid_input(format("\"{}\" is no list of at most {} numbers", key, most));
  std::vector<std::uint32_t> words;
  for (const Json& item : value) {
    WAVEGATE_TRY(const std::uint32_t word, read_word(item, key));
    words.push_back(word);
  }
  return words;
}

Result<void> read_member(const std::string& key, const Json& value, ComputeState& state) {
  const auto read_into = [&](std::uint32_t& into) -> Result<void> {
    WAVEGATE_TRY(into, read_word(value, key));
    return {};
  };
  if (key == "pgm_rsrc1") return read_into(state.pgm_rsrc1);
  if (key == "pgm_rsrc2") return read_into(state.pgm_rsrc2);
  if (key == "pgm_rsrc3") return read_into(state.pgm_rsrc3);
  if (key == "scratch_bytes") return read_into(state.scratch_bytes);
  if (key == "lds_bytes") return read_into(state.lds_bytes.emplace());
  if (key == "user_sgprs") {
    WAVEGATE_TRY(state.user_sgprs, read_words(value, key, 32));
    return {};
  }
  if (key == "num_thread") {
    WAVEGATE_TRY(const std::vector<std::uint32_t> sizes, read_words(value, key, 3));
    if (sizes.size() != 3) return invalid_input("\"num_thread\" is no list of three sizes");
    std::ranges::copy(sizes, state.num_thread.begin());
    return {};
  }
  if (key == "wave32") {
    if (!value.is_boolean()) return invalid_input("\"wave32\" is neither true nor false");
    state.wave32 = value.get<bool>();
    return {};
  }
  if (key == "name" || key == "target") {
    if (!value.is_string()) return invalid_input(format("\"{}\" is no text", key));
    if (key == "name") {
      state.name = value.get<std::string>();
      return {};
    }
    const auto target = parse_code_target(value.get_ref<const std::string&>());
    if (!target) return invalid_input("\"target\" is no target, such as \"gfx1030\"");
    state.target = *target;
    return {};
  }
  if (key == "$schema") return {};
  return invalid_input(format("the key \"{}\" is unknown", key.substr(0, 40)));
}

/// What cannot be launched as it stands.
Result<void> check(const ComputeState& state) {
  WAVEGATE_TRY(const isa::Target target, state.target.decoder());
  if (state.wave32 && !isa::has_wave_width(target, isa::WaveWidth::wave32))
    return invalid_input(format("{} has no wave32", state.target.processor));
  std::uint64_t work_items = 1;
  for (const std::uint32_t size : state.num_thread) {
    if (size == 0 || size > kLargestWorkgroup) return invalid_input("\"num_thread\" has a size that is not 1 to 1024");
    work_items *= size;
  }
  if (work_items > kLargestWorkgroup)
    return invalid_input(
        format("\"num_thread\" makes {} work-items; a workgroup has at most {}", work_items, kLargestWorkgroup));
  const std::uint32_t counted = (state.pgm_rsrc2 >> 1) & 0x1f;
  if (state.user_sgprs.size() > counted)
    return invalid_input(
        format("\"user_sgprs\" has {} values where pgm_rsrc2 counts {}", state.user_sgprs.size(), counted));
  if (state.lds_bytes.value_or(0) > isa::info(target).lds_bytes)
    return invalid_input(format("\"lds_bytes\" is {}; {} has {}", *state.lds_bytes, state.target.processor,
                                isa::info(target).lds_bytes));
  return {};
}

Result<ComputeState> read_state(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return invalid_input("is not JSON");
  if (!document.is_object()) return invalid_input("is no JSON object");
  ComputeState state;
  for (const auto& [key, value] : document.items()) WAVEGATE_CHECK(read_member(key, value, state));
  for (const std::string_view key : {"target", "pgm_rsrc1", "pgm_rsrc2", "num_thread"})
    if (!document.contains(key)) return invalid_input(format("\"{}\" is missing", key));
  WAVEGATE_CHECK(check(state));
  return state;
}

}  // namespace

Result<ComputeState> parse_sidecar(std::string_view json) {
  if (json.size() > kLargestSidecar) return invalid_input(format("is larger than {} bytes", kLargestSidecar));
  try {
    return read_state(json);
  } catch (const std::bad_alloc&) {
    return device_error("the JSON does not fit into this machine's memory");
  }
}

Result<CodeObject> make_code_object(Bytes code, const ComputeState& state) {
  if (code.empty() || code.size() % 4 != 0)
    return invalid_input(format("the code has {} bytes, which is no whole number of words", code.size()));
  WAVEGATE_CHECK(check(state));
  WAVEGATE_TRY(const isa::Target target, state.target.decoder());
  Kernel kernel;
  kernel.name = state.name;
  kernel.code = code;
  kernel.wave_width = state.wave32 ? 32 : 64;
  kernel.descriptor.rsrc1 = state.pgm_rsrc1;
  kernel.descriptor.rsrc2 = state.pgm_rsrc2;
  kernel.descriptor.rsrc3 = state.pgm_rsrc3;
  kernel.descriptor.wave32 = state.wave32;
  const auto wave = state.wave32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  const Registers registers = decode_registers(kernel.descriptor, target, wave);
  kernel.lds_bytes = state.lds_bytes.value_or(registers.lds_bytes);
  kernel.descriptor.lds_bytes = kernel.lds_bytes;
  kernel.scratch_bytes = state.scratch_bytes;
  kernel.descriptor.scratch_bytes = state.scratch_bytes;
  kernel.sgprs = registers.sgprs;
  kernel.vgprs = registers.vgprs;
  kernel.required_workgroup = state.num_thread;
  kernel.max_workgroup = state.num_thread[0] * state.num_thread[1] * state.num_thread[2];
  kernel.user_sgpr_values = state.user_sgprs;

  CodeObject object;
  object.target = state.target;
  object.elf.segments.push_back({elf::kLoadSegment, elf::kSegmentExecutable, 0, code.size(), 256, code});
  object.kernels.push_back(std::move(kernel));
  return object;
}

}  // namespace wavegate::amdgpu::object
