#include "wavegate/device/reference/interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "wavegate/base/format.h"
#include "wavegate/device/reference/code.h"
#include "wavegate/device/reference/machine.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;

// Control flow. Every block has a mask of the lanes that run it; a terminator other than yield empties it, so that
// what is left in the masks of a construct's blocks are the lanes that go on after the construct.

bool run_block(Machine& machine, uint32_t index);

/// Copies the operands of a step to `destinations`, lane by lane in the active ones.
void copy_operands(Machine& machine, const Step& step, const Slot* destinations, const Lanes& lanes) {
  const auto sources = machine.code->operands(step);
  if (step.staged) {
    machine.staging.resize(sources.size());
    for_each_lane(lanes, [&](uint32_t lane) {
      for (size_t k = 0; k < sources.size(); ++k) machine.staging[k] = machine.lanes_of(sources[k])[lane];
      for (size_t k = 0; k < sources.size(); ++k) machine.lanes_of(destinations[k])[lane] = machine.staging[k];
      return true;
    });
    return;
  }
  for (size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] == destinations[k]) continue;
    const uint64_t* source = machine.lanes_of(sources[k]);
    uint64_t* destination = machine.lanes_of(destinations[k]);
    if (lanes.dense()) {
      std::copy(source + lanes.begin, source + lanes.end, destination + lanes.begin);
    } else {
      for_each_lane(lanes, [&](uint32_t lane) {
        destination[lane] = source[lane];
        return true;
      });
    }
  }
}

/// Adds the lanes of a mask to another and empties the first.
void move_lanes(Machine& machine, uint32_t from, uint32_t to) {
  for (uint32_t w = 0; w < machine.mask_words; ++w) {
    machine.mask(to)[w] |= machine.mask(from)[w];
    machine.mask(from)[w] = 0;
  }
}

void clear_lanes(Machine& machine, uint32_t mask) {
  std::fill_n(machine.mask(mask), machine.mask_words, 0);
}

bool run_if(Machine& machine, const Step& step, uint32_t self, const Lanes& lanes) {
  const uint64_t* condition = machine.lanes_of(machine.code->operands(step)[0]);
  const uint32_t then_block = step.blocks;
  const uint32_t else_block = step.blocks + 1;
  clear_lanes(machine, then_block);
  clear_lanes(machine, else_block);
  for_each_lane(lanes, [&](uint32_t lane) {
    machine.mask(condition[lane] ? then_block : else_block)[lane / 64] |= uint64_t{1} << (lane % 64);
    return true;
  });
  clear_lanes(machine, self);
  for (uint32_t block : {then_block, else_block}) {
    if (!run_block(machine, block)) return false;
    move_lanes(machine, block, self);
  }
  return true;
}

bool run_switch(Machine& machine, const Step& step, uint32_t self, const Lanes& lanes) {
  const uint64_t* selector = machine.lanes_of(machine.code->operands(step)[0]);
  const auto& cases = step.source->cases;
  const auto block_count = static_cast<uint32_t>(cases.size()) + 1;
  for (uint32_t i = 0; i < block_count; ++i) clear_lanes(machine, step.blocks + i);
  for_each_lane(lanes, [&](uint32_t lane) {
    const auto found = std::ranges::find(cases, static_cast<uint32_t>(selector[lane]));
    const auto block = step.blocks + static_cast<uint32_t>(found - cases.begin());
    machine.mask(block)[lane / 64] |= uint64_t{1} << (lane % 64);
    return true;
  });
  clear_lanes(machine, self);
  for (uint32_t block = step.blocks; block < step.blocks + block_count; ++block) {
    if (!run_block(machine, block)) return false;
    move_lanes(machine, block, self);
  }
  return true;
}

/// Counts an iteration of each lane that begins one.
void count_iteration(Machine& machine, const CodeLoop& loop) {
  for_each_lane(machine.lanes(loop.block), [&](uint32_t lane) {
    ++machine.iterations[lane];
    return true;
  });
}

/// Ends the loop for lanes that would begin an iteration beyond what the launch allows.
void end_at_limit(Machine& machine, const Step& step, const CodeLoop& loop) {
  for_each_lane(machine.lanes(loop.next), [&](uint32_t lane) {
    if (machine.iterations[lane] < machine.launch->max_loop_iterations) return true;
    for (const Slot slot : machine.code->results(step)) machine.lanes_of(slot)[lane] = 0;
    const uint64_t bit = uint64_t{1} << (lane % 64);
    machine.mask(loop.next)[lane / 64] &= ~bit;
    machine.mask(loop.broke)[lane / 64] |= bit;
    return true;
  });
}

bool run_loop(Machine& machine, const Step& step, uint32_t self, const Lanes& lanes) {
  const CodeLoop& loop = machine.code->loops[step.loop];
  copy_operands(machine, step, machine.code->slots.data() + loop.parameters, lanes);
  clear_lanes(machine, loop.broke);
  clear_lanes(machine, loop.next);
  clear_lanes(machine, loop.block);
  move_lanes(machine, self, loop.block);
  const bool limited = !machine.iterations.empty();
  while (machine.lanes(loop.block).any()) {
    if (limited) count_iteration(machine, loop);
    if (!run_block(machine, loop.block)) return false;
    if (limited) end_at_limit(machine, step, loop);
    move_lanes(machine, loop.next, loop.block);
  }
  move_lanes(machine, loop.broke, self);
  return true;
}

void run_pure(Machine& machine, const Step& step, const Lanes& lanes) {
  // Pure operations are total, so the idle lanes of the range may compute as well: nobody reads what they get.
  const auto operands = machine.code->operands(step);
  const auto operand = [&](size_t k) -> const uint64_t* {
    return k < operands.size() ? machine.lanes_of(operands[k]) + lanes.begin : nullptr;
  };
  step.function({machine.lanes_of(machine.code->results(step)[0]) + lanes.begin, operand(0), operand(1), operand(2),
                 lanes.end - lanes.begin, step.op, step.type, step.operand_type});
}

/// Runs a block for the lanes of its mask. Afterwards the mask holds the lanes that reached its yield.
bool run_block(Machine& machine, uint32_t index) {
  Lanes lanes = machine.lanes(index);
  if (!lanes.any()) return true;
  const CodeBlock& block = machine.code->blocks[index];
  machine.steps += block.steps.size();
  if (machine.steps > machine.launch->max_steps) {
    return machine.fault(
        format("the dispatch ran more than {} instructions; raise the budget, or look for a loop "
               "that does not end",
               machine.launch->max_steps));
  }
  for (const Step& step : block.steps) {
    bool done = true;
    switch (step.op) {
      case Op::if_: done = run_if(machine, step, index, lanes); break;
      case Op::switch_: done = run_switch(machine, step, index, lanes); break;
      case Op::loop: done = run_loop(machine, step, index, lanes); break;
      case Op::yield: copy_operands(machine, step, machine.code->results(step).data(), lanes); return true;
      case Op::break_:
        copy_operands(machine, step, machine.code->results(step).data(), lanes);
        move_lanes(machine, index, machine.code->loops[step.loop].broke);
        return true;
      case Op::continue_:
        copy_operands(machine, step, machine.code->results(step).data(), lanes);
        move_lanes(machine, index, machine.code->loops[step.loop].next);
        return true;
      case Op::return_: clear_lanes(machine, index); return true;
      case Op::fence: break;  // lockstep keeps all of memory in order
      default:
        switch (kir::info(step.op).effect) {
          case kir::Effect::pure: run_pure(machine, step, lanes); break;
          case kir::Effect::convergent: done = run_convergent_step(machine, step, lanes); break;
          default: done = run_memory_step(machine, step, lanes); break;
        }
        if (!done) return false;
        continue;
    }
    if (!done) return false;
    lanes = machine.lanes(index);
    if (!lanes.any()) return true;
  }
  return true;
}

// Launches.

std::array<uint32_t, 3> local_id(const kir::Interface& interface, uint32_t lane) {
  const auto& size = interface.workgroup_size;
  return {lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]};
}

uint64_t parameter(const Machine& machine, uint32_t index) {
  const kir::Interface& interface = machine.code->kernel->interface;
  const uint32_t word = interface.parameter_word(index);
  const uint32_t width = kir::bit_width(interface.parameters[index].type);
  const uint64_t low = machine.launch->words[word];
  if (width == 64) return low | uint64_t{machine.launch->words[word + 1]} << 32;
  if (width == 1) return low != 0;
  return low & (~uint64_t{0} >> (64 - width));
}

/// Fills in a value of all lanes that is known when their workgroup starts.
void give_value(Machine& machine, const Given& given) {
  const kir::Instruction& source = *given.source;
  uint64_t* result = machine.lanes_of(given.slot);
  const auto fill = [&](uint64_t value) { std::fill_n(result, machine.lane_count, value); };
  const auto each = [&](auto value_of_lane) {
    for (uint32_t lane = 0; lane < machine.lane_count; ++lane) result[lane] = value_of_lane(lane);
  };
  switch (source.op) {
    case Op::constant: return fill(source.bits);
    case Op::array_length: return fill(static_cast<uint32_t>(machine.memories[source.memory].length));
    case Op::parameter: return fill(parameter(machine, source.index));
    default: break;
  }
  const uint32_t d = source.index;
  const uint32_t* local = machine.local_ids[kir::has_dimension(source.builtin) ? d : 0].data();
  switch (source.builtin) {
    case kir::Builtin::global_id: {
      const uint32_t base = machine.workgroup[d] * machine.code->kernel->interface.workgroup_size[d];
      return each([=](uint32_t lane) { return base + local[lane]; });
    }
    case kir::Builtin::local_id: return each([=](uint32_t lane) { return local[lane]; });
    case kir::Builtin::workgroup_id: return fill(machine.workgroup[d]);
    case kir::Builtin::grid: return fill(machine.launch->grid[d]);
    case kir::Builtin::local_index: return each([](uint32_t lane) { return lane; });
    case kir::Builtin::subgroup_lane:
      return each([size = machine.launch->subgroup_size](uint32_t lane) { return lane % size; });
    case kir::Builtin::subgroup_size: return fill(machine.launch->subgroup_size);
  }
}

void give_values(Machine& machine, const std::vector<Given>& values) {
  for (const Given& given : values) give_value(machine, given);
}

MemoryView view_of(const BoundRange& range, uint32_t element_bytes) {
  return {range.storage->bytes.data() + range.offset,
          range.storage->written.data() + range.offset,
          range.bytes / element_bytes,
          0,
          element_bytes,
          nullptr};
}

/// Allocates values, masks, workgroup and local memories: all that does not depend on the launch.
void allocate(Machine& machine) {
  const kir::Kernel& kernel = *machine.code->kernel;
  const auto& size = kernel.interface.workgroup_size;
  machine.lane_count = size[0] * size[1] * size[2];
  machine.mask_words = (machine.lane_count + 63) / 64;
  for (size_t d = 0; d < 3; ++d) {
    machine.local_ids[d].resize(machine.lane_count);
    for (uint32_t lane = 0; lane < machine.lane_count; ++lane)
      machine.local_ids[d][lane] = local_id(kernel.interface, lane)[d];
  }
  machine.values.resize(size_t{machine.code->slot_count} * machine.lane_count);
  machine.masks.resize(size_t{machine.code->mask_count} * machine.mask_words);
  machine.memories.resize(kernel.memories.size());
  machine.private_storages.resize(kernel.memories.size());
  machine.cells.resize(kernel.memories.size());
  for (size_t i = 0; i < kernel.memories.size(); ++i) {
    const kir::Memory& memory = kernel.memories[i];
    if (memory.space == kir::MemorySpace::buffer) continue;
    const uint32_t element_bytes = std::max(kir::byte_size(memory.element), 1u);  // a boolean variable takes a byte
    const uint64_t bytes = uint64_t{memory.length} * element_bytes;
    const bool is_local = memory.space == kir::MemorySpace::local;
    Storage& storage = machine.private_storages[i];
    storage.bytes.resize(static_cast<size_t>(bytes * (is_local ? machine.lane_count : 1)));
    storage.written.resize(storage.bytes.size());
    if (!is_local) machine.cells[i].resize(memory.length);
    machine.memories[i] = {storage.bytes.data(), storage.written.data(), memory.length,
                           is_local ? bytes : 0, element_bytes,          is_local ? nullptr : machine.cells[i].data()};
  }
}

/// Index of a buffer binding among the buffers.
uint32_t buffer_ordinal(const kir::Interface& interface, uint32_t binding) {
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < binding; ++i) ordinal += interface.bindings[i].kind == kir::BindingKind::buffer;
  return ordinal;
}

Result<void> check_launch(const kir::Interface& interface, const Launch& launch) {
  const size_t bindings = interface.buffer_count() + (interface.scalar_count() != 0 ? 1 : 0);
  if (launch.bindings.size() != bindings || launch.words.size() != interface.launch_words()) {
    return internal_error(format("kernel \"{}\" is launched with {} bindings and {} words; its interface has {} and {}",
                                 interface.name, launch.bindings.size(), launch.words.size(), bindings,
                                 interface.launch_words()));
  }
  if (!std::has_single_bit(launch.subgroup_size) || launch.subgroup_size > 128) {
    return invalid_input(format("kernel \"{}\": a subgroup size of {} is not a power of two from 1 to 128",
                                interface.name, launch.subgroup_size));
  }
  return {};
}

void bind(Machine& machine) {
  const kir::Kernel& kernel = *machine.code->kernel;
  for (size_t i = 0; i < kernel.memories.size(); ++i) {
    const kir::Memory& memory = kernel.memories[i];
    if (memory.space != kir::MemorySpace::buffer) continue;
    machine.memories[i] = view_of(machine.launch->bindings[buffer_ordinal(kernel.interface, memory.binding)],
                                  kir::byte_size(memory.element));
  }
  if (kernel.interface.scalar_count() != 0) machine.arena = view_of(machine.launch->bindings.back(), 4);
}

/// Race records hold subgroups, so that another subgroup size starts them afresh.
void prepare_races(Machine& machine) {
  if (machine.races_subgroup_size == machine.launch->subgroup_size) return;
  machine.races_subgroup_size = machine.launch->subgroup_size;
  machine.races = RaceDetector(machine.lane_count, machine.launch->subgroup_size);
  for (auto& cells : machine.cells) std::ranges::fill(cells, RaceDetector::Cell{});
}

bool run_workgroup(Machine& machine) {
  machine.races.start_epoch();
  give_values(machine, machine.code->workgroup_values);
  for (Storage& storage : machine.private_storages) std::ranges::fill(storage.written, uint8_t{0});
  for (auto& [step, claim] : machine.device_claims) claim.next = 0;
  std::ranges::fill(machine.iterations, uint64_t{0});
  uint64_t* all = machine.mask(0);
  for (uint32_t w = 0; w < machine.mask_words; ++w) {
    const uint32_t rest = machine.lane_count - w * 64;
    all[w] = rest >= 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
  }
  return run_block(machine, 0);
}

}  // namespace

Lanes Machine::lanes(uint32_t mask_index) {
  Lanes lanes;
  lanes.words = mask(mask_index);
  for (uint32_t w = 0; w < mask_words; ++w) {
    const uint64_t bits = lanes.words[w];
    if (bits == 0) continue;
    if (lanes.count == 0) lanes.begin = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
    lanes.end = w * 64 + static_cast<uint32_t>(std::bit_width(bits));
    lanes.count += static_cast<uint32_t>(std::popcount(bits));
  }
  return lanes;
}

bool Machine::fault(const std::string& what) {
  error = invalid_input(format("kernel \"{}\": {}", kernel_name(), what));
  return false;
}

bool Machine::fault(uint32_t lane, const std::string& what) {
  const kir::Interface& interface = code->kernel->interface;
  std::array<uint32_t, 3> id = local_id(interface, lane);
  for (size_t d = 0; d < 3; ++d) id[d] += workgroup[d] * interface.workgroup_size[d];
  return fault(format("{} (invocation {}, {}, {})", what, id[0], id[1], id[2]));
}

struct PreparedKernel::State {
  Code code;
  Machine machine;
};

PreparedKernel::PreparedKernel(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedKernel::PreparedKernel(PreparedKernel&&) noexcept = default;
PreparedKernel& PreparedKernel::operator=(PreparedKernel&&) noexcept = default;
PreparedKernel::~PreparedKernel() = default;

Result<PreparedKernel> PreparedKernel::make(const kir::Kernel& kernel) {
  WAVEGATE_TRY(Code code, compile(kernel));
  try {
    auto state = std::make_unique<State>();
    state->code = std::move(code);
    state->machine.code = &state->code;
    allocate(state->machine);
    return PreparedKernel(std::move(state));
  } catch (const std::bad_alloc&) {
    return device_error(
        format("kernel \"{}\": the host has too little memory for the values of one workgroup; use a smaller "
               "workgroup or shorter local arrays",
               kernel.interface.name));
  }
}

Result<void> PreparedKernel::run(const Launch& launch) {
  Machine& machine = state_->machine;
  WAVEGATE_CHECK(check_launch(state_->code.kernel->interface, launch));
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return {};
  machine.launch = &launch;
  machine.steps = 0;
  const bool limited = launch.max_loop_iterations != std::numeric_limits<uint64_t>::max();
  machine.iterations.resize(limited ? machine.lane_count : 0);
  machine.error.reset();
  machine.device_claims.clear();
  bind(machine);
  prepare_races(machine);
  give_values(machine, state_->code.launch_values);
  auto& [x, y, z] = machine.workgroup;
  for (z = 0; z < launch.grid[2]; ++z)
    for (y = 0; y < launch.grid[1]; ++y)
      for (x = 0; x < launch.grid[0]; ++x)
        if (!run_workgroup(machine)) return *std::move(machine.error);
  return {};
}

Result<void> interpret(const kir::Kernel& kernel, const Launch& launch) {
  WAVEGATE_TRY(PreparedKernel prepared, PreparedKernel::make(kernel));
  return prepared.run(launch);
}

}  // namespace wavegate::device::reference
