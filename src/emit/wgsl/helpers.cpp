#include "wavegate/emit/wgsl/helpers.h"

#include <initializer_list>
#include <optional>

namespace wavegate::emit::wgsl {
namespace {

struct Row {
  Helper helper;
  std::string_view name;
  std::array<std::optional<Helper>, 2> calls;
  std::string_view text;
};

// Each stands behind those that it calls.
constexpr std::array<Row, kHelperCount> kTable = {{
    {Helper::is_nan, "is_nan", {}, R"(
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
)"},
    {Helper::float_order, "float_order", {}, R"(
fn float_order(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u);
}
)"},
    {Helper::min_f, "min_f", {Helper::is_nan, Helper::float_order}, R"(
fn min_f(a: f32, b: f32) -> f32 {
  return select(b, a, is_nan(b) || (!is_nan(a) && (float_order(a) < float_order(b))));
}
)"},
    {Helper::max_f, "max_f", {Helper::is_nan, Helper::float_order}, R"(
fn max_f(a: f32, b: f32) -> f32 {
  return select(b, a, is_nan(b) || (!is_nan(a) && (float_order(b) < float_order(a))));
}
)"},
    {Helper::f32_to_u32, "f32_to_u32", {}, R"(
fn f32_to_u32(x: f32) -> u32 {
  return select(select(0u, u32(x), x > 0.0f), 0xffffffffu, x >= 0x1p32f);
}
)"},
    {Helper::f32_to_i32, "f32_to_i32", {}, R"(
fn f32_to_i32(x: f32) -> u32 {
  let limit = select(0x80000000u, 0x7fffffffu, x > 0.0f);
  return select(select(0u, u32(i32(x)), abs(x) < 0x1p31f), limit, abs(x) >= 0x1p31f);
}
)"},
    {Helper::mul_high_u, "mul_high_u", {}, R"(
fn mul_high_u(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let middle = a1 * b0 + ((a0 * b0) >> 16u);
  let cross = a0 * b1 + (middle & 0xffffu);
  return a1 * b1 + (middle >> 16u) + (cross >> 16u);
}
)"},
    {Helper::mul_high_s, "mul_high_s", {Helper::mul_high_u}, R"(
fn mul_high_s(a: u32, b: u32) -> u32 {
  return mul_high_u(a, b) - select(0u, b, a >= 0x80000000u) - select(0u, a, b >= 0x80000000u);
}
)"},
    {Helper::uniform_value, "uniform_value", {}, R"(
var<workgroup> uniform_slot: u32;

fn uniform_value(value: u32, local_index: u32) -> u32 {
  if (local_index == 0u) {
    uniform_slot = value;
  }
  return workgroupUniformLoad(&uniform_slot);
}
)"},
}};

constexpr bool table_is_in_order() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].helper != static_cast<Helper>(i)) return false;
    for (const auto& called : kTable[i].calls)
      if (called && *called >= kTable[i].helper) return false;
  }
  return true;
}
static_assert(table_is_in_order());

const Row& row(Helper helper) {
  return kTable[static_cast<size_t>(helper)];
}

}  // namespace

void HelperSet::need(Helper helper) {
  needed_[static_cast<size_t>(helper)] = true;
  for (const auto& called : row(helper).calls)
    if (called) need(*called);
}

std::string_view name_of(Helper helper) {
  return row(helper).name;
}

std::string_view text_of(Helper helper) {
  return row(helper).text;
}

}  // namespace wavegate::emit::wgsl
