#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wavegate/amdgpu/wave/step.h"

/// What memory instructions move, by their names: "global_load_dwordx2" is a space and an action.
namespace wavegate::amdgpu::wave {

namespace {

using Kind = MemoryAction::Kind;

struct NamedAction {
  std::string_view name;
  Kind kind;
  std::uint8_t element_bytes, words;
  bool sign_extend = false, half = false, high_half = false;
};

// clang-format off
constexpr NamedAction kActions[] = {
    {"load_ubyte", Kind::load, 1, 1}, {"load_sbyte", Kind::load, 1, 1, true},
    {"load_ushort", Kind::load, 2, 1}, {"load_sshort", Kind::load, 2, 1, true},
    {"load_dword", Kind::load, 4, 1}, {"load_dwordx2", Kind::load, 4, 2}, {"load_dwordx3", Kind::load, 4, 3}, {"load_dwordx4", Kind::load, 4, 4},
    {"load_dword_addtid", Kind::load, 4, 1}, {"store_dword_addtid", Kind::store, 4, 1},
    {"load_ubyte_d16", Kind::load, 1, 1, false, true}, {"load_ubyte_d16_hi", Kind::load, 1, 1, false, true, true},
    {"load_sbyte_d16", Kind::load, 1, 1, true, true}, {"load_sbyte_d16_hi", Kind::load, 1, 1, true, true, true},
    {"load_short_d16", Kind::load, 2, 1, false, true}, {"load_short_d16_hi", Kind::load, 2, 1, false, true, true},
    {"store_byte", Kind::store, 1, 1}, {"store_byte_d16_hi", Kind::store, 1, 1, false, false, true},
    {"store_short", Kind::store, 2, 1}, {"store_short_d16_hi", Kind::store, 2, 1, false, false, true},
    {"store_dword", Kind::store, 4, 1}, {"store_dwordx2", Kind::store, 4, 2}, {"store_dwordx3", Kind::store, 4, 3}, {"store_dwordx4", Kind::store, 4, 4},
    // LDS
    {"read_u8", Kind::load, 1, 1}, {"read_i8", Kind::load, 1, 1, true}, {"read_u16", Kind::load, 2, 1}, {"read_i16", Kind::load, 2, 1, true},
    {"read_u8_d16", Kind::load, 1, 1, false, true}, {"read_u8_d16_hi", Kind::load, 1, 1, false, true, true},
    {"read_i8_d16", Kind::load, 1, 1, true, true}, {"read_i8_d16_hi", Kind::load, 1, 1, true, true, true},
    {"read_u16_d16", Kind::load, 2, 1, false, true}, {"read_u16_d16_hi", Kind::load, 2, 1, false, true, true},
    {"read_b32", Kind::load, 4, 1}, {"read_b64", Kind::load, 4, 2}, {"read_b96", Kind::load, 4, 3}, {"read_b128", Kind::load, 4, 4},
    {"read2_b32", Kind::load, 4, 1}, {"read2_b64", Kind::load, 4, 2}, {"read2st64_b32", Kind::load, 4, 1}, {"read2st64_b64", Kind::load, 4, 2},
    {"write_b8", Kind::store, 1, 1}, {"write_b16", Kind::store, 2, 1}, {"write_b8_d16_hi", Kind::store, 1, 1, false, false, true}, {"write_b16_d16_hi", Kind::store, 2, 1, false, false, true},
    {"write_b32", Kind::store, 4, 1}, {"write_b64", Kind::store, 4, 2}, {"write_b96", Kind::store, 4, 3}, {"write_b128", Kind::store, 4, 4},
    {"read_addtid_b32", Kind::load, 4, 1}, {"write_addtid_b32", Kind::store, 4, 1},
    {"write2_b32", Kind::store, 4, 1}, {"write2_b64", Kind::store, 4, 2}, {"write2st64_b32", Kind::store, 4, 1}, {"write2st64_b64", Kind::store, 4, 2},
};

struct NamedAtomic {
  std::string_view name;
  AtomicOperation operation;
  bool swapped = false;  ///< the value to compare with is the first operand: ds_cmpst
};
constexpr NamedAtomic kAtomics[] = {
    {"swap", AtomicOperation::swap}, {"cmpswap", AtomicOperation::compare_swap}, {"add", AtomicOperation::add}, {"sub", AtomicOperation::subtract},
    {"rsub", AtomicOperation::reverse_subtract}, {"smin", AtomicOperation::signed_minimum}, {"umin", AtomicOperation::unsigned_minimum},
    {"smax", AtomicOperation::signed_maximum}, {"umax", AtomicOperation::unsigned_maximum}, {"and", AtomicOperation::bit_and}, {"or", AtomicOperation::bit_or},
    {"xor", AtomicOperation::bit_xor}, {"inc", AtomicOperation::increment}, {"dec", AtomicOperation::decrement}, {"csub", AtomicOperation::subtract_clamped},
    {"cond_sub_u32", AtomicOperation::conditional_subtract}, {"add_f32", AtomicOperation::add_f32}, {"pk_add_f16", AtomicOperation::packed_add_f16},
    {"pk_add_bf16", AtomicOperation::packed_add_bf16}, {"sub_clamp_u32", AtomicOperation::subtract_clamped},
    {"fcmpswap", AtomicOperation::compare_swap_f32}, {"fcmpswap_x2", AtomicOperation::compare_swap_f64},
    {"fmin", AtomicOperation::minimum_f32}, {"fmax", AtomicOperation::maximum_f32},
    {"fmin_x2", AtomicOperation::minimum_f64}, {"fmax_x2", AtomicOperation::maximum_f64},
    {"add_f64", AtomicOperation::add_f64}, {"min_f64", AtomicOperation::minimum_f64}, {"max_f64", AtomicOperation::maximum_f64},
    // LDS
    {"add_u32", AtomicOperation::add}, {"sub_u32", AtomicOperation::subtract}, {"rsub_u32", AtomicOperation::reverse_subtract},
    {"inc_u32", AtomicOperation::increment}, {"dec_u32", AtomicOperation::decrement}, {"min_i32", AtomicOperation::signed_minimum},
    {"max_i32", AtomicOperation::signed_maximum}, {"min_u32", AtomicOperation::unsigned_minimum}, {"max_u32", AtomicOperation::unsigned_maximum},
    {"and_b32", AtomicOperation::bit_and}, {"or_b32", AtomicOperation::bit_or}, {"xor_b32", AtomicOperation::bit_xor}, {"mskor_b32", AtomicOperation::masked_or},
    {"wrxchg_b32", AtomicOperation::swap}, {"cmpst_b32", AtomicOperation::compare_swap, true}, {"cmpstore_b32", AtomicOperation::compare_swap},
    {"wrap_b32", AtomicOperation::wrap}, {"min_f32", AtomicOperation::minimum_f32}, {"max_f32", AtomicOperation::maximum_f32},
    {"add_u64", AtomicOperation::add}, {"sub_u64", AtomicOperation::subtract}, {"rsub_u64", AtomicOperation::reverse_subtract},
    {"inc_u64", AtomicOperation::increment}, {"dec_u64", AtomicOperation::decrement}, {"min_i64", AtomicOperation::signed_minimum},
    {"max_i64", AtomicOperation::signed_maximum}, {"min_u64", AtomicOperation::unsigned_minimum}, {"max_u64", AtomicOperation::unsigned_maximum},
    {"and_b64", AtomicOperation::bit_and}, {"or_b64", AtomicOperation::bit_or}, {"xor_b64", AtomicOperation::bit_xor}, {"mskor_b64", AtomicOperation::masked_or},
    {"wrxchg_b64", AtomicOperation::swap}, {"cmpst_b64", AtomicOperation::compare_swap, true}, {"cmpstore_b64", AtomicOperation::compare_swap},
    {"cmpst_f32", AtomicOperation::compare_swap_f32, true}, {"cmpstore_f32", AtomicOperation::compare_swap_f32},
    {"cmpst_f64", AtomicOperation::compare_swap_f64, true}, {"cmpstore_f64", AtomicOperation::compare_swap_f64},
    {"wrxchg2_b32", AtomicOperation::swap}, {"wrxchg2st64_b32", AtomicOperation::swap},
    {"wrxchg2_b64", AtomicOperation::swap}, {"wrxchg2st64_b64", AtomicOperation::swap},
    {"condxchg32_b64", AtomicOperation::exchange_marked_words},
};
// clang-format on

struct NamedSpace {
  std::string_view prefix;
  MemorySpace space;
};
constexpr NamedSpace kSpaces[] = {
    {"global_", MemorySpace::global}, {"flat_", MemorySpace::flat},      {"scratch_", MemorySpace::scratch},
    {"buffer_", MemorySpace::buffer}, {"tbuffer_", MemorySpace::buffer}, {"ds_", MemorySpace::lds},
};

std::string without(std::string_view text, std::string_view part) {
  std::string result(text);
  if (const std::size_t place = result.find(part); place != std::string::npos) result.erase(place, part.size());
  return result;
}

/// Those that `beginning` begins have two addresses; of "st64" they are 64 times as far apart.
void set_two_addresses(std::string_view name, std::string_view beginning, MemoryAction& action) {
  if (!name.starts_with(beginning)) return;
  action.two_addresses = true;
  action.stride = action.words * 4u * (name.find("st64") != std::string_view::npos ? 64u : 1u);
}

bool find_atomic(std::string_view name, MemorySpace space, MemoryAction& action) {
  std::string wanted(name);
  if (space == MemorySpace::lds) {
    wanted = without(wanted, "_rtn");
    action.element_bytes = wanted.ends_with("64") ? 8 : 4;
  } else {
    if (!wanted.starts_with("atomic_")) return false;
    wanted.erase(0, 7);
    action.element_bytes = wanted.ends_with("_x2") || wanted.ends_with("64") ? 8 : 4;
    const bool is_float = wanted.starts_with("f");
    if (!is_float) wanted = without(wanted, "_x2");
  }
  const auto* const row = std::ranges::find(kAtomics, std::string_view(wanted), &NamedAtomic::name);
  if (row == std::end(kAtomics)) return false;
  action.kind = Kind::atomic;
  action.atomic = row->operation;
  action.words = action.element_bytes / 4;
  if (row->swapped) std::swap(action.data, action.second_data);
  set_two_addresses(name, "wrxchg2", action);
  return true;
}

/// "load_format_d16_xy", "store_format_x", "load_format_d16_hi_x".
bool find_format(std::string_view name, MemoryAction& action) {
  const std::size_t place = name.find("_format_");
  if (place == std::string_view::npos) return false;
  const std::string_view components = name.substr(name.rfind('_') + 1);
  action.kind = name.starts_with("load") ? Kind::load : Kind::store;
  action.components = static_cast<std::uint8_t>(components.size());
  action.half = name.find("_d16") != std::string_view::npos;
  action.high_half = name.find("_hi_") != std::string_view::npos;
  action.words = static_cast<std::uint8_t>(action.half ? (components.size() + 1) / 2 : components.size());
  return true;
}

/// "load_lds_u8" and "load_lds_ubyte" load what "load_ubyte" does.
std::string without_lds(std::string_view name, bool& to_lds) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"b32", "dword"}, {"u8", "ubyte"}, {"i8", "sbyte"}, {"u16", "ushort"}, {"i16", "sshort"}};
  if (!name.starts_with("load_lds_")) return std::string(name);
  to_lds = true;
  std::string_view loaded = name.substr(9);
  for (const auto& [now, before] : kNames)
    if (loaded == now) loaded = before;
  return "load_" + std::string(loaded);
}

bool find_action(std::string_view name, MemorySpace space, MemoryAction& action) {
  if (space == MemorySpace::buffer && find_format(name, action)) return true;
  const auto* const row = std::ranges::find(kActions, name, &NamedAction::name);
  if (row == std::end(kActions)) return find_atomic(name, space, action);
  action.kind = row->kind;
  action.element_bytes = row->element_bytes;
  action.words = row->words;
  action.sign_extend = row->sign_extend;
  action.half = row->half;
  action.high_half = row->high_half;
  action.by_lane = name.find("addtid") != std::string_view::npos;
  set_two_addresses(name, "read2", action);
  set_two_addresses(name, "write2", action);
  return true;
}

/// Which source is what, by the order of the syntax.
void place_sources(const isa::Instruction& instruction, MemoryAction& action) {
  constexpr std::uint8_t kAbsent = 4;
  const bool load = action.kind == Kind::load;
  action.returns = action.kind == Kind::atomic && instruction.destination_count != 0;
  if (action.by_lane) {
    action.address = kAbsent;
    action.data = 0;
    action.base = load ? 0 : 1;
    return;
  }
  switch (action.space) {
    case MemorySpace::lds: action.address = 0; break;
    case MemorySpace::buffer: {
      // What an atomic returns comes where its data was, which is then a destination and the last source.
      const bool first = !load && !action.returns;
      action.data = first ? 0 : 3;
      action.address = first ? 1 : 0;
      action.base = static_cast<std::uint8_t>(action.address + 1);
      action.base_offset = static_cast<std::uint8_t>(action.address + 2);
      break;
    }
    default:
      action.address = 0;
      action.data = 1;
      action.base = load ? 1 : 2;
      if (action.space == MemorySpace::flat) action.base = kAbsent;
  }
}

}  // namespace

std::optional<MemoryAction> memory_action(const isa::Instruction& instruction) {
  const std::string_view name = isa::to_string(instruction.opcode);
  for (const NamedSpace& space : kSpaces) {
    if (!name.starts_with(space.prefix)) continue;
    MemoryAction action;
    action.space = space.space;
    action.typed = instruction.encoding == isa::Encoding::mtbuf;
    action.to_lds = instruction.has(isa::MemoryFlags::lds) && space.space != MemorySpace::lds;
    const std::string rest = without_lds(name.substr(space.prefix.size()), action.to_lds);
    if (!find_action(rest, space.space, action)) return std::nullopt;
    if (action.to_lds && (action.kind != Kind::load || action.words != 1 || action.half || action.components != 0))
      return std::nullopt;
    if (instruction.has(isa::MemoryFlags::gds) || instruction.has(isa::MemoryFlags::tfe)) return std::nullopt;
    place_sources(instruction, action);
    // What lanes' words are counted from if there is no base is not told.
    if (action.by_lane && space.space == MemorySpace::global &&
        instruction.sources()[action.base].kind == isa::OperandKind::off)
      return std::nullopt;
    return action;
  }
  return std::nullopt;
}

}  // namespace wavegate::amdgpu::wave
