#include "amdgpu/wave/values/operands.h"

#include "amdgpu/wave/values/machine.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

constexpr u64 kWords[] = {0,          1,          2,          31,         32,         33,
                          63,         0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,
                          0x800000,   0xffffff,   0x1000000,  0x7fffffff, 0x80000000, 0x80000001,
                          0xffffffff, 0xfffffffe, 0x00ff00ff, 0x80008000, 0x7fff7fff, 0x0c0d0b08};
constexpr u64 kSingles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x40200000,
                            0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffa00000, 1,
                            0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x4b000000,
                            0x4b7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x477fe000, 0x38800000, 0x33000000,
                            0x3effffff, 0x3f7fffff, 0x3fc00000, 0xbfc00000, 0x7e800000, 0x7f000000, 0x20000000};
constexpr u64 kDoubles[] = {0,
                            0x8000000000000000,
                            0x3ff0000000000000,
                            0xbff0000000000000,
                            0x3fe0000000000000,
                            0x4004000000000000,
                            0x7ff0000000000000,
                            0xfff0000000000000,
                            0x7ff8000000000000,
                            0x7ff0000000000001,
                            1,
                            0x800fffffffffffff,
                            0x0010000000000000,
                            0x7fefffffffffffff,
                            0x41dfffffffc00000,
                            0xc1e0000000000000,
                            0x41f0000000000000,
                            0x4330000000000000,
                            0x47efffffe0000000,
                            0x36a0000000000000,
                            0x7fd0000000000000,
                            0x3fdfffffffffffff,
                            0xbff8000000000000};
constexpr u64 kHalves[] = {0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfd00,
                           1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x6400, 0x67ff, 0x3bff, 0x3e00, 0x1000};
constexpr u64 kShorts[] = {0, 1, 2, 15, 16, 17, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 0x100};

template <std::size_t count>
u64 one_of(const u64 (&values)[count], u64& random) {
  return values[next_random(random) % count];
}

u64 around(u64 special, u64& random) {
  return next_random(random) % 4 == 0 ? special + next_random(random) % 5 - 2 : special;
}
/// A number whose exponent is near the middle, so that sums and products neither vanish nor overflow.
u64 moderate(Format format, u64& random) {
  const u64 fraction = next_random(random) & ((u64{1} << format.fraction_bits) - 1);
  const u64 exponent = static_cast<u64>(format.bias()) + next_random(random) % 13 - 6;
  return (next_random(random) & format.sign()) | exponent << format.fraction_bits | fraction;
}
template <std::size_t count>
u64 real(Format format, const u64 (&specials)[count], u64& random) {
  switch (next_random(random) % 4) {
    case 0: return around(one_of(specials, random), random) & (2 * format.sign() - 1);
    case 1: return moderate(format, random);
    default: return next_random(random) & (2 * format.sign() - 1);
  }
}
u64 halves(u64& random) {
  return real(kF16, kHalves, random) | real(kF16, kHalves, random) << 16;
}
u64 shorts(u64& random) {
  const auto one = [&] {
    return next_random(random) % 2 == 0 ? one_of(kShorts, random) : next_random(random) & 0xffff;
  };
  const u64 low = one();
  return low | one() << 16;
}

/// Small numbers whose products and sums are exact, of the formats of a dot product.
u64 small_numbers(std::string_view name, std::size_t operand, u64& random) {
  constexpr u64 kHalfNumbers[] = {0, 0x3c00, 0xbc00, 0x4000, 0x4200, 0x3800},
                kBfloats[] = {0, 0x3f80, 0xbf80, 0x4000, 0x4040, 0x3f00};
  constexpr u64 kFp8[] = {0, 0x38, 0xb8, 0x40, 0x44, 0x30}, kBf8[] = {0, 0x3c, 0xbc, 0x40, 0x42, 0x38};
  constexpr u64 kNumbers[] = {0, 0x3f800000, 0xbf800000, 0x40000000, 0x40400000, 0x3f000000};
  const bool bytes = name.starts_with("v_dot4");
  if (bytes && operand >= 2) return one_of(kNumbers, random);
  u64 result = 0;
  for (int i = 0; i < 32; i += bytes ? 8 : 16) {
    const bool bf8 = bytes && name.substr(operand == 0 ? 11 : 15).starts_with("bf8");
    const u64 element =
        !bytes ? (name.find("bf16") != std::string_view::npos ? one_of(kBfloats, random) : one_of(kHalfNumbers, random))
        : bf8  ? one_of(kBf8, random)
               : one_of(kFp8, random);
    result |= element << i;
  }
  return result;
}

}  // namespace

u64 random_bits(char type, u64& random) {
  switch (type) {
    case 'f': return real(kF32, kSingles, random);
    case 'd': return real(kF64, kDoubles, random);
    case 'h': return halves(random);
    case 'w':
    case 's': return shorts(random);
    case 'q':
      return next_random(random) % 3 == 0 ? random_bits('u', random) | random_bits('u', random) << 32
                                          : next_random(random);
    default:
      return next_random(random) % 2 == 0 ? around(one_of(kWords, random), random) & 0xffffffffu
                                          : next_random(random) & 0xffffffffu;
  }
}

u64 random_exec(unsigned lanes, u64& random) {
  const u64 any = next_random(random), choice = next_random(random) % 8;
  const u64 exec = choice < 4    ? ~u64{0}
                   : choice == 4 ? any & next_random(random)
                   : choice == 5 ? u64{1} << (any % lanes)
                                 : any;
  return lanes == 32 ? (exec & 0xffffffffu) | next_random(random) << 32 : exec;
}

Registers random_registers(isa::Generation generation, unsigned lanes, u64& random) {
  Registers registers;
  registers.generation = generation;
  registers.lanes = lanes;
  for (u32& word : registers.scalars) word = static_cast<u32>(next_random(random));
  for (Registers::VectorRow& row : registers.rows)
    for (u32& word : row) word = static_cast<u32>(next_random(random));
  registers.set(Registers::kExec, random_exec(lanes, random), 2);
  return registers;
}

void fill_sources(Registers& registers, const isa::Instruction& instruction, const Row& row, u64& random) {
  std::vector<isa::Operand> operands(instruction.sources().begin(), instruction.sources().end());
  if (instruction.destination_count != 0) operands.push_back(instruction.operands[0]);
  const std::string_view types = row.sources();
  const bool mix = row.name.find("_mix") != std::string_view::npos, packed = row.name.starts_with("v_pk_");
  const bool dot =
      row.name.find("dot2_f32") != std::string_view::npos || row.name.find("dot2c_f32") != std::string_view::npos;
  const bool exact =
      row.name.starts_with("v_dot4_f32") || row.name.starts_with("v_dot2_f16") || row.name.starts_with("v_dot2_bf16");
  const auto bits = [&](std::size_t i) {
    const char type = types[i];
    if (exact) return small_numbers(row.name, i, random);
    if (packed && type == 'f') return random_bits('f', random) | random_bits('f', random) << 32;
    if ((mix && next_random(random) % 2 == 0) || (dot && type == 'u')) return halves(random);
    return random_bits(type, random);
  };
  for (std::size_t i = 0; i < operands.size() && i < types.size(); ++i) {
    const isa::Operand& operand = operands[i];
    const char type = types[i];
    if (type == 'm') continue;
    const bool wide = type == 'd' || type == 'q' || (packed && type == 'f');
    if (const unsigned index = Registers::scalar_index(operand); index != Registers::kNone) {
      if (index < Registers::kExec) registers.set(index, bits(i), wide && operand.words >= 2 ? 2 : 1);
      continue;
    }
    const unsigned to = Registers::row_index(operand);
    if (to == Registers::kNone) continue;
    for (unsigned lane = 0; lane < registers.lanes; ++lane) {
      u64 value = bits(i);
      if (i > 0 && !exact && next_random(random) % 3 == 0) {
        const isa::Operand& other = operands[next_random(random) % i];
        value = registers.word(other, 0, lane) | (wide ? static_cast<u64>(registers.word(other, 1, lane)) << 32 : 0);
        if (next_random(random) % 4 == 0) value += next_random(random) % 3 - 1;
      }
      registers.rows[to][lane] = static_cast<u32>(value);
      if (wide && to + 1 < Registers::kRows) registers.rows[to + 1][lane] = static_cast<u32>(value >> 32);
    }
  }
}

}  // namespace wavegate::amdgpu::wave::testing
