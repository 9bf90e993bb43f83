#include "wavegate/cli/emulate_arguments.h"

#include <algorithm>
#include <bit>
#include <set>

#include "wavegate/amdgpu/object/value_type.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/number_text.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu;
using io::ElementType;
using object::NumberKind;
using object::ValueKind;

ElementType element_type(const object::ValueType& type) {
  constexpr ElementType kSigned[] = {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64};
  constexpr ElementType kUnsigned[] = {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64};
  constexpr ElementType kFloating[] = {ElementType::f16, ElementType::f16, ElementType::f32, ElementType::f64};
  const int row = std::countr_zero(type.bytes);
  return type.kind == NumberKind::floating         ? kFloating[row]
         : type.kind == NumberKind::signed_integer ? kSigned[row]
                                                   : kUnsigned[row];
}

/// Integers of one size are as good signed as not.
bool suits(ElementType given, const object::ValueType& type) {
  return io::size_of(given) == type.bytes &&
         (kind_of(given) == NumberKind::floating) == (type.kind == NumberKind::floating);
}

std::string element_name(object::ValueType type) {
  type.lanes = 1;
  return object::to_string(type);
}

/// What the user should have given.
std::string form_of(const object::Argument& argument) {
  if (argument.kind == ValueKind::global_buffer)
    return "a buffer: in:FILE.npy, inout:FILE.npy, out:FILE.npy:TYPE[SIZE], or null";
  if (argument.kind == ValueKind::dynamic_shared_pointer) return "LDS: lds:BYTES";
  const auto type = object::value_type(argument);
  if (!type)
    return format("{} bytes by value: bytes:HEX, file:FILE, or a number of that size, such as {}", argument.size,
                  argument.size == 8   ? "u64:1 or f64:0.5"
                  : argument.size == 4 ? "u32:1 or f32:0.5"
                                       : "u8:1");
  std::string numbers = element_name(*type) + ":NUMBER";
  for (std::uint32_t i = 1; i < type->lanes; ++i) numbers += ",NUMBER";
  return numbers;
}

/// One launch's arguments on their way into it.
class Setter {
 public:
  Setter(const wave::Module& module, const EmulationJob& job, const object::Kernel& kernel, wave::Launch& launch)
      : module_(module), job_(job), kernel_(kernel), launch_(launch) {}

  Result<void> set(const EmulatedArgument& given) {
    const object::Argument* const argument = kernel_.find_argument(given.name);
    if (argument == nullptr) return launch_.set(module_, given.name, std::span<const std::byte>());  // which says so
    if (!given_.insert(argument).second) return refuse(*argument, "is given twice, by name and by number");
    if (argument->kind != ValueKind::by_value && argument->kind != ValueKind::global_buffer &&
        argument->kind != ValueKind::dynamic_shared_pointer)
      return unsupported(format("{} is of kind \"{}\", which is not implemented", place(*argument), kind(*argument)));
    return std::visit([&](const auto& value) { return set(*argument, given, value); }, given.value);
  }

  /// Of those that nobody gave, the first.
  Result<void> check_all() const {
    for (const object::Argument& argument : kernel_.arguments)
      if (!object::is_hidden(argument.kind) && !given_.contains(&argument))
        return refuse(argument, format("is not given; it takes {}", form_of(argument)));
    return {};
  }

 private:
  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const Numbers& numbers) {
    if (argument.kind != ValueKind::by_value) return refuse_form(argument, given);
    std::vector<std::byte> bytes = numbers.bytes;
    if (const auto type = object::value_type(argument)) {
      if (!suits(numbers.type, *type) || numbers.count != type->lanes) return refuse_form(argument, given);
      bytes.resize(argument.size);  // a vector of three takes the room of four
    }
    if (bytes.size() != argument.size) return refuse_form(argument, given);
    return launch_.set(module_, given.name, bytes);
  }

  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const PlainNumbers& plain) {
    const auto type = object::value_type(argument);
    if (argument.kind != ValueKind::by_value || !type) return refuse_form(argument, given);
    WAVEGATE_TRY(const Numbers numbers, within(place(argument), parse_numbers(element_type(*type), plain.text)));
    return set(argument, given, numbers);
  }

  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const RawBytes& raw) {
    if (argument.kind != ValueKind::by_value) return refuse_form(argument, given);
    if (raw.bytes.size() != argument.size)
      return refuse(argument, format("has {} bytes; \"{}\" has {}", argument.size, given.text, raw.bytes.size()));
    return launch_.set(module_, given.name, raw.bytes);
  }

  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const BufferIndex& buffer) {
    if (argument.kind != ValueKind::global_buffer) return refuse_form(argument, given);
    const EmulatedBuffer& chosen = job_.buffers[buffer.index];
    const auto type = object::value_type(argument);
    if (type && !suits(chosen.array.type, *type))
      return refuse(argument, format("leads to {}, but \"{}\" is an array of {}", element_name(*type), given.text,
                                     io::to_string(chosen.array.type)));
    return launch_.set(module_, given.name, chosen.address);
  }

  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const NullPointer&) {
    if (argument.kind != ValueKind::global_buffer) return refuse_form(argument, given);
    return launch_.set(module_, given.name, std::uint64_t{0});
  }

  Result<void> set(const object::Argument& argument, const EmulatedArgument& given, const LdsRoom& room) {
    if (argument.kind != ValueKind::dynamic_shared_pointer) return refuse_form(argument, given);
    return launch_.set_lds(module_, given.name, room.bytes);
  }

  /// kernel "saxpy": argument "n" (uint)
  std::string place(const object::Argument& argument) const {
    const auto number = std::ranges::count_if(
        kernel_.arguments.begin(), kernel_.arguments.begin() + (&argument - kernel_.arguments.data()),
        [](const object::Argument& before) { return !object::is_hidden(before.kind); });
    const std::string name = argument.name.empty() ? format("{}", number) : format("\"{}\"", argument.name);
    return format("kernel \"{}\": argument {}{}", kernel_.name, name,
                  argument.type_name.empty() ? "" : format(" ({})", argument.type_name));
  }
  static std::string_view kind(const object::Argument& argument) {
    return argument.kind == ValueKind::unknown ? std::string_view(argument.kind_name)
                                               : object::to_string(argument.kind);
  }
  Error refuse(const object::Argument& argument, std::string_view what) const {
    return invalid_input(format("{} {}", place(argument), what));
  }
  Error refuse_form(const object::Argument& argument, const EmulatedArgument& given) const {
    return refuse(argument, format("takes {}, not \"{}\"", form_of(argument), given.text));
  }

  const wave::Module& module_;
  const EmulationJob& job_;
  const object::Kernel& kernel_;
  wave::Launch& launch_;
  std::set<const object::Argument*> given_;
};

}  // namespace

Result<void> set_arguments(const wave::Module& module, const EmulationJob& job, EmulatedLaunch& launch) {
  WAVEGATE_TRY(const object::Kernel* const kernel, module.kernel(launch.launch.kernel));
  if (!kernel->has_metadata && !launch.arguments.empty())
    return unsupported(format("kernel \"{}\": the object does not tell what arguments it takes", kernel->name));
  Setter setter(module, job, *kernel, launch.launch);
  for (const EmulatedArgument& argument : launch.arguments) WAVEGATE_CHECK(setter.set(argument));
  return setter.check_all();
}

}  // namespace wavegate::cli
