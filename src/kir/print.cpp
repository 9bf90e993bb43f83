#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/base/from_chars.h"
#include "wavegate/kir/float16.h"
#include "wavegate/kir/text.h"

namespace wavegate::kir {
namespace {

constexpr int64_t kSmallestDecimal = -65536;  ///< below it, integers are mostly masks and hashes: hex reads better

std::string integer_text(Type type, uint64_t bits) {
  const uint32_t unused = 64 - bit_width(type);
  const int64_t value = static_cast<int64_t>(bits << unused) >> unused;
  return value >= kSmallestDecimal ? format("{}", value) : format("{:#x}", bits);
}

/// The shortest decimal that gives the half back; a whole number exactly.
std::string half_text(uint16_t bits) {
  const double value = float16_to_double(bits);
  if (std::trunc(value) == value) return format("{}", value);
  for (int digits = 1; digits < 5; ++digits) {
    std::string text = format("{:.{}g}", value, digits);
    double back = 0;
    from_chars(text.data(), text.data() + text.size(), back);
    if (double_to_float16(back) == bits) return text;
  }
  return format("{:.5g}", value);
}

std::string float_text(Type type, uint64_t bits) {
  const double value = type == Type::f16   ? float16_to_double(static_cast<uint16_t>(bits))
                       : type == Type::f32 ? double{std::bit_cast<float>(static_cast<uint32_t>(bits))}
                                           : std::bit_cast<double>(bits);
  if (!std::isfinite(value)) return format("{:#x}", bits);
  std::string text = type == Type::f16   ? half_text(static_cast<uint16_t>(bits))
                     : type == Type::f32 ? format("{}", static_cast<float>(value))
                                         : format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string constant_text(Type type, uint64_t bits) {
  if (type == Type::boolean) return bits != 0 ? "true" : "false";
  return is_float(type) ? float_text(type, bits) : integer_text(type, bits);
}

/// Ends a block without a word in the text form.
bool is_implied(const Instruction& instruction, Op terminator) {
  return instruction.op == terminator && instruction.operands.empty();
}

bool is_empty(const Block& block) {
  return block.instructions.size() == 1 && is_implied(block.instructions.front(), Op::yield);
}

/// Prints kernels that do not verify too, for messages: what does not exist is printed as ?.
class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), numbers_(kernel.value_types.size(), kUnnumbered) {}

  std::string run() && {
    put("kernel {} {{\n", kernel_.interface.name);
    interface();
    put("\n");
    block(kernel_.body, 1, Op::return_);
    put("}}\n");
    return std::move(text_);
  }

 private:
  static constexpr uint32_t kUnnumbered = std::numeric_limits<uint32_t>::max();

  template <typename... T>
  void put(fmt::format_string<T...> pattern, T&&... arguments) {
    fmt::format_to(std::back_inserter(text_), pattern, std::forward<T>(arguments)...);
  }
  void indent(uint32_t depth) { text_.append(size_t{2} * depth, ' '); }

  void interface() {
    const Interface& interface = kernel_.interface;
    put("  workgroup_size {}\n", fmt::join(interface.workgroup_size, " "));
    for (const BindingInfo& binding : interface.bindings)
      put("  {} {} {} {}\n", binding.kind == BindingKind::buffer ? "buffer" : "scalar", binding.name,
          to_string(binding.type), to_string(binding.access));
    for (const ParameterInfo& parameter : interface.parameters)
      put("  parameter {} {}\n", parameter.name, to_string(parameter.type));
    for (const Memory& memory : kernel_.memories)
      if (memory.space != MemorySpace::buffer)
        put("  {} {} {} {}\n", memory.space == MemorySpace::workgroup ? "workgroup" : "local", memory.name,
            to_string(memory.element), memory.length);
  }

  void block(const Block& block, uint32_t depth, std::optional<Op> implied) {
    for (const Instruction& instruction : block.instructions) {
      if (&instruction == &block.instructions.back() && implied && is_implied(instruction, *implied)) return;
      indent(depth);
      for (size_t i = 0; i < instruction.results.size(); ++i) {
        if (i > 0) put(", ");
        definition(instruction.results[i]);
      }
      if (!instruction.results.empty()) put(" = ");
      put("{}", info(instruction.op).name);
      body(instruction, depth);
      put("\n");
    }
  }

  void definition(Value value) {
    const bool known = value.id < numbers_.size();
    if (known) numbers_[value.id] = next_number_++;
    put("%{}: {}", known ? format("{}", numbers_[value.id]) : "?", known ? to_string(kernel_.type_of(value)) : "?");
  }

  void value(Value value) {
    if (value.id < numbers_.size() && numbers_[value.id] != kUnnumbered)
      put("%{}", numbers_[value.id]);
    else
      put("%?");
  }

  void values(const std::vector<Value>& operands, size_t first = 0) {
    for (size_t i = first; i < operands.size(); ++i) {
      put("{}", i > first ? ", " : " ");
      value(operands[i]);
    }
  }

  void body(const Instruction& instruction, uint32_t depth) {
    switch (instruction.op) {
      case Op::constant: return put(" {}", constant_text(instruction.type, instruction.bits));
      case Op::builtin: return builtin(instruction);
      case Op::parameter: return put(" {}", name_of(kernel_.interface.parameters, instruction.index));
      case Op::load: return place(instruction);
      case Op::array_length: return put(" {}", name_of(kernel_.memories, instruction.memory));
      case Op::load_scalar: return put(" {}", name_of(kernel_.interface.bindings, instruction.index));
      case Op::store_scalar:
        put(" {},", name_of(kernel_.interface.bindings, instruction.index));
        return values(instruction.operands);
      case Op::barrier: return put(" {}", to_string(instruction.scope));
      case Op::fence: return put(" {} {}", to_string(instruction.scope), to_string(instruction.order));
      case Op::assume_uniform: values(instruction.operands); return put(" {}", to_string(instruction.scope));
      case Op::if_: return if_(instruction, depth);
      case Op::switch_: return switch_(instruction, depth);
      case Op::loop: return loop(instruction, depth);
      default: break;
    }
    if (instruction.op != Op::store && !is_atomic(instruction.op)) return values(instruction.operands);
    place(instruction);
    put(",");
    values(instruction.operands, 1);
    if (is_atomic(instruction.op)) put(" {} {}", to_string(instruction.scope), to_string(instruction.order));
  }

  template <typename T>
  static std::string_view name_of(const std::vector<T>& things, uint32_t index) {
    return index < things.size() ? std::string_view(things[index].name) : "?";
  }

  void builtin(const Instruction& instruction) {
    put(" {}", to_string(instruction.builtin));
    if (has_dimension(instruction.builtin)) put(" {}", instruction.index);
  }

  void place(const Instruction& instruction) {
    put(" {}[", instruction.memory == kPointer ? "" : name_of(kernel_.memories, instruction.memory));
    value(instruction.operands.empty() ? Value{} : instruction.operands[0]);
    put("]");
  }

  void braces(const Block& inner, uint32_t depth, std::optional<Op> implied) {
    put(" {{\n");
    block(inner, depth + 1, implied);
    indent(depth);
    put("}}");
  }

  void if_(const Instruction& instruction, uint32_t depth) {
    values(instruction.operands);
    if (instruction.blocks.size() != 2) return put(" ?");
    braces(instruction.blocks[0], depth, Op::yield);
    if (is_empty(instruction.blocks[1])) return;
    put(" else");
    braces(instruction.blocks[1], depth, Op::yield);
  }

  void switch_(const Instruction& instruction, uint32_t depth) {
    values(instruction.operands);
    if (instruction.blocks.size() != instruction.cases.size() + 1) return put(" ?");
    put(" {{\n");
    for (size_t i = 0; i < instruction.cases.size(); ++i) {
      indent(depth + 1);
      put("case {}", instruction.cases[i]);
      braces(instruction.blocks[i], depth + 1, Op::yield);
      put("\n");
    }
    if (!is_empty(instruction.blocks.back())) {
      indent(depth + 1);
      put("default");
      braces(instruction.blocks.back(), depth + 1, Op::yield);
      put("\n");
    }
    indent(depth);
    put("}}");
  }

  void loop(const Instruction& instruction, uint32_t depth) {
    if (instruction.blocks.size() != 1) return put(" ?");
    const Block& inner = instruction.blocks[0];
    const size_t count = std::min(inner.parameters.size(), instruction.operands.size());
    for (size_t i = 0; i < count; ++i) {
      put("{}", i == 0 ? " (" : ", ");
      definition(inner.parameters[i]);
      put(" = ");
      value(instruction.operands[i]);
    }
    if (count > 0) put(")");
    braces(inner, depth, std::nullopt);
  }

  const Kernel& kernel_;
  std::vector<uint32_t> numbers_;  ///< by value id
  uint32_t next_number_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Kernel& kernel) {
  return Printer(kernel).run();
}

}  // namespace wavegate::kir
