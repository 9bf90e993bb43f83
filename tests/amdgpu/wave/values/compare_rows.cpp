#include <map>
#include <string>
#include <vector>

#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

/// A comparison by its name: which orders make it true, of less 1, equal 2, greater 4, unordered 8.
constexpr struct {
  std::string_view name;
  int orders;
} kOrders[] = {
    {"f", 0},       {"lt", 1},   {"eq", 2},   {"le", 3},   {"gt", 4},   {"lg", 5},
    {"ge", 6},      {"o", 7},    {"u", 8},    {"nge", 9},  {"nlg", 10}, {"ngt", 8 + 3},
    {"nle", 8 + 4}, {"neq", 13}, {"nlt", 14}, {"tru", 15}, {"ne", 5},   {"t", 15},
};

int order(i64 a, i64 b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
int order_of_bits(u64 a, u64 b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
template <int orders, char type>
u64 compared(Lane& x) {
  int result = 0;
  switch (type) {
    case 'f': result = x.f32.compare(x.a(), x.b()); break;
    case 'd': result = x.f64.compare(x.a(), x.b()); break;
    case 'h': result = x.f16.compare(x.a(), x.b()); break;
    case 'i': result = order(sx(x.a()), sx(x.b())); break;
    case 'l': result = order(static_cast<i64>(x.a()), static_cast<i64>(x.b())); break;
    case 's': result = order(sx(x.a(), 16), sx(x.b(), 16)); break;
    default: result = order_of_bits(x.a(), x.b()); break;
  }
  return static_cast<u64>(orders >> (result + 1) & 1);
}

/// The mask's bits: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
u64 is_of_class(const Float& of, u64 a, u64 mask) {
  int kind = 0;
  if (of.is_nan(a)) {
    kind = of.is_signalling(a) ? 0 : 1;
  } else {
    const int size = of.is_infinite(a) ? 3 : of.is_zero(a) ? 0 : of.is_denormal(a) ? 1 : 2;
    kind = of.is_negative(a) ? 5 - size : 6 + size;
  }
  return mask >> kind & 1;
}

using Value = u64 (*)(Lane&);
template <char type, int... orders>
void add(std::vector<std::pair<std::string, Row>>& rows, std::string_view suffix, std::string_view types,
         std::integer_sequence<int, orders...>) {
  constexpr Value kValues[] = {compared<orders, type>...};
  for (const auto& one : kOrders)
    rows.push_back({std::string(one.name) + "_" + std::string(suffix), {{}, types, kValues[one.orders]}});
}

std::vector<std::pair<std::string, Row>> make() {
  std::vector<std::pair<std::string, Row>> rows;
  const auto all = std::make_integer_sequence<int, 16>();
  add<'f'>(rows, "f32", "m=ff", all), add<'d'>(rows, "f64", "m=dd", all), add<'h'>(rows, "f16", "m=hh", all);
  add<'i'>(rows, "i32", "m=ii", all), add<'u'>(rows, "u32", "m=uu", all);
  add<'l'>(rows, "i64", "m=qq", all), add<'u'>(rows, "u64", "m=qq", all);
  add<'s'>(rows, "i16", "m=ss", all), add<'u'>(rows, "u16", "m=ww", all);
  rows.push_back({"class_f32", WAVEGATE_VALUE(c, "m=fu", is_of_class(x.f32, x.a(), x.b()))});
  rows.push_back({"class_f64", WAVEGATE_VALUE(c, "m=du", is_of_class(x.f64, x.a(), x.b()))});
  rows.push_back({"class_f16", WAVEGATE_VALUE(c, "m=hu", is_of_class(x.f16, x.a(), x.b()))});
  return rows;
}

}  // namespace

std::span<const Row> compare_rows() {
  static const auto kNamed = make();
  static std::vector<std::string> names;
  static const auto kRows = [] {
    std::vector<Row> rows;
    names.reserve(2 * kNamed.size());
    for (const std::string_view prefix : {"v_cmp_", "v_cmpx_"})
      for (const auto& [name, row] : kNamed) {
        names.push_back(std::string(prefix) + name);
        rows.push_back(row);
        rows.back().name = names.back();
      }
    return rows;
  }();
  return kRows;
}

const Row* find_row(std::string_view name) {
  static const auto kRows = [] {
    std::map<std::string_view, const Row*> rows;
    for (const auto table : {integer_rows(), short_rows(), float_rows(), conversion_rows(), packed_rows(), mix_rows(),
                             scalar_rows(), compare_rows()})
      for (const Row& row : table) rows[row.name] = &row;
    return rows;
  }();
  const auto found = kRows.find(name);
  return found == kRows.end() ? nullptr : found->second;
}

}  // namespace wavegate::amdgpu::wave::testing
