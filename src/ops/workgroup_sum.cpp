#include "wavegate/ops/workgroup_sum.h"

namespace wavegate::ops {
namespace {
constexpr uint32_t kRadix = 16;
static_assert(kRadix * kRadix == kReductionWidth);
}  // namespace

using kir::Expr;
using kir::Type;

WorkgroupSum::WorkgroupSum(kir::Builder& builder, uint32_t count) : b_(builder) {
  for (uint32_t i = 0; i < count; ++i) {
    values_.push_back(b_.workgroup_array("values" + std::to_string(i), Type::f32, kReductionWidth));
    sums_.push_back(b_.workgroup_array("sums" + std::to_string(i), Type::f32, kRadix));
  }
}

void WorkgroupSum::sum(const std::vector<Expr>& values, const std::function<void(const std::vector<Expr>&)>& use) {
  const Expr id = b_.local_id();
  // Invocation k adds elements k, k + 16, ...: neighbours read neighbours.
  const auto add_sixteen = [&](const kir::MemoryRef& memory, Expr first, uint32_t stride) {
    Expr total = memory[first];
    for (uint32_t k = 1; k < kRadix; ++k) total = total + memory[first + k * stride];
    return total;
  };
  for (size_t i = 0; i < values.size(); ++i) values_[i][id] = values[i];
  b_.barrier();
  b_.if_(id < kRadix, [&] {
    for (size_t i = 0; i < values.size(); ++i) sums_[i][id] = add_sixteen(values_[i], id, kRadix);
  });
  b_.barrier();
  b_.if_(id == 0, [&] {
    std::vector<Expr> totals;
    for (size_t i = 0; i < values.size(); ++i) totals.push_back(add_sixteen(sums_[i], b_.u32(0), 1));
    use(totals);
  });
}

}  // namespace wavegate::ops
