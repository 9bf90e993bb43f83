#include "wavegate/ops/slot_sum.h"

namespace wavegate::ops {

using kir::Expr;
using kir::Type;

namespace {

/// memory[first] + memory[first + stride] + ..., sixteen in order.
Expr add_sixteen(const kir::MemoryRef& memory, Expr first, uint32_t stride) {
  Expr total = memory[first];
  for (uint32_t k = 1; k < kSumRadix; ++k) total = total + memory[first + k * stride];
  return total;
}

}  // namespace

SlotSum::SlotSum(kir::Builder& builder, Mapping mapping, uint32_t count) : b_(builder), mapping_(mapping) {
  for (uint32_t i = 0; i < count; ++i) {
    if (mapping == Mapping::wide)
      values_.push_back(b_.workgroup_array("values" + std::to_string(i), Type::f32, kSlots));
    sums_.push_back(b_.workgroup_array("sums" + std::to_string(i), Type::f32, kSumRadix));
  }
}

void SlotSum::add(uint32_t slots, const std::function<Terms(Expr)>& terms_of) {
  const Expr id = b_.local_id();
  if (mapping_ == Mapping::wide) {
    const Terms terms = terms_of(id);
    used_ = terms.size();
    for (size_t i = 0; i < used_; ++i) values_[i][id] = terms[i];
    b_.barrier();
    b_.if_(id < kSumRadix, [&] {
      for (size_t i = 0; i < used_; ++i) sums_[i][id] = add_sixteen(values_[i], id, kSumRadix);
    });
    b_.barrier();
    return;
  }
  std::vector<kir::Variable> sums;
  for (size_t i = 0; i < sums_.size(); ++i) sums.push_back(b_.variable(b_.f32(0.0f)));
  b_.for_(id, b_.u32(slots), b_.u32(kSumRadix), [&](Expr slot) {
    const Terms terms = terms_of(slot);
    used_ = terms.size();
    for (size_t i = 0; i < used_; ++i) sums[i] = static_cast<Expr>(sums[i]) + terms[i];
  });
  b_.barrier();  // the sums of a call before may still be read
  for (size_t i = 0; i < used_; ++i) sums_[i][id] = sums[i];
  b_.barrier();
}

SlotSum::Terms SlotSum::totals() const {
  Terms totals;
  for (size_t i = 0; i < used_; ++i) totals.push_back(add_sixteen(sums_[i], b_.u32(0), 1));
  return totals;
}

}  // namespace wavegate::ops
