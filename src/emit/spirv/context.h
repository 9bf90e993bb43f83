#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "wavegate/emit/spirv/module_builder.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::spirv {

/// Ids of the variables that a kernel addresses; 0 where there is none.
struct Variables {
  std::vector<Id> memories;        ///< by memory index
  Id arena = 0;                    ///< the scalar arena
  Id launch = 0;                   ///< the launch words
  bool coherent_pointers = false;  ///< accesses through device pointers are ordered against other invocations
};

/// What the emission of one kernel carries along: the module being written and the ids of the kernel's values.
struct Context {
  const kir::Kernel& kernel;
  const target::Profile& profile;
  ModuleBuilder& module;
  Variables variables = {};
  std::vector<Id> values = {};                      ///< by kir value id
  std::vector<std::optional<uint64_t>> known = {};  ///< by kir value id: the bits of constants
  Id block = 0;                                     ///< label of the block being written

  Id value(kir::Value value) const { return values[value.id]; }
  std::optional<uint64_t> bits(kir::Value value) const { return known[value.id]; }
  void define(kir::Value value, Id id) { values[value.id] = id; }

  Id type(kir::Type type) { return module.type(type); }
  Id constant(kir::Type type, uint64_t bits) { return module.constant(type, bits); }
  Id op(spv::Op op, kir::Type type, std::initializer_list<uint32_t> operands) {
    return module.put(op, module.type(type), operands);
  }
  Id extended(GLSLstd450 instruction, kir::Type type, std::initializer_list<Id> operands) {
    return module.put_extended(static_cast<uint32_t>(instruction), module.type(type), operands);
  }
  /// A float result that must not be combined with others.
  Id exact(Id result) {
    module.decorate(result, spv::Decoration::NoContraction);
    return result;
  }
  Id select(kir::Type type, Id condition, Id if_true, Id if_false) {
    return op(spv::Op::OpSelect, type, {condition, if_true, if_false});
  }

  void begin_block(Id label) {
    module.body().put(spv::Op::OpLabel, {label});
    block = label;
  }
};

/// A float zero that the device's compiler does not know to be one. Some compilers fold x + 0, x * 0 and x / 0 as if
/// there were no NaN, infinity or negative zero, whatever the decorations say.
Id opaque_zero(Context& context, kir::Type type, uint64_t bits);

/// The two 32-bit halves of a 64-bit value.
struct Halves {
  Id low = 0;
  Id high = 0;
};
Halves split(Context& context, Id value);
Id join(Context& context, kir::Type type, Halves halves);

}  // namespace wavegate::emit::spirv
