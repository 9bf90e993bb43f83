#pragma once

#include <cstdint>

#include "wavegate/amdgpu/isa/instruction.h"
#include "wavegate/amdgpu/wave/operation.h"

/// Matrix instructions: D = A * B + C of small matrices that lie across the lanes of a wave, several of them (blocks)
/// in some instructions. A table says what shape each has, and a layout per generation where its elements lie; the rest
/// is the same for all.
namespace wavegate::amdgpu::wave {

enum class Element : std::uint8_t {
  f64,
  f32,
  xf32,  ///< an f32 that is rounded to 10 digits
  f16,
  bf16,
  fp8,
  bf8,
  i32,
  i8,
  iu8,  ///< signed or unsigned, as the instruction says
  iu4,
};
/// Bits of an element in a register.
constexpr unsigned bits_of(Element element) {
  switch (element) {
    case Element::f64: return 64;
    case Element::f32:
    case Element::xf32:
    case Element::i32: return 32;
    case Element::f16:
    case Element::bf16: return 16;
    case Element::iu4: return 4;
    default: return 8;
  }
}

/// D, of `rows` x `columns` elements, is the product of A (rows x depth) and B (depth x columns) and C.
struct MatrixShape {
  isa::Opcode opcode{};
  std::uint8_t rows = 0, columns = 0, depth = 0, blocks = 0;
  Element result{}, a{}, b{};
  /// Of each four elements of a row of A two are stored; where they belong stands in bits of an index register.
  bool sparse = false;

  constexpr unsigned stored_depth() const { return sparse ? depth / 2u : depth; }
  /// The order of sums of floats is not told.
  constexpr Exactness exactness() const { return result == Element::i32 ? Exactness::exact : Exactness::approximate; }
};
/// nullptr for what is no matrix instruction.
const MatrixShape* find_matrix(isa::Opcode opcode);

/// Elements that lie side by side: the first in lane `lane`, the next in the next, all of them in the same bits of the
/// same register.
struct Run {
  std::uint8_t word = 0;
  std::uint8_t first_bit = 0;
  std::uint8_t lane = 0;
};

/// How a generation lays matrices out in waves of so many lanes.
struct MatrixLayout {
  isa::Generation generation{};
  unsigned lanes = 0;

  /// Column `k` of A or row `k` of B, whose runs are `length` elements of `width` bits: 'depth' of such a matrix is
  /// stored.
  Run input(const MatrixShape& shape, unsigned length, unsigned depth, unsigned width, unsigned k,
            unsigned block) const;
  /// Row `i` of C or D.
  Run output(const MatrixShape& shape, unsigned i, unsigned block) const;
};

/// Numbers of a matrix instruction, blocks one after the other: A by columns, B by rows, C by rows. Of sparse ones
/// `places[k * rows + i]` is the row of B that element k of A's row i meets.
template <typename T>
struct MatrixNumbers {
  static constexpr unsigned kInputs = 1024, kOutputs = 2048;
  alignas(64) T a[kInputs];
  alignas(64) T b[kInputs];
  alignas(64) T c[kOutputs];
  std::uint8_t places[kInputs];
};
/// How the bits of a run are read.
struct Reading {
  Element element{};
  bool fnuz = false;  ///< fp8 and bf8 as gfx942 has them
  bool is_signed = true;
  bool negate = false;
  bool absolute = false;
  bool flushes = false;  ///< denormals to zero
};
/// Numbers of elements side by side: those of lane i are `bits[i] >> first_bit`. Of f64, `high` has the upper words.
void read_run(float* to, const std::uint32_t* bits, unsigned first_bit, unsigned length, const Reading& reading);
void read_run(double* to, const std::uint32_t* low, const std::uint32_t* high, unsigned length, const Reading& reading);
void read_run(std::uint32_t* to, const std::uint32_t* bits, unsigned first_bit, unsigned length,
              const Reading& reading);
void read_run(std::int64_t* to, const std::uint32_t* bits, unsigned first_bit, unsigned length, const Reading& reading);
/// The other way, as f32, f16 or bf16, rounded to nearest. What else is in a register stays.
void write_run(std::uint32_t* bits, unsigned first_bit, const float* from, unsigned length, Element element,
               bool flushes);

/// c += a * b: each element's products are added to it in the order of k, and each sum is rounded once (fused), to
/// nearest. AMD does not tell the order in which hardware adds.
void multiply(const MatrixShape& shape, MatrixNumbers<float>& numbers);
void multiply(const MatrixShape& shape, MatrixNumbers<double>& numbers);
void multiply(const MatrixShape& shape, MatrixNumbers<std::uint32_t>& numbers);
void multiply(const MatrixShape& shape, MatrixNumbers<std::int64_t>& numbers);

}  // namespace wavegate::amdgpu::wave
