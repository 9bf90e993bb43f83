#include "amdgpu/wave/values/memory_model.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "amdgpu/wave/values/machine.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

using isa::Instruction;
using isa::MemoryFlags;
using isa::Operand;
using isa::OperandKind;
using Kind = MemoryRow::Kind;

constexpr u64 kSharedAperture = u64{0x10000} << 32, kPrivateAperture = u64{0x20000} << 32;

/// The operands by what they are for.
struct Roles {
  Operand address, data, second, base, offset;
};
Roles roles_of(const Instruction& instruction, const MemoryRow& row) {
  const auto sources = instruction.sources();
  const auto at = [&](std::size_t i) { return i < sources.size() ? sources[i] : Operand{}; };
  const bool load = row.kind == Kind::load;
  switch (row.space) {
    case Space::lds: return {at(0), at(1), at(2), {}, {}};
    case Space::scalar:
    case Space::scalar_buffer: return load ? Roles{{}, {}, {}, at(0), at(1)} : Roles{{}, at(0), {}, at(1), at(2)};
    case Space::buffer: {
      const std::size_t first = load || instruction.destination_count != 0 ? 0 : 1;
      const Operand data = load ? Operand{} : instruction.operands[0];
      return {at(first), data, {}, at(first + 1), at(first + 2)};
    }
    default: return {at(0), load ? Operand{} : at(1), {}, at(load ? 1 : 2), {}};
  }
}
bool is_there(const Operand& operand) {
  return operand.kind != OperandKind::none && operand.kind != OperandKind::off && operand.kind != OperandKind::null;
}

/// A descriptor's fields.
struct Descriptor {
  u64 base, stride, records;
};
Descriptor descriptor_at(const Registers& registers, unsigned index) {
  return {registers.pair(index) & 0xffffffffffffu, part(registers.scalars[index + 1], 16, 14),
          registers.scalars[index + 2]};
}

/// Where a lane's access goes; nothing where a descriptor rules it out.
std::optional<u64> address_of(const Registers& registers, const Instruction& instruction, const Roles& roles,
                              const MemoryRow& row, unsigned lane) {
  const u64 offset = static_cast<u64>(static_cast<i64>(instruction.offset));
  const auto word = [&](const Operand& operand, unsigned number) { return u64{registers.word(operand, number, lane)}; };
  const u64 base = is_there(roles.base) ? registers.scalar(roles.base) : 0;
  switch (row.space) {
    case Space::global:
    case Space::flat: {
      if (!is_there(roles.address)) return base + offset;
      const u64 high = roles.address.words >= 2 ? word(roles.address, 1) << 32 : 0;
      return base + offset + (high | word(roles.address, 0));
    }
    case Space::scratch: return (base + offset + (is_there(roles.address) ? word(roles.address, 0) : 0)) & 0xffffffffu;
    case Space::lds: return word(roles.address, 0) + (row.pair ? 0 : offset & 0xffff);
    case Space::buffer: {
      const Descriptor buffer = descriptor_at(registers, Registers::scalar_index(roles.base));
      const bool indexed = instruction.has(MemoryFlags::idxen), offset_by_lane = instruction.has(MemoryFlags::offen);
      const u64 index = indexed ? word(roles.address, 0) : 0;
      const u64 within = offset + (offset_by_lane ? word(roles.address, indexed ? 1 : 0) : 0);
      const u64 bytes = static_cast<u64>(row.kind == Kind::atomic ? row.bytes : row.bytes + (row.words - 1) * 4);
      const bool outside = buffer.stride == 0 ? within + bytes > buffer.records : index >= buffer.records;
      if (outside) return std::nullopt;
      return buffer.base + registers.scalar(roles.offset) + index * buffer.stride + within;
    }
    case Space::scalar:
    case Space::scalar_buffer: {
      // An immediate, or a register and an immediate beside it.
      const bool immediate = roles.offset.kind == OperandKind::immediate;
      const u64 by = immediate ? static_cast<u64>(static_cast<i64>(static_cast<i32>(roles.offset.value)))
                               : (is_there(roles.offset) ? registers.scalar(roles.offset) : 0) + offset;
      const u64 start =
          row.space == Space::scalar ? base : descriptor_at(registers, Registers::scalar_index(roles.base)).base;
      return row.bytes == 4 ? (start + by) & ~u64{3} : start + by;
    }
  }
  return std::nullopt;
}

std::byte* at(Memories& memories, const Registers& registers, Space space, u64 address, unsigned lane) {
  const auto in = [](std::vector<std::byte>& bytes, u64 place) {
    return place + 8 <= bytes.size() ? bytes.data() + place : nullptr;
  };
  if (space == Space::flat && (address & ~u64{0xffffffff}) == kSharedAperture)
    space = Space::lds, address &= 0xffffffffu;
  if (space == Space::flat && (address & ~u64{0xffffffff}) == kPrivateAperture)
    space = Space::scratch, address &= 0xffffffffu;
  if (space == Space::lds) return in(memories.lds, address);
  if (space == Space::scratch) return in(memories.scratch, Memories::scratch_place(address, lane, registers.lanes));
  return in(memories.global, address - memories.global_base);
}

u64 load(const std::byte* from, int bytes, bool extends_sign) {
  u64 value = 0;
  std::memcpy(&value, from, static_cast<std::size_t>(bytes));
  return extends_sign ? static_cast<u64>(sx(value, bytes * 8)) & 0xffffffffu : value;
}

void move_words(Registers& registers, Memories& memories, const Instruction& instruction, const MemoryRow& row,
                const Operand& data, unsigned first_register, u64 address, unsigned lane) {
  for (int i = 0; i < row.words; ++i) {
    std::byte* const place = at(memories, registers, row.space, address + static_cast<u64>(i) * 4, lane);
    if (place == nullptr) continue;
    if (row.kind == Kind::load) {
      u32& to =
          registers
              .rows[Registers::row_index(instruction.operands[0]) + first_register + static_cast<unsigned>(i)][lane];
      const u32 value = static_cast<u32>(load(place, row.bytes, row.extends_sign));
      if (row.half < 0) to = value;
      if (row.half == 0) to = (to & 0xffff0000u) | (value & 0xffffu);
      if (row.half == 1) to = (to & 0xffffu) | value << 16;
    } else {
      const u32 value = registers.word(data, static_cast<unsigned>(i), lane) >> (row.half == 1 ? 16 : 0);
      std::memcpy(place, &value, static_cast<std::size_t>(row.bytes));
    }
  }
}

void update(Registers& registers, Memories& memories, const Instruction& instruction, const MemoryRow& row,
            const Roles& roles, u64 address, unsigned lane) {
  std::byte* const place = at(memories, registers, row.space, address, lane);
  if (place == nullptr) return;
  const auto datum = [&](const Operand& operand, unsigned first) {
    u64 value = registers.word(operand, first, lane);
    if (row.bytes == 8) value |= static_cast<u64>(registers.word(operand, first + 1, lane)) << 32;
    return value;
  };
  u64 data = datum(roles.data, 0), second = 0;
  if (row.compares)
    second = row.space == Space::lds ? datum(roles.second, 0) : datum(roles.data, static_cast<unsigned>(row.words));
  if (row.second_first) std::swap(data, second);
  // Words of scratch memory lie apart.
  std::byte* const high = at(memories, registers, row.space, address + 4, lane);
  u64 old = load(place, 4, false);
  if (row.bytes == 8) old |= load(high, 4, false) << 32;
  const u64 now = row.after(old, data, second);
  std::memcpy(place, &now, 4);
  const u32 upper = static_cast<u32>(now >> 32);
  if (row.bytes == 8) std::memcpy(high, &upper, 4);
  if (instruction.destination_count == 0) return;
  const unsigned to = Registers::row_index(instruction.operands[0]);
  registers.rows[to][lane] = static_cast<u32>(old);
  if (row.bytes == 8) registers.rows[to + 1][lane] = static_cast<u32>(old >> 32);
}

Loose execute_scalar_memory(Registers& registers, Memories& memories, const Instruction& instruction,
                            const MemoryRow& row, const Roles& roles) {
  const u64 address = *address_of(registers, instruction, roles, row, 0);
  const unsigned index = Registers::scalar_index(row.kind == Kind::load ? instruction.operands[0] : roles.data);
  for (unsigned i = 0; i < static_cast<unsigned>(row.words); ++i) {
    std::byte* const place = at(memories, registers, Space::global, address + u64{i} * 4, 0);
    if (place == nullptr) continue;
    if (row.kind == Kind::load)
      registers.scalars[index + i] = static_cast<u32>(load(place, row.bytes, row.extends_sign));
    else
      std::memcpy(place, &registers.scalars[index + i], 4);
  }
  return {};
}

bool overlap(unsigned a, unsigned a_words, unsigned b, unsigned b_words) {
  return a < b + b_words && b < a + a_words;
}

/// Sets a scalar operand of addresses; false if it is none that can be set.
bool set_scalar(Registers& registers, const Operand& operand, u64 value, unsigned words) {
  const unsigned index = Registers::scalar_index(operand);
  if (index == Registers::kNone || index + words > Registers::kM0) return false;
  registers.set(index, value, words);
  return true;
}
void set_row(Registers& registers, const Operand& operand, unsigned lane, u64 value) {
  const unsigned row = Registers::row_index(operand);
  registers.rows[row][lane] = static_cast<u32>(value);
  if (operand.words >= 2) registers.rows[row + 1][lane] = static_cast<u32>(value >> 32);
}

bool lead_buffer(Registers& registers, const Memories& memories, const Instruction& instruction, const Roles& roles,
                 u64& random, const std::array<u64, 64>& places) {
  const unsigned index = Registers::scalar_index(roles.base);
  if (index == Registers::kNone || index + 4 > Registers::kM0) return false;
  u64 constant = 0;
  if (const unsigned place = Registers::scalar_index(roles.offset); place != Registers::kNone) {
    if (overlap(place, 1, index, 4) || place >= Registers::kM0) return false;
    registers.scalars[place] = static_cast<u32>(next_random(random) % 16 * 4);
  } else {
    constant = registers.scalar(roles.offset);
  }
  const bool indexed = instruction.has(MemoryFlags::idxen), offset_by_lane = instruction.has(MemoryFlags::offen);
  const u64 stride = indexed ? 32 : 0;
  // So that constant offsets lead to where lanes go on.
  const u64 by = static_cast<u64>(instruction.offset), base = memories.global_base - by - constant;
  if (instruction.offset < 0) return false;
  registers.set(index, (base & 0xffffffffffffu) | stride << 48, 2);
  registers.scalars[index + 2] = indexed ? 64 : static_cast<u32>(by + Memories::kGlobalBytes / 2);
  // Bounds by the index where there is a stride, by bytes where there is none; no swizzle.
  registers.scalars[index + 3] =
      registers.generation == isa::Generation::gfx9 ? 7u << 12 | 4u << 15 : (indexed ? 1u : 3u) << 28;
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    // A few are outside.
    const bool outside = next_random(random) % 16 == 0;
    const u64 place = places[lane] / 2 % 2048 + (outside ? Memories::kGlobalBytes : 0);
    if (indexed) registers.rows[Registers::row_index(roles.address)][lane] = static_cast<u32>(place / 32);
    if (offset_by_lane)
      registers.rows[Registers::row_index(roles.address) + (indexed ? 1 : 0)][lane] =
          static_cast<u32>(indexed ? place % 32 / 16 * 16 : place);
  }
  return true;
}

bool lead_scalar(Registers& registers, const Memories& memories, const Instruction& instruction, const MemoryRow& row,
                 const Roles& roles, u64& random) {
  const unsigned words = row.space == Space::scalar ? 2 : 4;
  const unsigned index = Registers::scalar_index(roles.base);
  if (index == Registers::kNone || index + words > Registers::kM0) return false;
  u64 by = static_cast<u64>(static_cast<i64>(instruction.offset));
  if (roles.offset.kind == OperandKind::immediate) {
    by = static_cast<u64>(static_cast<i64>(static_cast<i32>(roles.offset.value)));
  } else if (is_there(roles.offset)) {
    const unsigned place = Registers::scalar_index(roles.offset);
    if (place == Registers::kNone || place >= Registers::kM0 || overlap(place, 1, index, words)) return false;
    registers.scalars[place] = static_cast<u32>(next_random(random) % 1024);
    by += registers.scalars[place];
  }
  const u64 wanted = memories.global_base + 1024 + next_random(random) % 512 * 4;
  if (row.space == Space::scalar) {
    registers.set(index, wanted - by, 2);
  } else {
    // Its range is from 0 on.
    if (static_cast<i64>(by) < 0) return false;
    registers.set(index, (wanted - by) & 0xfffffffffffcu, 2);
    registers.scalars[index + 2] = static_cast<u32>(by + 1024);
  }
  // What is stored must not be what leads there.
  const unsigned data = row.kind == Kind::store ? Registers::scalar_index(roles.data) : 0;
  if (row.kind == Kind::store && data == Registers::kNone) return false;
  const unsigned to = row.kind == Kind::load ? Registers::scalar_index(instruction.operands[0]) : data;
  return to != Registers::kNone && to + static_cast<unsigned>(row.words) <= Registers::kM0;
}

bool lead_somewhere(Registers& registers, const Memories& memories, const Instruction& instruction,
                    const MemoryRow& row, const Roles& roles, u64& random) {
  if (row.space == Space::scalar || row.space == Space::scalar_buffer)
    return lead_scalar(registers, memories, instruction, row, roles, random);
  std::array<u64, 64> places{};
  for (unsigned lane = 0; lane < 64; ++lane) places[lane] = (lane * 27 + 5) % 64 * 64 + next_random(random) % 3 * 16;
  const u64 offset = static_cast<u64>(static_cast<i64>(instruction.offset));
  if (row.space == Space::buffer) return lead_buffer(registers, memories, instruction, roles, random, places);
  // LLVM shows an address without a scalar part so, and one register of its two.
  if (roles.base.kind == OperandKind::null) return false;
  u64 start = 0;
  if (is_there(roles.base)) {
    start = next_random(random) % 64 * 16;
    const u64 base = row.space == Space::scratch ? start : memories.global_base + 2048 - offset + start;
    if (!set_scalar(registers, roles.base, base, row.space == Space::scratch ? 1 : 2)) return false;
  }
  if (!is_there(roles.address)) {
    // All lanes go to one place of global memory, which tells nothing of who stores last.
    if (row.space == Space::global && (row.kind != Kind::load || !is_there(roles.base))) return false;
    const u64 place = start + offset;
    return row.space == Space::global || (place & 0xffffffffu) + 32 <= Memories::kScratchBytes;
  }
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    const u64 place = places[lane];
    switch (row.space) {
      case Space::global:
        set_row(registers, roles.address, lane, is_there(roles.base) ? place : memories.global_base + place - offset);
        break;
      case Space::flat: {
        // Doubles in scratch memory are NaNs whose words lie apart: nothing compares those.
        const u64 any = next_random(random) % 4, choice = row.type == 'd' && any == 1 ? 2 : any;
        const u64 target = choice == 0   ? kSharedAperture + 8192 + place
                           : choice == 1 ? kPrivateAperture + place % (Memories::kScratchBytes - 32) / 16 * 16
                                         : memories.global_base + place;
        set_row(registers, roles.address, lane, target - offset);
        break;
      }
      case Space::scratch:
        set_row(registers, roles.address, lane, place % (Memories::kScratchBytes - 32) / 16 * 16 - offset - start);
        break;
      default:
        // Where its offset leads to a multiple of 8.
        set_row(registers, roles.address, lane, place + (row.pair ? 0 : (0 - offset) & 7));
        break;
    }
  }
  return true;
}

/// Whether two lanes write the same place: which comes last is not said.
bool collide(const Registers& registers, const Instruction& instruction, const Roles& roles, const MemoryRow& row) {
  if (row.kind == Kind::load || row.space == Space::scratch || row.space == Space::scalar) return false;
  std::vector<std::pair<u64, u64>> places;
  const u64 bytes = static_cast<u64>(row.kind == Kind::atomic || row.words == 1 ? row.bytes : row.words * 4);
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    const auto address =
        (registers.exec() >> lane & 1) != 0 ? address_of(registers, instruction, roles, row, lane) : std::nullopt;
    if (!address || (*address >> 32 == kPrivateAperture >> 32 && row.space == Space::flat)) continue;
    for (int i = 0; i < (row.pair ? 2 : 1); ++i) {
      const u64 offset = i == 0 ? static_cast<u64>(instruction.offset & 0xff) : instruction.offset1;
      const u64 place = *address + (row.pair ? offset * static_cast<u64>(row.stride) : 0);
      places.push_back({place, place + bytes});
    }
  }
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first < places[i - 1].second) return true;
  return false;
}

/// Whether each lane's place is a multiple of what an atomic takes.
bool is_aligned(const Registers& registers, const Instruction& instruction, const Roles& roles, const MemoryRow& row) {
  for (unsigned lane = 0; lane < registers.lanes && row.kind == Kind::atomic; ++lane)
    if (const auto address = address_of(registers, instruction, roles, row, lane);
        address && *address % static_cast<u64>(row.bytes) != 0)
      return false;
  return true;
}

/// Gives some lanes of a compare-and-swap what memory holds to compare with, so that they swap.
void let_some_match(Registers& registers, Memories& memories, const Instruction& instruction, const Roles& roles,
                    const MemoryRow& row, u64& random) {
  const bool in_second = row.space == Space::lds && !row.second_first;
  const unsigned base = Registers::row_index(in_second ? roles.second : roles.data);
  if (!row.compares || base == Registers::kNone) return;
  const unsigned index = base + (row.space == Space::lds ? 0 : static_cast<unsigned>(row.words));
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    const auto address = address_of(registers, instruction, roles, row, lane);
    if (!address || next_random(random) % 2 == 0) continue;
    for (unsigned word = 0; word * 4 < static_cast<unsigned>(row.bytes); ++word) {
      const std::byte* const place = at(memories, registers, row.space, *address + u64{word} * 4, lane);
      if (place == nullptr) break;
      u32& datum = registers.rows[index + word][lane];
      const u32 kept = datum;
      datum = static_cast<u32>(load(place, 4, false));
      // The register may hold the address, too.
      if (address_of(registers, instruction, roles, row, lane) != address) datum = kept;
    }
  }
}

}  // namespace

bool lead_into_memory(Registers& registers, Memories& memories, const Instruction& instruction, const MemoryRow& row,
                      u64& random) {
  const Roles roles = roles_of(instruction, row);
  // What is loaded to LDS, or with a status behind it, is not compared here.
  if (row.space != Space::lds && (instruction.has(MemoryFlags::lds) || instruction.has(MemoryFlags::tfe))) return false;
  const bool leads = lead_somewhere(registers, memories, instruction, row, roles, random) &&
                     !collide(registers, instruction, roles, row) && is_aligned(registers, instruction, roles, row);
  if (leads) let_some_match(registers, memories, instruction, roles, row, random);
  return leads;
}

Loose execute_memory(Registers& registers, Memories& memories, const Instruction& instruction, const MemoryRow& row) {
  const Roles roles = roles_of(instruction, row);
  if (row.space == Space::scalar || row.space == Space::scalar_buffer)
    return execute_scalar_memory(registers, memories, instruction, row, roles);
  // All is read before anything is written.
  const Registers before = registers;
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    if ((registers.exec() >> lane & 1) == 0) continue;
    const auto address = address_of(before, instruction, roles, row, lane);
    const bool returns = instruction.destination_count != 0;
    if (!address) {
      // Beyond a descriptor's bounds there are zeros.
      for (int i = 0; returns && i < row.words; ++i) {
        u32& to = registers.rows[Registers::row_index(instruction.operands[0]) + static_cast<unsigned>(i)][lane];
        to = row.half < 0 ? 0 : row.half == 0 ? to & 0xffff0000u : to & 0xffffu;
      }
      continue;
    }
    if (row.kind == Kind::atomic) {
      update(registers, memories, instruction, row, roles, *address, lane);
    } else if (!row.pair) {
      move_words(registers, memories, instruction, row, roles.data, 0, *address, lane);
    } else {
      const u64 first = static_cast<u64>(instruction.offset & 0xff), second = instruction.offset1;
      const u64 stride = static_cast<u64>(row.stride);
      move_words(registers, memories, instruction, row, roles.data, 0, *address + first * stride, lane);
      move_words(registers, memories, instruction, row, roles.second, static_cast<unsigned>(row.words),
                 *address + second * stride, lane);
    }
  }
  return {};
}

std::string difference(Memories& expected, const Memories& got, const MemoryRow& row) {
  const auto differs = [&](std::vector<std::byte>& one, const std::vector<std::byte>& other, const char* name) {
    while (one != other) {
      const auto place = std::ranges::mismatch(one, other).in1 - one.begin();
      const std::size_t first =
          static_cast<std::size_t>(place) / static_cast<std::size_t>(row.bytes) * static_cast<std::size_t>(row.bytes);
      const u64 wanted = load(&one[first], row.bytes, false), had = load(&other[first], row.bytes, false);
      const auto both = [&](Format format, int shift, int bits) {
        return Float{format}.is_nan(part(wanted, shift, bits)) && Float{format}.is_nan(part(had, shift, bits));
      };
      const bool nans = (row.type == 'f' && both(kF32, 0, 32)) ||
                        (row.type == 'd' && Float{kF64}.is_nan(wanted) && Float{kF64}.is_nan(had)) ||
                        (row.type == 'p' && (both(kF16, 0, 16) || both(kF16, 16, 16)));
      if (!nans) return format("{} at {} is {:#x}, not {:#x}", name, first, had, wanted);
      std::memcpy(&one[first], &other[first], static_cast<std::size_t>(row.bytes));
    }
    return std::string();
  };
  std::string text = differs(expected.global, got.global, "memory");
  if (text.empty()) text = differs(expected.lds, got.lds, "LDS");
  return text.empty() ? differs(expected.scratch, got.scratch, "scratch memory") : text;
}

}  // namespace wavegate::amdgpu::wave::testing
