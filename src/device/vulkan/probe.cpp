#include "wavegate/device/vulkan/probe.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "wavegate/kir/builder.h"

namespace wavegate::device::vulkan {
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

/// Runs one operation on the device for each of the operands and returns the results in order.
template <typename T>
Result<std::vector<T>> ask(Device& device, const char* name, const std::vector<Operands<T>>& operands,
                           const std::function<Expr(kir::Builder&, Expr, Expr, Expr)>& operation) {
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

  WAVEGATE_TRY(const std::unique_ptr<Executable> executable, device.load(graph));
  WAVEGATE_CHECK(executable->run());
  std::vector<T> results(count);
  WAVEGATE_CHECK(executable->read(graph::BufferId{1}, 0, std::as_writable_bytes(std::span(results))));
  return results;
}

template <typename T>
bool same_bits(T a, T b) {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b) || (std::isnan(a) && std::isnan(b));
}

/// Whether all results are what the host computes from the operands.
template <typename T>
bool all_match(const std::vector<Operands<T>>& operands, const std::vector<T>& results,
               const std::function<T(const Operands<T>&)>& expected) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (!same_bits(results[i], expected(operands[i]))) return false;
  return true;
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

template <typename T>
Result<bool> has_fused_fma(Device& device) {
  std::vector<Operands<T>> operands = cancelling_operands<T>(1024);
  const std::vector<Operands<T>> others = random_operands<T>(1024);
  operands.insert(operands.end(), others.begin(), others.end());
  WAVEGATE_TRY(const std::vector<T> results,
               ask<T>(device, "probe_fma", operands, [](kir::Builder& b, Expr x, Expr y, Expr z) {
                 return b.apply(Op::fma, {x, y, z});
               }));
  return all_match<T>(operands, results, fused<T>);
}

template <typename T>
Result<bool> keeps_denormals(Device& device) {
  const T smallest = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  // a * b + c where the product or the sum, or an operand of it, is denormal; all of it exact.
  const std::vector<Operands<T>> operands = {
      {smallest, 1, 0},           {-smallest, 3, 0},        {normal, T(0.5), 0},          {smallest, 1, smallest},
      {normal, 1, -2 * smallest}, {smallest, 4, -smallest}, {-normal, T(0.25), smallest}, {smallest * 5, 2, normal}};
  WAVEGATE_TRY(const std::vector<T> results, ask<T>(device, "probe_denormals", operands,
                                                    [](kir::Builder&, Expr x, Expr y, Expr z) { return x * y + z; }));
  return all_match<T>(operands, results, fused<T>);
}

Result<bool> contracts(Device& device) {
  const std::vector<Operands<float>> operands = cancelling_operands<float>(1024);
  WAVEGATE_TRY(const std::vector<float> results,
               ask<float>(device, "probe_contraction", operands,
                          [](kir::Builder&, Expr x, Expr y, Expr z) { return x * y + z; }));
  // Without contraction the sum is exactly zero.
  return !all_match<float>(operands, results, [](const Operands<float>&) { return 0.0f; });
}

Result<bool> divides_exactly(Device& device) {
  std::vector<Operands<float>> operands = random_operands<float>(8192);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float a : {0.0f, -0.0f, 1.0f, -3.0f, 1e38f, infinity})
    for (float b : {0.0f, -0.0f, 1.0f, 3.0f, 1e38f, 2e38f, 3e-38f, infinity}) {
      // Results below the normal range are the question of keeps_denormals().
      const float quotient = a / b;
      if (quotient == 0 || std::isnan(quotient) || std::abs(quotient) >= std::numeric_limits<float>::min())
        operands.push_back({a, b, 0});
    }
  WAVEGATE_TRY(const std::vector<float> results, ask<float>(device, "probe_division", operands,
                                                            [](kir::Builder&, Expr x, Expr y, Expr) { return x / y; }));
  return all_match<float>(operands, results, [](const Operands<float>& o) { return o.a / o.b; });
}

Result<bool> roots_exactly(Device& device) {
  std::vector<Operands<float>> operands = random_operands<float>(8192);
  for (auto& each : operands) each.a = std::abs(each.a);
  for (float a : {0.0f, -0.0f, 1.0f, 2.0f, -1.0f, 3e38f, 2e-38f, std::numeric_limits<float>::infinity()})
    operands.push_back({a, 0, 0});
  WAVEGATE_TRY(const std::vector<float> results,
               ask<float>(device, "probe_square_root", operands,
                          [](kir::Builder& b, Expr x, Expr, Expr) { return b.apply(Op::sqrt, {x}); }));
  return all_match<float>(operands, results, [](const Operands<float>& o) { return std::sqrt(o.a); });
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

Result<target::FloatBehaviour> probe_floats(Device& device) {
  target::FloatBehaviour floats;
  WAVEGATE_TRY(floats.fused_fma_f32, has_fused_fma<float>(device));
  WAVEGATE_TRY(floats.keeps_denormals_f32, keeps_denormals<float>(device));
  WAVEGATE_TRY(floats.contracts_f32, contracts(device));
  WAVEGATE_TRY(floats.exact_division_f32, divides_exactly(device));
  WAVEGATE_TRY(floats.exact_square_root_f32, roots_exactly(device));
  if (device.profile().features.float64) {
    WAVEGATE_TRY(floats.fused_fma_f64, has_fused_fma<double>(device));
    WAVEGATE_TRY(floats.keeps_denormals_f64, keeps_denormals<double>(device));
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

}  // namespace wavegate::device::vulkan
