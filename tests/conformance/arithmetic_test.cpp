#include <bit>
#include <cmath>
#include <cstring>

#include "conformance/suite.h"
#include "wavegate/base/format.h"
#include "wavegate/kir/float16.h"
#include "wavegate/kir/type_rules.h"

/// Every pure operation but the approximate ones, on edge-case values of every type: the device computes the same
/// bytes as the reference device, with operands that it does not know and with constants.
namespace wavegate::conformance {
namespace {

using kir::Op;
using kir::Type;

constexpr Type kTypes[] = {Type::boolean, Type::i8, Type::i16, Type::i32, Type::i64, Type::f16, Type::f32, Type::f64};
constexpr uint32_t kGroup = 64;

/// Booleans lie in memory as words.
Type stored(Type type) {
  return type == Type::boolean ? Type::i32 : type;
}

uint64_t mask(uint32_t width) {
  return ~uint64_t{0} >> (64 - width);
}

std::vector<uint64_t> edge_integers(uint32_t width) {
  const uint64_t smallest = uint64_t{1} << (width - 1);
  std::vector<uint64_t> values;
  for (uint64_t value : {uint64_t{0},         uint64_t{1},
                         uint64_t{2},         uint64_t{3},
                         uint64_t{7},         uint64_t{31},
                         uint64_t{32},        uint64_t{63},
                         uint64_t{64},        smallest,
                         smallest + 1,        smallest - 1,
                         smallest - 2,        smallest | smallest >> 1,
                         ~uint64_t{0},        ~uint64_t{1},
                         ~uint64_t{6},        uint64_t{1} << (width / 2),
                         mask(width / 2),     0x5555555555555555u,
                         0xaaaaaaaaaaaaaaaau, 0x123456789abcdef0u,
                         0x8badf00dc0ffee01u})
    values.push_back(value & mask(width));
  return values;
}

uint64_t float_bits(Type type, double value) {
  if (type == Type::f16) return kir::double_to_float16(value);
  if (type == Type::f32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

/// Bits of infinity, which also tell numbers from NaNs and normal numbers from denormal ones.
uint64_t infinity_bits(Type type) {
  return float_bits(type, std::numeric_limits<double>::infinity());
}
uint64_t magnitude(Type type, uint64_t bits) {
  return bits & mask(kir::bit_width(type) - 1);
}
bool is_nan(Type type, uint64_t bits) {
  return magnitude(type, bits) > infinity_bits(type);
}
bool is_denormal(Type type, uint64_t bits) {
  const uint64_t smallest_normal = infinity_bits(type) & ~(infinity_bits(type) << 1);
  return magnitude(type, bits) != 0 && magnitude(type, bits) < smallest_normal;
}

/// Numbers around every bound of a conversion, halves, zeros, infinities, NaN, and the ends of the type itself.
std::vector<uint64_t> edge_floats(Type type) {
  std::vector<uint64_t> values;
  for (double value : {0.0,
                       0.1,
                       0.5,
                       0.75,
                       1.0,
                       1.5,
                       2.5,
                       3.0,
                       1e-3,
                       127.5,
                       128.5,
                       255.5,
                       32768.0,
                       65504.0,
                       65519.0,
                       65535.5,
                       2147483520.0,
                       2147483648.0,
                       4294967040.0,
                       4294967296.0,
                       9223372036854775808.0,
                       18446744073709551616.0,
                       1e30,
                       std::numeric_limits<double>::infinity()})
    for (double sign : {1.0, -1.0}) values.push_back(float_bits(type, sign * value));
  const uint64_t infinity = infinity_bits(type);
  const uint64_t smallest_normal = infinity & ~(infinity << 1);
  for (uint64_t bits : {uint64_t{1}, smallest_normal - 1, smallest_normal, smallest_normal + 1, infinity - 1}) {
    values.push_back(bits);
    values.push_back(bits | uint64_t{1} << (kir::bit_width(type) - 1));
  }
  values.push_back(infinity | infinity >> 1);
  return values;
}

std::vector<uint64_t> edge_values(Type type) {
  if (type == Type::boolean) return {0, 1};
  return kir::is_float(type) ? edge_floats(type) : edge_integers(kir::bit_width(type));
}

/// One operation with the types of its operands.
struct Case {
  Op op;
  Type type;
  std::vector<Type> operands;
};

std::vector<Case> cases_of(Op op) {
  const kir::OpInfo& row = kir::info(op);
  std::vector<Case> cases;
  for (Type type : kTypes) {
    for (Type from : kTypes) {
      Case one{op, type, {}};
      bool depends_on_from = false;
      for (int i = 0; i < row.operand_count; ++i) {
        const kir::Shape shape = row.operands[i];
        depends_on_from |= shape != kir::Shape::same && shape != kir::Shape::boolean;
        one.operands.push_back(shape == kir::Shape::boolean ? Type::boolean : shape == kir::Shape::same ? type : from);
      }
      if (!depends_on_from && from != type) continue;
      if (!kir::type_mismatch(op, type, one.operands)) cases.push_back(std::move(one));
    }
  }
  return cases;
}

bool offers(const target::Features& features, Type type) {
  switch (type) {
    case Type::i8: return features.int8;
    case Type::i16: return features.int16;
    case Type::i64: return features.int64;
    case Type::f16: return features.float16;
    case Type::f64: return features.float64;
    default: return true;
  }
}

/// Whether the device promises the reference's bytes for the case; the profile says where it does not.
bool is_promised(const target::Profile& profile, const Case& one) {
  if (!offers(profile.features, one.type)) return false;
  for (Type type : one.operands)
    if (!offers(profile.features, type)) return false;
  // What the device does not round exactly goes through f64, where there is f64.
  if (one.op == Op::div_f && one.type == Type::f32)
    return profile.floats.exact_division_f32 || profile.features.float64;
  if (one.op == Op::sqrt && one.type == Type::f32)
    return profile.floats.exact_square_root_f32 || profile.features.float64;
  return true;
}

/// A kernel to run over columns of operands, and what it writes.
struct Launch {
  std::shared_ptr<const kir::Kernel> kernel;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> inputs;
  Type output = Type::i32;
  uint32_t rows = 0;     ///< a multiple of kGroup
  uint32_t results = 0;  ///< elements written
};

std::shared_ptr<const std::vector<std::byte>> to_bytes(Type type, const std::vector<uint64_t>& values) {
  const uint32_t size = kir::byte_size(stored(type));
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(bytes->data() + i * size, &values[i], size);
  return bytes;
}

/// All combinations of values, one column an operand, padded to whole workgroups by repeating.
std::vector<std::vector<uint64_t>> columns_of(const std::vector<std::vector<uint64_t>>& values) {
  size_t combinations = 1;
  for (const auto& column : values) combinations *= column.size();
  const size_t rows = (combinations + kGroup - 1) / kGroup * kGroup;
  std::vector<std::vector<uint64_t>> columns(values.size());
  for (size_t row = 0; row < rows; ++row) {
    size_t rest = row % combinations;
    for (size_t i = 0; i < values.size(); ++i) {
      columns[i].push_back(values[i][rest % values[i].size()]);
      rest /= values[i].size();
    }
  }
  return columns;
}

class LaunchBuilder {
 public:
  explicit LaunchBuilder(const Case& one) : case_(one), builder_("arithmetic", {kGroup}), index_(builder_.global_id()) {
    for (size_t i = 0; i < one.operands.size(); ++i) {
      const Type type = one.operands[i];
      const auto memory = builder_.buffer(format("input{}", i), stored(type), kir::Access::read);
      const kir::Expr value = memory[index_];
      operands_.push_back(type == Type::boolean ? value != 0 : value);
    }
    output_.emplace(builder_.buffer("output", stored(one.type), kir::Access::write));
  }

  kir::Builder& builder() { return builder_; }
  const std::vector<kir::Expr>& operands() const { return operands_; }

  /// Stores the operation of the operands at a place of its own for each row.
  void apply(const std::vector<kir::Expr>& operands, uint32_t first) {
    kir::Instruction instruction{.op = case_.op, .type = case_.type};
    for (const kir::Expr& operand : operands) instruction.operands.push_back(operand.value());
    kir::Expr result = builder_.append_value(instruction, case_.type);
    if (case_.type == Type::boolean) result = builder_.select(result, builder_.u32(1), builder_.u32(0));
    (*output_)[index_ + builder_.u32(first)] = result;
  }

  Launch finish(const std::vector<std::vector<uint64_t>>& columns, uint32_t results_a_row) {
    Launch launch;
    launch.kernel = std::make_shared<const kir::Kernel>(value_of(builder_.finish()));
    for (size_t i = 0; i < columns.size(); ++i) launch.inputs.push_back(to_bytes(case_.operands[i], columns[i]));
    launch.output = case_.type;
    launch.rows = static_cast<uint32_t>(columns[0].size());
    launch.results = launch.rows * results_a_row;
    return launch;
  }

 private:
  const Case& case_;
  kir::Builder builder_;
  kir::Expr index_;
  std::vector<kir::Expr> operands_;
  std::optional<kir::MemoryRef> output_;
};

/// Values for each operand; of three operands every third value, or there are too many combinations.
std::vector<std::vector<uint64_t>> values_of(const std::vector<Type>& operands) {
  std::vector<std::vector<uint64_t>> values;
  for (Type type : operands) {
    const std::vector<uint64_t> all = edge_values(type);
    const size_t step = operands.size() == 3 && all.size() > 2 ? 3 : 1;
    std::vector<uint64_t>& chosen = values.emplace_back();
    for (size_t i = values.size() - 1; i < all.size() + values.size() - 1; i += step)
      chosen.push_back(all[i % all.size()]);
  }
  return values;
}

/// All operands from memory.
Launch unknown_operands(const Case& one) {
  LaunchBuilder builder(one);
  builder.apply(builder.operands(), 0);
  return builder.finish(columns_of(values_of(one.operands)), 1);
}

/// What emitters and compilers of drivers treat specially.
std::vector<uint64_t> constants_of(Type type) {
  if (type == Type::boolean) return {0, 1};
  const uint32_t width = kir::bit_width(type);
  const uint64_t sign = uint64_t{1} << (width - 1);
  if (!kir::is_float(type)) return {0, 1, 2, 10, width - 1, width, sign, sign - 1, mask(width)};
  const uint64_t infinity = infinity_bits(type);
  return {0,
          sign,
          float_bits(type, 1),
          float_bits(type, -1),
          float_bits(type, 2),
          infinity,
          infinity | sign,
          infinity | infinity >> 1};
}

/// One operand a constant, each of several values in turn.
Launch constant_operand(const Case& one, size_t position) {
  Case variable = one;
  variable.operands.erase(variable.operands.begin() + static_cast<ptrdiff_t>(position));
  const auto columns = columns_of(values_of(variable.operands));
  const auto rows = static_cast<uint32_t>(columns[0].size());
  LaunchBuilder builder(variable);
  uint32_t count = 0;
  for (uint64_t bits : constants_of(one.operands[position])) {
    std::vector<kir::Expr> operands = builder.operands();
    operands.insert(operands.begin() + static_cast<ptrdiff_t>(position),
                    builder.builder().constant(one.operands[position], bits));
    builder.apply(operands, rows * count++);
  }
  return builder.finish(columns, count);
}

std::vector<uint64_t> run(device::Device& device, const Launch& launch) {
  auto graph = std::make_shared<graph::Graph>();
  graph->name = "arithmetic";
  graph->kernels.push_back(launch.kernel);
  graph::Dispatch dispatch;
  dispatch.label = "arithmetic";
  dispatch.grid = {launch.rows / kGroup, 1, 1};
  const auto add = [&](std::string name, uint64_t bytes, std::optional<graph::Contents> initial, kir::Access access) {
    const graph::BufferId id{static_cast<uint32_t>(graph->buffers.size())};
    graph->buffers.push_back({.name = std::move(name), .bytes = bytes, .output = !initial, .initial = initial});
    dispatch.bindings.push_back({id, 0, bytes});
    dispatch.uses.push_back({{id, 0, bytes}, access});
    return id;
  };
  for (const auto& input : launch.inputs)
    add("input", input->size(), graph::Contents{.bytes = input}, kir::Access::read);
  const uint32_t size = kir::byte_size(stored(launch.output));
  std::vector<std::byte> bytes(uint64_t{launch.results} * size);
  const graph::BufferId output = add("output", bytes.size(), std::nullopt, kir::Access::write);
  graph->commands.push_back(std::move(dispatch));

  const auto executable = value_of(device.load(std::move(graph)));
  succeed(executable->run());
  succeed(executable->read(output, 0, bytes));
  std::vector<uint64_t> values(launch.results);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], bytes.data() + i * size, size);
  return values;
}

/// Whether the device may take this value for a zero.
bool is_flushed(const target::Profile& profile, Type type, uint64_t bits) {
  const bool flushes = (type == Type::f32 && !profile.floats.keeps_denormals_f32) ||
                       (type == Type::f64 && !profile.floats.keeps_denormals_f64);
  return flushes && is_denormal(type, bits);
}

/// NaNs compare as a class; where the device flushes denormals, they are not compared.
bool agree(const target::Profile& profile, Type type, uint64_t expected, uint64_t actual) {
  if (expected == actual) return true;
  if (!kir::is_float(type)) return false;
  return (is_nan(type, expected) && is_nan(type, actual)) || is_flushed(profile, type, expected);
}

/// A WGSL compiler may assume that there are no infinities and NaNs, and that the sign of a zero is nothing. Only fma
/// of f16 shows it, which goes through f32: lavapipe makes 0 of a product with a constant 0.
bool is_left_open(const target::Profile& profile, const Case& one, uint64_t expected, uint64_t actual) {
  if (profile.backend != "webgpu" || one.op != Op::fma || one.type != Type::f16) return false;
  return is_nan(one.type, expected) || (magnitude(one.type, expected) == 0 && magnitude(one.type, actual) == 0);
}

class Arithmetic : public ConformanceTest {
 protected:
  void expect_equal(const Case& one, const Launch& launch, std::string_view what) {
    const std::vector<uint64_t> expected = run(*reference(), launch);
    const std::vector<uint64_t> actual = run(*device(), launch);
    int shown = 0;
    for (size_t i = 0; i < expected.size() && shown < 4; ++i) {
      if (agree(device()->profile(), one.type, expected[i], actual[i])) continue;
      if (is_left_open(device()->profile(), one, expected[i], actual[i])) continue;
      std::string operands;
      bool any_flushed = false;
      for (size_t operand = 0; operand < launch.inputs.size(); ++operand) {
        const auto& input = launch.inputs[operand];
        const size_t size = input->size() / launch.rows;
        uint64_t bits = 0;
        std::memcpy(&bits, input->data() + i % launch.rows * size, size);
        operands += format(" {:#x}", bits);
        any_flushed |= operand < one.operands.size() && is_flushed(device()->profile(), one.operands[operand], bits);
      }
      if (any_flushed) continue;
      ++shown;
      ADD_FAILURE() << format("{} of {} from {}, {} (the {}. value): the operands{} give {:#x}, not {:#x}",
                              kir::info(one.op).name, kir::to_string(one.type), kir::to_string(one.operands.back()),
                              what, i / launch.rows + 1, operands, actual[i], expected[i]);
    }
  }

  void expect_equal(Op op) {
    for (const Case& one : cases_of(op)) {
      if (!is_promised(device()->profile(), one)) continue;
      expect_equal(one, unknown_operands(one), "unknown operands");
      for (size_t position = 0; position < one.operands.size() && one.operands.size() > 1; ++position)
        expect_equal(one, constant_operand(one, position), format("operand {} a constant", position));
    }
  }
  void expect_equal(Op first, Op last) {
    for (auto op = static_cast<int>(first); op <= static_cast<int>(last); ++op) expect_equal(static_cast<Op>(op));
  }
};

TEST_P(Arithmetic, integer_operations_equal_the_references) {
  expect_equal(Op::add, Op::reverse_bits);
}
TEST_P(Arithmetic, float_operations_equal_the_references) {
  expect_equal(Op::add_f, Op::round_even);
}
TEST_P(Arithmetic, comparisons_equal_the_references) {
  expect_equal(Op::equal, Op::is_nan);
}
TEST_P(Arithmetic, conversions_equal_the_references) {
  expect_equal(Op::bitcast, Op::convert_f);
}
TEST_P(Arithmetic, selections_equal_the_references) {
  expect_equal(Op::select);
}

INSTANTIATE_TEST_SUITE_P(Device, Arithmetic, testing::Values("vulkan", "webgpu"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace wavegate::conformance
