#include "wavegate/io/program_inputs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/io/json_number.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

struct TypePair {
  ElementType array;
  kir::Type buffer;
};

/// The first of a buffer's types is the one that it is written as.
constexpr std::array kTypes = {
    TypePair{ElementType::i8, kir::Type::i8},   TypePair{ElementType::u8, kir::Type::i8},
    TypePair{ElementType::i16, kir::Type::i16}, TypePair{ElementType::u16, kir::Type::i16},
    TypePair{ElementType::i32, kir::Type::i32}, TypePair{ElementType::u32, kir::Type::i32},
    TypePair{ElementType::i64, kir::Type::i64}, TypePair{ElementType::u64, kir::Type::i64},
    TypePair{ElementType::f16, kir::Type::f16}, TypePair{ElementType::f32, kir::Type::f32},
    TypePair{ElementType::f64, kir::Type::f64},
};

/// "i32 or u32".
std::string array_types(kir::Type type) {
  std::string text;
  for (const TypePair& pair : kTypes)
    if (pair.buffer == type) text += format("{}{}", text.empty() ? "" : " or ", to_string(pair.array));
  return text;
}

template <typename Infos>
std::vector<std::string_view> names_of(const Infos& infos, bool (*wanted)(const typename Infos::value_type&)) {
  std::vector<std::string_view> names;
  for (const auto& info : infos)
    if (wanted(info)) names.push_back(info.name);
  return names;
}

}  // namespace

kir::Type buffer_type(ElementType type) {
  const auto pair = std::ranges::find(kTypes, type, &TypePair::array);
  return pair == kTypes.end() ? kir::Type::none : pair->buffer;
}

Result<program::Initial> initial_contents(std::string_view name, kir::Type type, std::uint64_t count, Array array) {
  if (buffer_type(array.type) != type)
    return invalid_input(format("buffer \"{}\" holds {}, so that its array is one of {}, not {}", name,
                                kir::to_string(type), array_types(type), to_string(array.type)));
  const std::uint64_t elements = array.bytes.size() / size_of(array.type);
  if (elements != count)
    return invalid_input(format("buffer \"{}\" has {} elements, but its array has {}", name, count, elements));
  return program::Initial{std::make_shared<const std::vector<std::byte>>(std::move(array.bytes)), 0};
}

Result<void> set_initial(program::Program& program, std::string_view buffer, Array array) {
  const auto handle = program.find_buffer(buffer);
  if (!handle) {
    const auto names = names_of(
        program.buffers(), +[](const program::BufferInfo&) { return true; });
    return invalid_input(format("the program has no buffer {}{}", quote(buffer), suggestion(buffer, names)));
  }
  const program::BufferInfo& info = program.info(*handle);
  if (info.external) return invalid_input(format("buffer \"{}\" is bound by the application", info.name));
  WAVEGATE_TRY(program::Initial initial, initial_contents(info.name, info.element, info.count, std::move(array)));
  program.set_initial(*handle, std::move(initial));
  return {};
}

Result<ParameterValue> parse_parameter(const program::Program& program, std::string_view name, std::string_view text) {
  const auto handle = program.find_scalar(name);
  if (!handle || !program.info(*handle).parameter) {
    const auto names = names_of(
        program.scalars(), +[](const program::ScalarInfo& info) { return info.parameter; });
    return invalid_input(format("the program has no launch parameter {}{}{}", quote(name),
                                handle ? "; the scalar of this name is set by the program itself" : "",
                                suggestion(name, names)));
  }
  const std::string where = format("parameter \"{}\"", name);
  const auto number = parse_number(text);
  if (!number) return invalid_input(number.error().message, where);
  const auto value = scalar_literal(*number, program.info(*handle).type);
  if (!value) return invalid_input(value.error().message, where);
  return ParameterValue{*handle, *value};
}

Result<Array> array_of(const program::BufferInfo& buffer, std::span<const std::byte> bytes) {
  const auto pair = std::ranges::find(kTypes, buffer.element, &TypePair::buffer);
  if (pair == kTypes.end() || bytes.size() != buffer.bytes())
    return internal_error(format("buffer \"{}\" of {} elements of {} is not made of {} bytes", buffer.name,
                                 buffer.count, kir::to_string(buffer.element), bytes.size()));
  return Array{pair->array, {buffer.count}, {bytes.begin(), bytes.end()}};
}

}  // namespace wavegate::io
