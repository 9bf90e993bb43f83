#include "wavegate/amdgpu/wave/matrix.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "wavegate/amdgpu/wave/step.h"

/// Matrix instructions as steps: elements are read from the lanes, multiplied, and written back. They run in all lanes,
/// whatever exec says, and round to nearest, whatever MODE says.
namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// A step's instruction with what it does to its sources.
struct Matrix {
  const Wave& wave;
  const Step& step;
  const MatrixShape& shape;
  MatrixLayout layout;

  bool is_gfx9() const { return layout.generation == isa::Generation::gfx9; }
  /// MI200 makes denormals of 16-bit sources, and results of theirs, zeros; those before and after do not.
  bool flushes() const { return wave.machine->target == isa::Target::gfx90a && bits_of(shape.a) == 16; }
  /// gfx11 keeps 16-bit results in one half of registers.
  unsigned half() const {
    const bool selects = layout.generation == isa::Generation::gfx11 && bits_of(shape.result) == 16;
    return selects && (step.instruction.op_sel & 4) != 0 ? 16 : 0;
  }

  /// Source `index`, 0 for A and 1 for B, whose run begins at a bit of a register.
  Reading reading(unsigned index, unsigned first_bit) const {
    const isa::Instruction& instruction = step.instruction;
    Reading reading;
    reading.element = index == 0 ? shape.a : shape.b;
    reading.fnuz = is_gfx9();
    reading.flushes = flushes();
    const bool low = (instruction.neg_lo >> index & 1) != 0, high = (instruction.neg_hi >> index & 1) != 0;
    if (reading.element == Element::iu8 || reading.element == Element::iu4)
      reading.is_signed = low;
    else if (reading.element == Element::f64)
      reading.negate = negates_doubles() && (instruction.blgp >> index & 1) != 0;
    else if (bits_of(reading.element) == 16)
      reading.negate = first_bit == 0 ? low : high;
    return reading;
  }
  Reading reading_of_addend() const {
    const isa::Instruction& instruction = step.instruction;
    Reading reading;
    reading.element = shape.result;
    reading.flushes = flushes();
    reading.negate =
        shape.result == Element::f64 ? negates_doubles() && (instruction.blgp & 4) != 0 : (instruction.neg_lo & 4) != 0;
    reading.absolute = shape.result != Element::f64 && (instruction.neg_hi & 4) != 0;
    return reading;
  }
  /// gfx942 reads blgp as signs there.
  bool negates_doubles() const { return wave.machine->target == isa::Target::gfx942; }
};

const MatrixShape& shape_of(isa::Opcode opcode) {
  static const auto kShapes = [] {
    std::array<const MatrixShape*, isa::kOpcodeCount> shapes{};
    for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i] = find_matrix(static_cast<isa::Opcode>(i));
    return shapes;
  }();
  return *kShapes[static_cast<std::size_t>(opcode)];
}

// ---------------------------------------------------------------- reading

template <typename T>
void read_at(T* to, const Row* rows, const Run& run, unsigned shift, unsigned length, const Reading& reading) {
  const u32* const from = rows[run.word].lane + run.lane;
  if constexpr (std::is_same_v<T, double>)
    read_run(to, from, rows[run.word + 1].lane + run.lane, length, reading);
  else
    read_run(to, from, run.first_bit + shift, length, reading);
}

/// The block of A that a block is multiplied with: `cbsz` says how many share one, `abid` which of them it is.
unsigned block_of_a(const isa::Instruction& instruction, const MatrixShape& shape, unsigned block) {
  if (shape.sparse) return block;
  const unsigned shared = 1u << instruction.cbsz;
  return (block & ~(shared - 1)) | (instruction.abid & (shared - 1));
}

template <typename T>
void read_a(const Matrix& matrix, const Row* rows, T* to) {
  const MatrixShape& shape = matrix.shape;
  const unsigned depth = shape.stored_depth(), width = bits_of(shape.a);
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned k = 0; k < depth; ++k, to += shape.rows) {
      const unsigned from = block_of_a(matrix.step.instruction, shape, block);
      const Run run = matrix.layout.input(shape, shape.rows, depth, width, k, from);
      read_at(to, rows, run, 0, shape.rows, matrix.reading(0, run.first_bit));
    }
}

/// The lane that a lane of B is read from instead, by the pattern that `blgp` numbers.
unsigned lane_of_b(unsigned pattern, unsigned lane) {
  switch (pattern) {
    case 1: return lane & 31;
    case 2: return lane | 32;
    case 3: return (lane + 16) & 63;
    case 4:
    case 5:
    case 6:
    case 7: return (lane & 15) + (pattern - 4) * 16;
    default: return lane;
  }
}

template <typename T>
void read_b(const Matrix& matrix, const Row* rows, T* to) {
  const MatrixShape& shape = matrix.shape;
  const unsigned width = bits_of(shape.b);
  const unsigned pattern = shape.sparse || shape.b == Element::f64 ? 0 : matrix.step.instruction.blgp;
  Row moved[4];
  if (pattern != 0) {
    const unsigned words = std::min<unsigned>(matrix.step.sources[1].words, 4);
    for (unsigned word = 0; word < words; ++word)
      for (unsigned lane = 0; lane < kRowLanes; ++lane)
        moved[word].lane[lane] = rows[word].lane[lane_of_b(pattern, lane)];
    rows = moved;
  }
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned k = 0; k < shape.depth; ++k, to += shape.columns) {
      const Run run = matrix.layout.input(shape, shape.columns, shape.depth, width, k, block);
      read_at(to, rows, run, 0, shape.columns, matrix.reading(1, run.first_bit));
    }
}

/// The constant that stands for all of C, as bits.
u64 constant_addend(const Matrix& matrix) {
  isa::Operand operand = matrix.step.instruction.sources()[2];
  switch (matrix.shape.result) {
    case Element::f64: operand.words = 2; break;
    case Element::f16: operand.type = isa::ValueType::f16, operand.words = 1; break;
    case Element::bf16: operand.type = isa::ValueType::bf16, operand.words = 1; break;
    default: operand.words = 1;
  }
  return isa::constant_bits(operand);
}

template <typename T>
void read_c(const Matrix& matrix, const Source& source, T* to) {
  const MatrixShape& shape = matrix.shape;
  const Reading reading = matrix.reading_of_addend();
  if (source.mode != SourceMode::row) {
    const u64 value = constant_addend(matrix);
    Row rows[2];
    fill(rows[0].lane, static_cast<u32>(value), kRowLanes);
    fill(rows[1].lane, static_cast<u32>(value >> 32), kRowLanes);
    for (unsigned i = 0; i < shape.rows * shape.blocks; ++i)
      read_at(to + i * shape.columns, rows, {}, 0, shape.columns, reading);
    return;
  }
  const Row* const rows = &matrix.wave.vectors[source.index];
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned i = 0; i < shape.rows; ++i, to += shape.columns)
      read_at(to, rows, matrix.layout.output(shape, i, block), matrix.half(), shape.columns, reading);
}

/// Elements of a sparse A that a lane holds.
unsigned elements_of_lane(const Step& step, const MatrixShape& shape) {
  const bool is_gfx9 = isa::info(step.instruction.target).generation == isa::Generation::gfx9;
  return is_gfx9 ? shape.stored_depth() / (64u / shape.rows) : step.sources[0].words * 32u / bits_of(shape.a);
}

/// Of a sparse A: the index register has two bits for each element that a lane holds, in as many sets as fit it.
void read_places(const Matrix& matrix, const Row& indices, std::uint8_t* places) {
  const MatrixShape& shape = matrix.shape;
  const isa::Instruction& instruction = matrix.step.instruction;
  const unsigned depth = shape.stored_depth(), width = bits_of(shape.a);
  const unsigned in_lane = elements_of_lane(matrix.step, shape);
  const unsigned set = !matrix.is_gfx9() ? instruction.op_sel : instruction.cbsz == 0 ? instruction.abid : 0;
  for (unsigned k = 0; k < depth; ++k) {
    const Run run = matrix.layout.input(shape, shape.rows, depth, width, k, 0);
    const unsigned element = (run.word * 32u + run.first_bit) / width;
    const unsigned bit = (set * in_lane + element) * 2 & 31;
    for (unsigned i = 0; i < shape.rows; ++i)
      places[k * shape.rows + i] = static_cast<std::uint8_t>(k / 2 * 4 + (indices.lane[run.lane + i] >> bit & 3));
  }
}

// ---------------------------------------------------------------- writing

template <typename T>
void write_d(const Matrix& matrix, Row* rows, const T* from) {
  const MatrixShape& shape = matrix.shape;
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned i = 0; i < shape.rows; ++i, from += shape.columns) {
      const Run run = matrix.layout.output(shape, i, block);
      u32* const to = rows[run.word].lane + run.lane;
      if constexpr (std::is_same_v<T, float>) {
        write_run(to, run.first_bit + matrix.half(), from, shape.columns, shape.result, matrix.flushes());
      } else {
        for (unsigned j = 0; j < shape.columns; ++j) {
          if constexpr (std::is_same_v<T, double>) {
            to[j] = static_cast<u32>(bits(from[j]));
            rows[run.word + 1].lane[run.lane + j] = static_cast<u32>(bits(from[j]) >> 32);
          } else if constexpr (std::is_same_v<T, i64>) {
            constexpr i64 kLow = std::numeric_limits<std::int32_t>::min(),
                          kHigh = std::numeric_limits<std::int32_t>::max();
            to[j] = static_cast<u32>(std::clamp(from[j], kLow, kHigh));
          } else {
            to[j] = from[j];
          }
        }
      }
    }
}

template <typename T>
const Step* run_as(Wave& wave, const Step& step) {
  wave.lane_instructions += wave.lanes;
  const MatrixShape& shape = shape_of(step.instruction.opcode);
  const Matrix matrix{wave, step, shape, {wave.machine->generation, wave.lanes}};
  MatrixNumbers<T> numbers;
  read_a(matrix, wave.row(step.sources[0].index), numbers.a);
  read_b(matrix, wave.row(step.sources[1].index), numbers.b);
  read_c(matrix, step.sources[shape.sparse ? 3 : 2], numbers.c);
  if (shape.sparse) read_places(matrix, *wave.row(step.sources[2].index), numbers.places);
  multiply(shape, numbers);
  write_d(matrix, wave.row(step.destination.index), numbers.c);
  return step.next;
}

/// Sums wrap, or end at the bounds with `clamp`.
const Step* run_integers(Wave& wave, const Step& step) {
  return step.instruction.clamp != 0 ? run_as<i64>(wave, step) : run_as<u32>(wave, step);
}

/// Whether a matrix instruction of gfx9 says with cbsz, abid and blgp only what AMD tells the meaning of.
bool has_told_broadcasts(const Step& step, const MatrixShape& shape) {
  const isa::Instruction& instruction = step.instruction;
  const unsigned cbsz = instruction.cbsz, abid = instruction.abid;
  if (shape.sparse) {
    // Other than 0, cbsz says that the first set of indices is taken, whatever abid is.
    const unsigned sets = 16 / elements_of_lane(step, shape);
    return instruction.blgp == 0 && cbsz < 4 && (cbsz != 0 || abid < sets);
  }
  if (shape.a == Element::f64)
    return cbsz == 0 && abid == 0 && (instruction.blgp == 0 || instruction.target == isa::Target::gfx942);
  return (1u << cbsz) <= shape.blocks && abid < (1u << cbsz);
}

/// Whether a matrix instruction of gfx11 and later has no bits of VOP3P but those that it knows.
bool has_told_signs(const Step& step, const MatrixShape& shape) {
  const isa::Instruction& instruction = step.instruction;
  const unsigned low = instruction.neg_lo, high = instruction.neg_hi, select = instruction.op_sel;
  const bool integers = shape.result == Element::i32, halves = bits_of(shape.a) == 16;
  const bool picks_half = !shape.sparse && isa::info(instruction.target).generation == isa::Generation::gfx11 &&
                          bits_of(shape.result) == 16;
  const unsigned allowed_low = integers ? 3 : halves ? 7 : 4, allowed_high = integers ? 0 : halves ? 7 : 4;
  if (shape.sparse) {
    // The third source holds indices; op_sel numbers the set of them.
    const unsigned sets = 16 / elements_of_lane(step, shape);
    return (low & ~(allowed_low & 3)) == 0 && (high & ~(allowed_high & 3)) == 0 && select < std::max(sets, 1u);
  }
  return (low & ~allowed_low) == 0 && (high & ~allowed_high) == 0 && (select & ~(picks_half ? 4u : 0u)) == 0;
}

}  // namespace

Handler matrix_handler(const Step& step) {
  if (!isa::info(step.instruction.opcode).has(isa::OpcodeFlags::matrix)) return nullptr;
  const MatrixShape* const shape = find_matrix(step.instruction.opcode);
  if (shape == nullptr || step.destination.mode != SourceMode::row) return nullptr;
  for (unsigned i = 0; i < (shape->sparse ? 3u : 2u); ++i)
    if (step.sources[i].mode != SourceMode::row) return nullptr;
  const SourceMode addend = step.sources[shape->sparse ? 3 : 2].mode;
  if (addend != SourceMode::row && addend != SourceMode::constant) return nullptr;
  const bool is_gfx9 = isa::info(step.instruction.target).generation == isa::Generation::gfx9;
  if (!(is_gfx9 ? has_told_broadcasts(step, *shape) : has_told_signs(step, *shape))) return nullptr;
  switch (shape->result) {
    case Element::f64: return run_as<double>;
    case Element::i32: return run_integers;
    default: return run_as<float>;
  }
}

}  // namespace wavegate::amdgpu::wave
