#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/reference/lane_ops.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::device::reference {

/// A place for one value of every lane of a workgroup. Values whose lifetimes do not meet share one.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// An instruction with its values as slots. Several slots of one step lie next to each other in Code::slots.
struct Step {
  kir::Op op = kir::Op::constant;
  kir::Type type = kir::Type::none;
  kir::Type operand_type = kir::Type::none;  ///< of the last operand
  LaneFunction function = nullptr;           ///< of a pure operation, or of what an atomic does to the memory
  uint32_t operands = 0;                     ///< index into Code::slots
  uint32_t operand_count = 0;
  uint32_t results = 0;  ///< index into Code::slots; of a terminator: where its operands go
  uint32_t result_count = 0;
  uint32_t blocks = 0;  ///< index of the first of the blocks, which are consecutive
  uint32_t loop = 0;    ///< of loop, break_ and continue_: index into Code::loops
  bool staged = false;  ///< the copy of a continue_ reads what it overwrites
  const kir::Instruction* source = nullptr;
};

/// Instructions without those whose value is known when a workgroup starts. The block's mask has its index.
struct CodeBlock {
  std::vector<Step> steps;
};

struct CodeLoop {
  uint32_t block = 0;
  uint32_t parameters = 0;  ///< index into Code::slots; as many as the loop has operands
  uint32_t broke = 0;       ///< mask of the lanes that left with break_
  uint32_t next = 0;        ///< mask of the lanes that reached continue_
};

/// A value that is known when a launch or a workgroup starts: a constant, builtin, parameter or array length.
struct Given {
  Slot slot = kNoSlot;
  const kir::Instruction* source = nullptr;
};

/// A kernel in the form that the interpreter runs. Points into the kernel, which must outlive it.
struct Code {
  const kir::Kernel* kernel = nullptr;
  std::vector<CodeBlock> blocks;  ///< the body is block 0
  std::vector<CodeLoop> loops;
  std::vector<uint32_t> slots;  ///< operand and result slots of the steps
  std::vector<Given> launch_values;
  std::vector<Given> workgroup_values;
  uint32_t slot_count = 0;
  uint32_t mask_count = 0;  ///< one a block, then two a loop

  std::span<const Slot> operands(const Step& step) const { return {slots.data() + step.operands, step.operand_count}; }
  std::span<const Slot> results(const Step& step) const { return {slots.data() + step.results, step.result_count}; }
};

/// Precondition: the kernel is verified. `unsupported`: accesses through device pointers.
Result<Code> compile(const kir::Kernel& kernel);

}  // namespace wavegate::device::reference
