#include "wavegate/device/probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "wavegate/kir/builder.h"

namespace wavegate::device {
namespace {

using kir::Expr;
using kir::Op;
using kir::Type;

constexpr uint32_t kWorkgroup = 64;

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T>
constexpr Type kTypeOf = sizeof(T) == 4 ? Type::f32 : Type::f64;

/// Operands of one question to the device; what an operation does not take is ignored.
template <typename T>
struct Operands {
  T a = 0;
  T b = 0;
  T c = 0;
};

using Operation = std::function<Expr(kir::Builder&, Expr, Expr, Expr)>;

/// A graph that applies one operation to each of the operands, from buffer 0, and leaves the results in buffer 1.
template <typename T>
Result<std::shared_ptr<const graph::Graph>> graph_of(const char* name, const std::vector<Operands<T>>& operands,
                                                     const Operation& operation) {
  kir::Builder builder(name, {kWorkgroup});
  const auto in = builder.buffer("operands", kTypeOf<T>, kir::Access::read);
  const auto out = builder.buffer("results", kTypeOf<T>, kir::Access::write);
  const Expr i = builder.global_id();
  builder.if_(i < out.length(), [&] {
    const Expr a = in[i * 3], b = in[i * 3 + 1], c = in[i * 3 + 2];
    out[i] = operation(builder, a, b, c);
  });
  WAVEGATE_TRY(kir::Kernel kernel, builder.finish());

  const auto count = static_cast<uint32_t>(operands.size());
  auto contents = std::make_shared<std::vector<std::byte>>(count * sizeof(Operands<T>));
  std::memcpy(contents->data(), operands.data(), contents->size());
  auto graph = std::make_shared<graph::Graph>();
  graph->name = name;
  graph->buffers.resize(2);
  graph->buffers[0] = {.name = "operands", .bytes = contents->size(), .initial = graph::Contents{contents, 0}};
  graph->buffers[1] = {.name = "results", .bytes = count * sizeof(T), .output = true};
  graph->kernels.emplace_back(std::make_shared<const kir::Kernel>(std::move(kernel)));
  graph::Dispatch dispatch;
  dispatch.label = name;
  dispatch.bindings = {{graph::BufferId{0}, 0, graph->buffers[0].bytes},
                       {graph::BufferId{1}, 0, graph->buffers[1].bytes}};
  dispatch.uses = {{dispatch.bindings[0], kir::Access::read}, {dispatch.bindings[1], kir::Access::write}};
  dispatch.grid = {(count + kWorkgroup - 1) / kWorkgroup, 1, 1};
  graph->commands.emplace_back(std::move(dispatch));
  return std::shared_ptr<const graph::Graph>(std::move(graph));
}

template <typename T>
bool same_bits(T a, T b) {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b) || (std::isnan(a) && std::isnan(b));
}

template <typename T>
using Expected = std::function<T(const Operands<T>&)>;

/// Does the operation give what the host computes from the operands, for all of them? `holds_if` is the answer if so.
template <typename T>
Result<FloatQuestion> question(bool target::FloatBehaviour::*about, const char* name, std::vector<Operands<T>> operands,
                               const Operation& operation, Expected<T> expected, bool holds_if = true) {
  FloatQuestion question;
  question.about = about;
  WAVEGATE_TRY(question.graph, graph_of<T>(name, operands, operation));
  question.results = graph::BufferId{1};
  question.result_bytes = operands.size() * sizeof(T);
  question.answer = [operands = std::move(operands), expected = std::move(expected),
                     holds_if](std::span<const std::byte> bytes) {
    std::vector<T> results(operands.size());
    std::memcpy(results.data(), bytes.data(), std::min(bytes.size(), results.size() * sizeof(T)));
    for (size_t i = 0; i < operands.size(); ++i)
      if (!same_bits(results[i], expected(operands[i]))) return !holds_if;
    return holds_if;
  };
  return question;
}

/// Random floats whose exponents are near enough to zero that no product or quotient of two leaves the normal range.
template <typename T>
class RandomFloats {
 public:
  T next() {
    constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
    constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
    const uint64_t sign = random() & 1, exponent = static_cast<uint64_t>(kBias - 20) + random() % 40;
    uint64_t mantissa = random() & ((uint64_t{1} << kMantissa) - 1);
    // Hard cases lie where mantissas have long runs of zeros or ones.
    if (random() % 4 == 0) mantissa >>= random() % kMantissa;
    if (random() % 4 == 0) mantissa ^= (uint64_t{1} << kMantissa) - 1;
    const auto bits = (sign << (sizeof(T) * 8 - 1)) | (exponent << kMantissa) | mantissa;
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
  }

 private:
  // The splitmix64 generator (Steele, Lea and Flood, 2014).
  uint64_t random() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_ = 1;
};

template <typename T>
std::vector<Operands<T>> random_operands(size_t count) {
  RandomFloats<T> random;
  std::vector<Operands<T>> operands(count);
  for (auto& each : operands) each = {random.next(), random.next(), random.next()};
  return operands;
}

/// Operands for which a*b+c shows whether the product was rounded: c cancels the rounded product, so that what is left
/// is its error if the operation is fused, and zero if not.
template <typename T>
std::vector<Operands<T>> cancelling_operands(size_t count) {
  std::vector<Operands<T>> operands = random_operands<T>(count);
  for (auto& each : operands) each.c = -(each.a * each.b);
  return operands;
}

template <typename T>
T fused(const Operands<T>& operands) {
  return std::fma(operands.a, operands.b, operands.c);
}

Expr multiply_add(kir::Builder&, Expr x, Expr y, Expr z) {
  return x * y + z;
}

template <typename T>
Result<FloatQuestion> has_fused_fma(bool target::FloatBehaviour::*about) {
  std::vector<Operands<T>> operands = cancelling_operands<T>(1024);
  const std::vector<Operands<T>> others = random_operands<T>(1024);
  operands.insert(operands.end(), others.begin(), others.end());
  return question<T>(
      about, "probe_fma", std::move(operands),
      [](kir::Builder& b, Expr x, Expr y, Expr z) {
        return b.apply(Op::fma, {x, y, z});
      },
      fused<T>);
}

template <typename T>
Result<FloatQuestion> keeps_denormals(bool target::FloatBehaviour::*about) {
  const T smallest = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  // a * b + c where the product or the sum, or an operand of it, is denormal; all of it exact.
  std::vector<Operands<T>> operands = {
      {smallest, 1, 0},           {-smallest, 3, 0},        {normal, T(0.5), 0},          {smallest, 1, smallest},
      {normal, 1, -2 * smallest}, {smallest, 4, -smallest}, {-normal, T(0.25), smallest}, {smallest * 5, 2, normal}};
  return question<T>(about, "probe_denormals", std::move(operands), multiply_add, fused<T>);
}

Result<FloatQuestion> contracts() {
  // Without contraction the sum is exactly zero.
  return question<float>(
      &target::FloatBehaviour::contracts_f32, "probe_contraction", cancelling_operands<float>(1024), multiply_add,
      [](const Operands<float>&) { return 0.0f; }, false);
}

Result<FloatQuestion> divides_exactly() {
  std::vector<Operands<float>> operands = random_operands<float>(8192);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float a : {0.0f, -0.0f, 1.0f, -3.0f, 1e38f, infinity})
    for (float b : {0.0f, -0.0f, 1.0f, 3.0f, 1e38f, 2e38f, 3e-38f, infinity}) {
      // Results below the normal range are the question of keeps_denormals().
      const float quotient = a / b;
      if (quotient == 0 || std::isnan(quotient) || std::abs(quotient) >= std::numeric_limits<float>::min())
        operands.push_back({a, b, 0});
    }
  return question<float>(
      &target::FloatBehaviour::exact_division_f32, "probe_division", std::move(operands),
      [](kir::Builder&, Expr x, Expr y, Expr) { return x / y; }, [](const Operands<float>& o) { return o.a / o.b; });
}

Result<FloatQuestion> roots_exactly() {
  std::vector<Operands<float>> operands = random_operands<float>(8192);
  for (auto& each : operands) each.a = std::abs(each.a);
  for (float a : {0.0f, -0.0f, 1.0f, 2.0f, -1.0f, 3e38f, 2e-38f, std::numeric_limits<float>::infinity()})
    operands.push_back({a, 0, 0});
  return question<float>(
      &target::FloatBehaviour::exact_square_root_f32, "probe_square_root", std::move(operands),
      [](kir::Builder& b, Expr x, Expr, Expr) { return b.apply(Op::sqrt, {x}); },
      [](const Operands<float>& o) { return std::sqrt(o.a); });
}

constexpr bool target::FloatBehaviour::*kFields[] = {
    &target::FloatBehaviour::fused_fma_f32,        &target::FloatBehaviour::fused_fma_f64,
    &target::FloatBehaviour::keeps_denormals_f32,  &target::FloatBehaviour::keeps_denormals_f64,
    &target::FloatBehaviour::contracts_f32,        &target::FloatBehaviour::exact_division_f32,
    &target::FloatBehaviour::exact_square_root_f32};

// Raised whenever the probe asks other questions, so that older answers are not believed.
constexpr std::byte kProbeVersion{2};

}  // namespace

target::FloatBehaviour native_floats() {
  target::FloatBehaviour floats;
  for (auto field : kFields) floats.*field = true;
  floats.contracts_f32 = false;
  return floats;
}

Result<std::vector<FloatQuestion>> float_questions(const target::Profile& profile) {
  using Floats = target::FloatBehaviour;
  std::vector<Result<FloatQuestion>> questions;
  questions.push_back(has_fused_fma<float>(&Floats::fused_fma_f32));
  questions.push_back(keeps_denormals<float>(&Floats::keeps_denormals_f32));
  questions.push_back(contracts());
  questions.push_back(divides_exactly());
  questions.push_back(roots_exactly());
  if (profile.features.float64) {
    questions.push_back(has_fused_fma<double>(&Floats::fused_fma_f64));
    questions.push_back(keeps_denormals<double>(&Floats::keeps_denormals_f64));
  }
  std::vector<FloatQuestion> all;
  for (Result<FloatQuestion>& each : questions) {
    WAVEGATE_TRY(FloatQuestion question, std::move(each));
    all.push_back(std::move(question));
  }
  return all;
}

Result<target::FloatBehaviour> probe_floats(Device& device) {
  target::FloatBehaviour floats;
  WAVEGATE_TRY(const std::vector<FloatQuestion> questions, float_questions(device.profile()));
  for (const FloatQuestion& question : questions) {
    WAVEGATE_TRY(const std::unique_ptr<Executable> executable, device.load(question.graph));
    WAVEGATE_CHECK(executable->run());
    std::vector<std::byte> results(static_cast<size_t>(question.result_bytes));
    WAVEGATE_CHECK(executable->read(question.results, 0, results));
    floats.*question.about = question.answer(results);
  }
  return floats;
}

std::vector<std::byte> serialise(const target::FloatBehaviour& floats) {
  std::vector<std::byte> bytes = {kProbeVersion};
  for (auto field : kFields) bytes.push_back(std::byte{floats.*field});
  return bytes;
}

std::optional<target::FloatBehaviour> parse_floats(std::span<const std::byte> bytes) {
  if (bytes.size() != 1 + std::size(kFields) || bytes[0] != kProbeVersion) return std::nullopt;
  target::FloatBehaviour floats;
  for (size_t i = 0; i < std::size(kFields); ++i) floats.*kFields[i] = bytes[1 + i] != std::byte{0};
  return floats;
}

}  // namespace wavegate::device
