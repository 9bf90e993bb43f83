#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Random number generators written from the papers that published them, for sequences to compare with.
namespace wavegate::amdgpu::corpora {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
inline std::array<u32, 4> philox(std::array<u32, 4> counter, std::array<u32, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const u64 even = u64{0xD2511F53} * counter[0], odd = u64{0xCD9E8D57} * counter[2];
    counter = {static_cast<u32>(odd >> 32) ^ counter[1] ^ key[0], static_cast<u32>(odd),
               static_cast<u32>(even >> 32) ^ counter[3] ^ key[1], static_cast<u32>(even)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The counter `steps` further: 128 bits, the lowest first.
inline std::array<u32, 4> advanced(std::array<u32, 4> counter, u64 steps) {
  u64 carry = steps;
  for (u32& word : counter) {
    const u64 sum = word + (carry & 0xffffffffu);
    word = static_cast<u32>(sum);
    carry = (carry >> 32) + (sum >> 32);
  }
  return counter;
}

/// Matrices of three rows over the integers modulo m, which is below 2^32.
struct ModularMatrix {
  std::array<std::array<u64, 3>, 3> rows;
  u64 modulus;

  ModularMatrix operator*(const ModularMatrix& other) const {
    ModularMatrix product{{}, modulus};
    for (unsigned i = 0; i < 3; ++i)
      for (unsigned j = 0; j < 3; ++j)
        for (unsigned k = 0; k < 3; ++k)
          product.rows[i][j] = (product.rows[i][j] + rows[i][k] * other.rows[k][j] % modulus) % modulus;
    return product;
  }
  std::array<u64, 3> operator*(const std::array<u64, 3>& vector) const {
    std::array<u64, 3> product{};
    for (unsigned i = 0; i < 3; ++i)
      for (unsigned k = 0; k < 3; ++k) product[i] = (product[i] + rows[i][k] * vector[k] % modulus) % modulus;
    return product;
  }
};

/// The vector after `steps` times 2^`log` multiplications.
template <typename Matrix, typename Vector>
Vector jumped(Matrix matrix, Vector vector, u64 steps, unsigned log) {
  for (; log > 0; --log) matrix = matrix * matrix;
  for (; steps != 0; steps /= 2) {
    if (steps % 2 != 0) vector = matrix * vector;
    matrix = matrix * matrix;
  }
  return vector;
}

/// MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators"
/// (1999).
struct Mrg32k3a {
  static constexpr u64 kModulus1 = 4294967087, kModulus2 = 4294944443;
  static constexpr ModularMatrix kStep1{{{{0, 1, 0}, {0, 0, 1}, {kModulus1 - 810728, 1403580, 0}}}, kModulus1};
  static constexpr ModularMatrix kStep2{{{{0, 1, 0}, {0, 0, 1}, {kModulus2 - 1370589, 0, 527612}}}, kModulus2};

  std::array<u64, 3> first, second;

  void jump(u64 steps, unsigned log) {
    first = jumped(kStep1, first, steps, log);
    second = jumped(kStep2, second, steps, log);
  }
  /// From 1 to the first modulus.
  u64 next() {
    first = kStep1 * first;
    second = kStep2 * second;
    const u64 difference = (first[2] + kModulus1 - second[2] % kModulus1) % kModulus1;
    return difference == 0 ? kModulus1 : difference;
  }
};

/// Square matrices of 160 bits, by columns, which are added by exclusive or.
struct BitMatrix {
  using Vector = std::array<u32, 5>;
  std::vector<Vector> columns = std::vector<Vector>(160);

  Vector operator*(const Vector& vector) const {
    Vector sum{};
    for (unsigned bit = 0; bit < 160; ++bit)
      if ((vector[bit / 32] >> bit % 32 & 1) != 0)
        for (unsigned i = 0; i < 5; ++i) sum[i] ^= columns[bit][i];
    return sum;
  }
  BitMatrix operator*(const BitMatrix& other) const {
    BitMatrix product;
    for (unsigned bit = 0; bit < 160; ++bit) product.columns[bit] = *this * other.columns[bit];
    return product;
  }
};

/// xorwow: Marsaglia, "Xorshift RNGs" (2003).
struct Xorwow {
  std::array<u32, 5> x{123456789, 362436069, 521288629, 88675123, 5783321};
  u32 d = 6615241;

  static std::array<u32, 5> shifted(const std::array<u32, 5>& x) {
    const u32 t = x[0] ^ x[0] >> 2;
    return {x[1], x[2], x[3], x[4], (x[4] ^ x[4] << 4) ^ (t ^ t << 1)};
  }
  void jump(u64 steps, unsigned log) {
    BitMatrix step;
    for (unsigned bit = 0; bit < 160; ++bit) {
      std::array<u32, 5> unit{};
      unit[bit / 32] = 1u << bit % 32;
      step.columns[bit] = shifted(unit);
    }
    x = jumped(std::move(step), x, steps, log);
    if (log < 32) d += static_cast<u32>(steps << log) * 362437;
  }
  u32 next() {
    x = shifted(x);
    d += 362437;
    return d + x[4];
  }
};

/// MTGP32 with the exponent 11213: Saito, Matsumoto, "Variants of Mersenne twister suitable for graphic processors"
/// (2013). A set of parameters, of which there are many.
struct MtgpParameters {
  u32 position, shift1, shift2, mask;
  std::array<u32, 16> recursion, tempering;
};
/// `count` numbers; `words` holds the 351 words of the state, to which those that follow are appended.
inline std::vector<u32> mtgp32(const MtgpParameters& parameters, std::vector<u32>& words, std::size_t count) {
  constexpr std::size_t kWords = 351;
  std::vector<u32> numbers;
  for (std::size_t i = words.size() - kWords; numbers.size() < count; ++i) {
    const u32 kept = (words[i] & parameters.mask) ^ words[i + 1];
    const u32 mixed = kept ^ kept << parameters.shift1;
    const u32 folded = mixed ^ words[i + parameters.position] >> parameters.shift2;
    words.push_back(folded ^ parameters.recursion[folded & 15]);
    u32 selector = words[i + parameters.position - 1];
    selector ^= selector >> 16;
    selector ^= selector >> 8;
    numbers.push_back(words.back() ^ parameters.tempering[selector & 15]);
  }
  return numbers;
}

}  // namespace wavegate::amdgpu::corpora
