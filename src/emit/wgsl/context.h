#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/emit/wgsl/barriers.h"
#include "wavegate/emit/wgsl/helpers.h"
#include "wavegate/emit/wgsl/writer.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::wgsl {

/// How the elements of a memory are declared.
enum class ElementKind : uint8_t { plain, atomic_unsigned, atomic_signed };

/// The identifiers of what a kernel addresses.
struct Variables {
  std::vector<std::string> memories;       ///< by memory index
  std::vector<ElementKind> element_kinds;  ///< by memory index
  std::vector<std::string> slots;          ///< by binding: the arena index of a scalar
  std::vector<std::string> parameters;     ///< by parameter
};

/// What the emission of one kernel carries along: the text of its function, and what the kernel's values are called.
struct Context {
  const kir::Kernel& kernel;
  const target::Profile& profile;
  Barriers barriers = {};
  Variables variables = {};
  Writer body = Writer(1);                             ///< of the entry function
  HelperSet helpers = {};                              ///< that the body calls
  std::array<bool, kir::kBuiltinCount> builtins = {};  ///< that the body reads
  std::vector<bool> parameters_used = {};              ///< by parameter
  std::vector<bool> slots_used = {};                   ///< by binding
  std::vector<std::string> values = {};                ///< by kir value id: a name or a literal
  std::vector<std::optional<uint64_t>> known = {};     ///< by kir value id: the bits of constants
  bool uses_zero_bits = false;                         ///< kZeroBits is to be declared
  uint32_t loops = 0;                                  ///< that switches leave, so far

  kir::Type type_of(kir::Value value) const { return kernel.type_of(value); }
  const std::string& value(kir::Value value) const { return values[value.id]; }
  std::optional<uint64_t> bits(kir::Value value) const { return known[value.id]; }
  /// What a value is called if it gets a name.
  static std::string name(kir::Value value) { return "v" + std::to_string(value.id); }

  /// The value is what the text says, which costs nothing to repeat.
  void alias(kir::Value value, std::string text) { values[value.id] = std::move(text); }
  /// Writes `let v = expression;`.
  void define(kir::Value value, std::string_view expression);
  /// Writes `var v: type;` or, with an initial value, `var v: type = initial;`.
  void declare(kir::Value value, std::string_view initial = {});
  /// Defines a constant: as its literal, or by a `let` of its bits where it has none.
  void define_constant(kir::Value value, uint64_t bits);
  /// A float constant of which no compiler knows what it is. WGSL refuses NaNs and infinities that it knows, and some
  /// compilers fold x + 0, x * 0 and x / 0 as if there were no NaN, infinity or negative zero.
  std::string unknown_float(kir::Type type, uint64_t bits);

  /// The value under a name, even if it is known: WGSL evaluates literals before the shader runs, and refuses to make
  /// infinities and to divide by zero. The name is that of `result` with the operand's letter.
  std::string runtime_value(kir::Value value, kir::Value result, char letter);

  std::string_view call(Helper helper) {
    helpers.need(helper);
    return name_of(helper);
  }
  std::string_view builtin(kir::Builtin builtin);
};

/// A word that is zero, though nothing says so to a compiler: no grid is empty where an invocation runs.
inline constexpr std::string_view kZeroBits = "zero_bits";

/// What a builtin is called as a parameter of the entry function, and what WGSL calls it.
struct BuiltinName {
  kir::Builtin builtin;
  std::string_view name;
  std::string_view attribute;
};
const BuiltinName& name_of(kir::Builtin builtin);

}  // namespace wavegate::emit::wgsl
