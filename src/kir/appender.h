#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// Writes instructions of a kernel to the end of a list, for what is built from finished kernels rather than by a
/// Builder. Nothing is checked. The kernel and the list must outlive it.
class Appender {
 public:
  Appender(Kernel& kernel, std::vector<Instruction>& list) : kernel_(kernel), list_(list) {}

  void put(Instruction instruction) { list_.push_back(std::move(instruction)); }
  /// An instruction with one result of its type.
  Value value(Instruction instruction) {
    const Value result = kernel_.new_value(instruction.type);
    instruction.results = {result};
    put(std::move(instruction));
    return result;
  }
  Value value(Op op, Type type, std::initializer_list<Value> operands) {
    return value({.op = op, .type = type, .operands = operands});
  }
  Value constant(Type type, uint64_t bits) { return value({.op = Op::constant, .type = type, .bits = bits}); }
  Value builtin(Builtin builtin, uint32_t dimension = 0) {
    return value({.op = Op::builtin, .type = Type::i32, .builtin = builtin, .index = dimension});
  }
  void barrier() { put({.op = Op::barrier, .scope = Scope::workgroup}); }
  /// `if condition { then } else { otherwise }` without results; each list ends with its terminator.
  void if_(Value condition, std::vector<Instruction> then, std::vector<Instruction> otherwise) {
    Instruction instruction{.op = Op::if_, .operands = {condition}};
    instruction.blocks.resize(2);
    instruction.blocks[0].instructions = std::move(then);
    instruction.blocks[1].instructions = std::move(otherwise);
    put(std::move(instruction));
  }

 private:
  Kernel& kernel_;
  std::vector<Instruction>& list_;
};

}  // namespace wavegate::kir
