#include <cmath>

#include "wavegate/amdgpu/wave/matrix.h"
#include "wavegate/amdgpu/wave/small_float.h"

namespace wavegate::amdgpu::wave {

namespace {

float sum(float a, float b, float c) {
  return std::fma(a, b, c);
}
double sum(double a, double b, double c) {
  return std::fma(a, b, c);
}
std::uint32_t sum(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return a * b + c;
}
std::int64_t sum(std::int64_t a, std::int64_t b, std::int64_t c) {
  return a * b + c;
}

/// A row of C: so many columns at once are what the compiler makes vector code of.
template <unsigned columns, typename T>
void add_row(T* c, T a, const T* b) {
  for (unsigned j = 0; j < columns; ++j) c[j] = sum(a, b[j], c[j]);
}

template <unsigned columns, typename T>
void multiply_blocks(const MatrixShape& shape, MatrixNumbers<T>& numbers) {
  const unsigned depth = shape.stored_depth(), rows = shape.rows;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    const T* const a = numbers.a + block * depth * rows;
    const T* const b = numbers.b + block * shape.depth * columns;
    T* const c = numbers.c + block * rows * columns;
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned k = 0; k < depth; ++k) {
        const unsigned place = shape.sparse ? numbers.places[k * rows + i] : k;
        add_row<columns>(c + i * columns, a[k * rows + i], b + place * columns);
      }
  }
}

template <typename T>
void multiply_any(const MatrixShape& shape, MatrixNumbers<T>& numbers) {
  switch (shape.columns) {
    case 4: return multiply_blocks<4>(shape, numbers);
    case 16: return multiply_blocks<16>(shape, numbers);
    default: return multiply_blocks<32>(shape, numbers);
  }
}

using u32 = std::uint32_t;

template <typename T, typename Decode>
void read_each(T* to, const u32* from, unsigned first_bit, unsigned length, const Decode& decode) {
  for (unsigned i = 0; i < length; ++i) to[i] = decode(from[i] >> first_bit);
}

template <typename T>
T whole_number(u32 word, unsigned width, bool is_signed) {
  const u32 top = word << (32 - width);
  return is_signed ? static_cast<T>(static_cast<std::int32_t>(top) >> (32 - width))
                   : static_cast<T>(top >> (32 - width));
}
template <typename T>
void read_whole_numbers(T* to, const u32* from, unsigned first_bit, unsigned length, const Reading& reading) {
  const unsigned width = bits_of(reading.element);
  read_each(to, from, first_bit, length, [&](u32 word) { return whole_number<T>(word, width, reading.is_signed); });
}

/// The smallest normal number.
float smallest_of(Element element) {
  return element == Element::f16 ? 0x1p-14f : 0x1p-126f;
}
void flush(float* numbers, unsigned length, float smallest) {
  for (unsigned i = 0; i < length; ++i)
    if (absolute(numbers[i]) < smallest) numbers[i] = real(bits(numbers[i]) & kSign<float>);
}

}  // namespace

void multiply(const MatrixShape& shape, MatrixNumbers<float>& numbers) {
  multiply_any(shape, numbers);
}
void multiply(const MatrixShape& shape, MatrixNumbers<double>& numbers) {
  multiply_any(shape, numbers);
}
void multiply(const MatrixShape& shape, MatrixNumbers<std::uint32_t>& numbers) {
  multiply_any(shape, numbers);
}
void multiply(const MatrixShape& shape, MatrixNumbers<std::int64_t>& numbers) {
  multiply_any(shape, numbers);
}

void read_run(float* to, const u32* from, unsigned first_bit, unsigned length, const Reading& reading) {
  const auto each = [&](const auto& decode) { read_each(to, from, first_bit, length, decode); };
  switch (reading.element) {
    case Element::f16: each([](u32 word) { return of_half(word & 0xffffu); }); break;
    case Element::bf16: each([](u32 word) { return of_bfloat(word & 0xffffu); }); break;
    case Element::xf32: each([](u32 word) { return xf32(real(word)); }); break;
    case Element::fp8:
      if (reading.fnuz)
        each([](u32 word) { return of_small(word & 0xffu, kFp8Fnuz); });
      else
        each([](u32 word) { return of_small(word & 0xffu, kFp8); });
      break;
    case Element::bf8:
      if (reading.fnuz)
        each([](u32 word) { return of_small(word & 0xffu, kBf8Fnuz); });
      else
        each([](u32 word) { return of_small(word & 0xffu, kBf8); });
      break;
    default: each([](u32 word) { return real(word); });
  }
  if (reading.flushes) flush(to, length, smallest_of(reading.element));
  for (unsigned i = 0; i < length && (reading.absolute || reading.negate); ++i)
    to[i] = real((bits(to[i]) & (reading.absolute ? ~kSign<float> : ~0u)) ^ (reading.negate ? kSign<float> : 0u));
}

void read_run(double* to, const u32* low, const u32* high, unsigned length, const Reading& reading) {
  for (unsigned i = 0; i < length; ++i)
    to[i] = real((static_cast<std::uint64_t>(high[i]) << 32 | low[i]) ^ (reading.negate ? kSign<double> : 0u));
}
void read_run(u32* to, const u32* from, unsigned first_bit, unsigned length, const Reading& reading) {
  read_whole_numbers(to, from, first_bit, length, reading);
}
void read_run(std::int64_t* to, const u32* from, unsigned first_bit, unsigned length, const Reading& reading) {
  read_whole_numbers(to, from, first_bit, length, reading);
}

void write_run(u32* to, unsigned first_bit, const float* from, unsigned length, Element element, bool flushes) {
  for (unsigned i = 0; i < length; ++i) {
    float number = from[i];
    if (flushes && absolute(number) < smallest_of(element)) number = real(bits(number) & kSign<float>);
    if (element == Element::f32) {
      to[i] = bits(number);
      continue;
    }
    const u32 half = element == Element::f16 ? half_bits(number, Rounding::nearest_even) : bfloat_bits(number);
    to[i] = (to[i] & ~(0xffffu << first_bit)) | half << first_bit;
  }
}

}  // namespace wavegate::amdgpu::wave
