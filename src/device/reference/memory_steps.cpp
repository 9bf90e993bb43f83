#include <cstring>

#include "wavegate/base/format.h"
#include "wavegate/device/reference/machine.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;

bool outside(Machine& machine, const Step& step, uint32_t lane, uint64_t index) {
  const kir::Memory& memory = machine.code->kernel->memories[step.source->memory];
  return machine.fault(lane, format("{} of \"{}\" at index {} is outside its {} elements", kir::info(step.op).name,
                                    memory.name, index, machine.memories[step.source->memory].length));
}

bool never_written(Machine& machine, const Step& step, uint32_t lane, uint64_t index) {
  const kir::Memory& memory = machine.code->kernel->memories[step.source->memory];
  const char* fix = memory.space == kir::MemorySpace::buffer
                        ? "give the buffer initial contents or write it before this dispatch"
                        : "write it first: it starts undefined in every workgroup";
  return machine.fault(lane, format("{} of \"{}\" at index {} reads an element never written; {}",
                                    kir::info(step.op).name, memory.name, index, fix));
}

bool races(Machine& machine, const Step& step, uint32_t lane, uint64_t index) {
  return machine.fault(
      lane, format("{} of \"{}\" at index {} races with another invocation of the workgroup; put a "
                   "barrier between them",
                   kir::info(step.op).name, machine.code->kernel->memories[step.source->memory].name, index));
}

template <typename Word>
bool is_written(const uint8_t* flags) {
  constexpr auto kAll = static_cast<Word>(0x0101010101010101);
  Word word;
  std::memcpy(&word, flags, sizeof(Word));
  return word == kAll;
}

template <typename Word>
uint64_t get(const std::byte* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(Word));
  return word;
}

template <typename Word>
void put(std::byte* bytes, uint8_t* flags, uint64_t value) {
  const auto word = static_cast<Word>(value);
  std::memcpy(bytes, &word, sizeof(Word));
  std::memset(flags, 1, sizeof(Word));
}

template <typename Word>
bool load(Machine& machine, const Step& step, const Lanes& lanes) {
  const MemoryView view = machine.memories[step.source->memory];
  const uint64_t* index = machine.lanes_of(machine.code->operands(step)[0]);
  for (uint32_t k = 0; k < step.result_count; ++k) {
    uint64_t* result = machine.lanes_of(machine.code->results(step)[k]);
    const bool done = for_each_lane(lanes, [&](uint32_t lane) {
      const uint64_t element = index[lane] + k;
      if (element >= view.length) return outside(machine, step, lane, element);
      const uint64_t at = lane * view.lane_stride + element * sizeof(Word);
      if (!is_written<Word>(view.written + at)) return never_written(machine, step, lane, element);
      if (view.cells && !machine.races.read(view.cells[element], lane)) return races(machine, step, lane, element);
      result[lane] = get<Word>(view.bytes + at);
      return true;
    });
    if (!done) return false;
  }
  return true;
}

template <typename Word>
bool store(Machine& machine, const Step& step, const Lanes& lanes) {
  const MemoryView view = machine.memories[step.source->memory];
  const auto operands = machine.code->operands(step);
  const uint64_t* index = machine.lanes_of(operands[0]);
  return for_each_lane(lanes, [&](uint32_t lane) {
    for (uint32_t k = 0; k + 1 < operands.size(); ++k) {
      const uint64_t element = index[lane] + k;
      if (element >= view.length) return outside(machine, step, lane, element);
      const uint64_t at = lane * view.lane_stride + element * sizeof(Word);
      const uint64_t value = machine.lanes_of(operands[k + 1])[lane];
      if (view.cells) {
        const bool changes = !is_written<Word>(view.written + at) || get<Word>(view.bytes + at) != value;
        if (!machine.races.write(view.cells[element], lane, changes)) return races(machine, step, lane, element);
      }
      put<Word>(view.bytes + at, view.written + at, value);
    }
    return true;
  });
}

/// What an atomic leaves in the memory.
uint64_t atomic_result(const Step& step, uint64_t old, uint64_t operand, uint64_t desired) {
  if (step.op == Op::atomic_exchange) return operand;
  if (step.op == Op::atomic_compare_exchange) return old == operand ? desired : old;
  uint64_t result = 0;
  step.function({&result, &old, &operand, nullptr, 1, step.op, step.type, step.operand_type});
  return result;
}

template <typename Word>
bool atomic(Machine& machine, const Step& step, const Lanes& lanes) {
  const MemoryView view = machine.memories[step.source->memory];
  const auto operands = machine.code->operands(step);
  const uint64_t* index = machine.lanes_of(operands[0]);
  const uint64_t* operand = machine.lanes_of(operands[1]);
  const uint64_t* desired = operands.size() > 2 ? machine.lanes_of(operands[2]) : operand;
  uint64_t* result = step.result_count ? machine.lanes_of(machine.code->results(step)[0]) : nullptr;
  return for_each_lane(lanes, [&](uint32_t lane) {
    if (index[lane] >= view.length) return outside(machine, step, lane, index[lane]);
    const uint64_t at = lane * view.lane_stride + index[lane] * sizeof(Word);
    if (!is_written<Word>(view.written + at)) return never_written(machine, step, lane, index[lane]);
    if (view.cells && !machine.races.atomic(view.cells[index[lane]], lane)) {
      return races(machine, step, lane, index[lane]);
    }
    const uint64_t old = get<Word>(view.bytes + at);
    put<Word>(view.bytes + at, view.written + at, atomic_result(step, old, operand[lane], desired[lane]));
    if (result) result[lane] = old;
    return true;
  });
}

template <typename Word>
bool access(Machine& machine, const Step& step, const Lanes& lanes) {
  if (step.op == Op::load) return load<Word>(machine, step, lanes);
  if (step.op == Op::store) return store<Word>(machine, step, lanes);
  return atomic<Word>(machine, step, lanes);
}

/// A scalar lies in the arena, at the word that the launch says.
bool access_scalar(Machine& machine, const Step& step, const Lanes& lanes) {
  const kir::Interface& interface = machine.code->kernel->interface;
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < step.source->index; ++i) ordinal += interface.bindings[i].kind == kir::BindingKind::scalar;
  const std::string& name = interface.bindings[step.source->index].name;
  const uint32_t slot = machine.launch->words[ordinal];
  if (slot >= machine.arena.length) {
    return machine.fault(lanes.begin, format("{} of \"{}\" at arena word {} is outside the arena of {} words",
                                             kir::info(step.op).name, name, slot, machine.arena.length));
  }
  std::byte* bytes = machine.arena.bytes + size_t{slot} * 4;
  uint8_t* written = machine.arena.written + size_t{slot} * 4;
  if (step.op == Op::store_scalar) {  // lanes in increasing order: the last one's value stays
    put<uint32_t>(bytes, written, machine.lanes_of(machine.code->operands(step)[0])[lanes.end - 1]);
    return true;
  }
  if (!is_written<uint32_t>(written)) {
    return machine.fault(lanes.begin, format("load_scalar of \"{}\" (arena word {}) reads a scalar never written; give "
                                             "it an initial value or write it before this dispatch",
                                             name, slot));
  }
  const uint64_t value = get<uint32_t>(bytes);
  uint64_t* result = machine.lanes_of(machine.code->results(step)[0]);
  for (uint32_t lane = lanes.begin; lane < lanes.end; ++lane) result[lane] = value;
  return true;
}

}  // namespace

bool run_memory_step(Machine& machine, const Step& step, const Lanes& lanes) {
  if (step.op == Op::load_scalar || step.op == Op::store_scalar) return access_scalar(machine, step, lanes);
  switch (machine.memories[step.source->memory].element_bytes) {
    case 1: return access<uint8_t>(machine, step, lanes);
    case 2: return access<uint16_t>(machine, step, lanes);
    case 4: return access<uint32_t>(machine, step, lanes);
    default: return access<uint64_t>(machine, step, lanes);
  }
}

}  // namespace wavegate::device::reference
