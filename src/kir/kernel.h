#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "wavegate/kir/interface.h"
#include "wavegate/kir/op.h"
#include "wavegate/kir/type.h"

namespace wavegate::kir {

/// An SSA value: an index into Kernel::value_types. Defined once, by an instruction or as a block parameter.
struct Value {
  uint32_t id = std::numeric_limits<uint32_t>::max();
  bool valid() const { return id != std::numeric_limits<uint32_t>::max(); }
  friend bool operator==(Value, Value) = default;
};

enum class MemorySpace : uint8_t {
  buffer,     ///< a buffer binding; `binding` says which
  workgroup,  ///< shared by a workgroup, undefined at its start
  local,  ///< private to an invocation, undefined at its start; length 1 is a local variable (only that may be bool)
};

/// Something loads and stores can address by element index.
struct Memory {
  std::string name;
  MemorySpace space = MemorySpace::buffer;
  Type element = Type::i32;
  uint32_t length = 0;   ///< elements; 0 for a buffer, whose length is known at run time
  uint32_t binding = 0;  ///< index into Interface::bindings, for a buffer
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// Instruction::memory of an access through a 64-bit device pointer.
inline constexpr uint32_t kPointer = std::numeric_limits<uint32_t>::max();

struct Instruction;

/// Instructions in order; the last one is a terminator. Only a loop's block has parameters.
struct Block {
  std::vector<Value> parameters;
  std::vector<Instruction> instructions;

  const Instruction& terminator() const;
};

/// One operation. Only the fields that its op uses are meaningful; see op.h.
struct Instruction {
  Op op = Op::constant;
  Type type = Type::none;  ///< of the first result; for store: of the stored values
  Builtin builtin = Builtin::global_id;
  Scope scope = Scope::workgroup;   ///< barrier, fence, atomics, assume_uniform
  Order order = Order::relaxed;     ///< fence, atomics
  uint32_t index = 0;               ///< parameter, dimension of a builtin, binding of a scalar
  uint32_t memory = 0;              ///< index into Kernel::memories, or kPointer
  uint64_t bits = 0;                ///< a constant, zero-extended
  std::vector<Value> results = {};  ///< none, one, or several (load, subgroup_ballot, if_, switch_, loop)
  std::vector<Value> operands = {};
  std::vector<uint32_t> cases = {};  ///< switch_: the literal of each block but the last
  std::vector<Block> blocks = {};

  Value result() const { return results.empty() ? Value{} : results.front(); }
};

inline const Instruction& Block::terminator() const {
  return instructions.back();
}

/// A kernel: an interface, the memories it addresses, and one structured body. A plain value: copying a kernel
/// copies it whole. Values of an enclosing block are visible in the blocks inside it.
struct Kernel {
  Interface interface;
  std::vector<Memory> memories;
  std::vector<Type> value_types;  ///< by value id; ids of removed values may stay unused
  Block body;

  Value new_value(Type type) {
    value_types.push_back(type);
    return Value{static_cast<uint32_t>(value_types.size() - 1)};
  }
  Type type_of(Value value) const { return value_types[value.id]; }
};

/// Workgroup memory that the kernel takes, in bytes: its arrays one after the other, each aligned to its elements.
uint64_t workgroup_bytes(const Kernel& kernel);

/// Calls `visit(instruction)` for every instruction, outer before inner, in order. `K` is Block or const Block.
template <typename K, typename Visit>
void walk(K& block, Visit&& visit) {
  for (auto& instruction : block.instructions) {
    visit(instruction);
    for (auto& inner : instruction.blocks) walk(inner, visit);
  }
}

}  // namespace wavegate::kir
