#include "wavegate/amdgpu/object/value_type.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

struct Row {
  std::string_view name;
  NumberKind kind;
  std::uint32_t bytes;
};
using enum NumberKind;

/// AMD's targets have 64-bit pointers and longs.
constexpr auto kNames = std::to_array<Row>({
    {"bool", unsigned_integer, 1},
    {"char", signed_integer, 1},
    {"signed char", signed_integer, 1},
    {"int8_t", signed_integer, 1},
    {"uchar", unsigned_integer, 1},
    {"unsigned char", unsigned_integer, 1},
    {"uint8_t", unsigned_integer, 1},
    {"short", signed_integer, 2},
    {"int16_t", signed_integer, 2},
    {"ushort", unsigned_integer, 2},
    {"unsigned short", unsigned_integer, 2},
    {"uint16_t", unsigned_integer, 2},
    {"int", signed_integer, 4},
    {"int32_t", signed_integer, 4},
    {"uint", unsigned_integer, 4},
    {"unsigned int", unsigned_integer, 4},
    {"unsigned", unsigned_integer, 4},
    {"uint32_t", unsigned_integer, 4},
    {"long", signed_integer, 8},
    {"long long", signed_integer, 8},
    {"int64_t", signed_integer, 8},
    {"ptrdiff_t", signed_integer, 8},
    {"intptr_t", signed_integer, 8},
    {"ulong", unsigned_integer, 8},
    {"unsigned long", unsigned_integer, 8},
    {"unsigned long long", unsigned_integer, 8},
    {"uint64_t", unsigned_integer, 8},
    {"size_t", unsigned_integer, 8},
    {"uintptr_t", unsigned_integer, 8},
    {"atomic_int", signed_integer, 4},
    {"atomic_uint", unsigned_integer, 4},
    {"atomic_long", signed_integer, 8},
    {"atomic_ulong", unsigned_integer, 8},
    {"half", floating, 2},
    {"_Float16", floating, 2},
    {"float", floating, 4},
    {"atomic_float", floating, 4},
    {"double", floating, 8},
    {"atomic_double", floating, 8},
});

constexpr std::array<std::string_view, 5> kVectors = {"2", "3", "4", "8", "16"};
constexpr std::array<std::uint32_t, 5> kVectorLanes = {2, 3, 4, 8, 16};

std::optional<ValueType> number_type(std::string_view name) {
  const auto* const row = std::ranges::find(kNames, name, &Row::name);
  if (row == kNames.end()) return std::nullopt;
  return ValueType{row->kind, row->bytes, 1, row->bytes};
}

/// "float4" of OpenCL C. Names that end in a digit by themselves are numbers already.
std::optional<ValueType> named_type(std::string_view name) {
  if (const auto number = number_type(name)) return number;
  for (std::size_t i = 0; i < kVectors.size(); ++i) {
    if (!name.ends_with(kVectors[i])) continue;
    auto type = number_type(name.substr(0, name.size() - kVectors[i].size()));
    if (!type) continue;
    type->lanes = kVectorLanes[i];
    type->all_bytes = type->bytes * (type->lanes == 3 ? 4 : type->lanes);
    return type;
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const ValueType& type) {
  const char kind = type.kind == floating ? 'f' : type.kind == signed_integer ? 'i' : 'u';
  const std::string number = format("{}{}", kind, type.bytes * 8);
  return type.lanes == 1 ? number : format("{}[{}]", number, type.lanes);
}

std::optional<ValueType> value_type(const Argument& argument) {
  std::string_view name = argument.type_name;
  if (argument.kind == ValueKind::by_value) {
    const auto type = named_type(name);
    return type && type->all_bytes == argument.size ? type : std::nullopt;
  }
  if (!name.ends_with('*')) return std::nullopt;
  name.remove_suffix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return named_type(name);
}

}  // namespace wavegate::amdgpu::object
