#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/device/reference/machine.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;
using kir::Scope;

/// Values of a device-scoped claim that are remembered; a loop may make more, which are not compared.
constexpr size_t kRememberedClaims = size_t{1} << 16;

/// Calls `visit(first, last, active lanes of [first, last))` for every subgroup with an active lane until it
/// returns false.
template <typename Visit>
bool for_each_subgroup(const Machine& machine, const Lanes& lanes, Visit&& visit) {
  const uint32_t size = machine.launch->subgroup_size;
  std::vector<uint32_t> active;
  active.reserve(size);
  for (uint32_t first = lanes.begin / size * size; first < lanes.end; first += size) {
    const uint32_t last = std::min(first + size, machine.lane_count);
    active.clear();
    for (uint32_t lane = first; lane < last; ++lane)
      if (lanes.contains(lane)) active.push_back(lane);
    if (!active.empty() && !visit(first, last, active)) return false;
  }
  return true;
}

bool barrier(Machine& machine, const Step& step, const Lanes& lanes) {
  if (step.source->scope == Scope::subgroup) {
    return for_each_subgroup(machine, lanes, [&](uint32_t first, uint32_t last, const auto& active) {
      machine.races.start_subgroup_epoch(first);
      if (active.size() == last - first) return true;
      return machine.fault(active.front(), format("barrier of a subgroup is reached by {} of its {} invocations; move "
                                                  "it to control flow that the subgroup takes as a whole",
                                                  active.size(), last - first));
    });
  }
  machine.races.start_epoch();
  if (lanes.count == machine.lane_count) return true;
  return machine.fault(lanes.begin, format("barrier is reached by {} of the workgroup's {} invocations; move it to "
                                           "control flow that the workgroup takes as a whole",
                                           lanes.count, machine.lane_count));
}

bool differs(Machine& machine, const Step& step, uint32_t lane, uint64_t value, uint64_t expected, const char* where) {
  return machine.fault(lane, format("assume_uniform over the {} does not hold: the value has bits {:#x} here and "
                                    "{:#x} {}",
                                    kir::to_string(step.source->scope), value, expected, where));
}

bool claim_device(Machine& machine, const Step& step, uint32_t lane, uint64_t value) {
  DeviceClaim& claim = machine.device_claims[&step];
  const size_t instance = claim.next++;
  if (instance < claim.first.size()) {
    return value == claim.first[instance] ||
           differs(machine, step, lane, value, claim.first[instance], "in an earlier workgroup");
  }
  if (instance < kRememberedClaims) claim.first.push_back(value);
  return true;
}

bool assume_uniform(Machine& machine, const Step& step, const Lanes& lanes) {
  const uint64_t* value = machine.lanes_of(machine.code->operands(step)[0]);
  uint64_t* result = machine.lanes_of(machine.code->results(step)[0]);
  std::copy(value + lanes.begin, value + lanes.end, result + lanes.begin);
  if (step.source->scope == Scope::invocation) return true;
  if (step.source->scope == Scope::subgroup) {
    return for_each_subgroup(machine, lanes, [&](uint32_t, uint32_t, const auto& active) {
      const uint64_t expected = value[active.front()];
      return std::ranges::all_of(active, [&](uint32_t lane) {
        return value[lane] == expected ||
               differs(machine, step, lane, value[lane], expected, "in another invocation of the subgroup");
      });
    });
  }
  const uint64_t expected = value[lanes.begin];
  const bool equal = for_each_lane(lanes, [&](uint32_t lane) {
    return value[lane] == expected ||
           differs(machine, step, lane, value[lane], expected, "in another invocation of the workgroup");
  });
  return equal && (step.source->scope != Scope::device || claim_device(machine, step, lanes.begin, expected));
}

bool shuffle(Machine& machine, const Step& step, const Lanes& lanes) {
  const uint64_t* value = machine.lanes_of(machine.code->operands(step)[0]);
  const uint64_t* selector = machine.lanes_of(machine.code->operands(step)[1]);
  uint64_t* result = machine.lanes_of(machine.code->results(step)[0]);
  const uint32_t size = machine.launch->subgroup_size;
  return for_each_lane(lanes, [&](uint32_t lane) {
    const auto from =
        static_cast<uint32_t>(step.op == Op::subgroup_shuffle ? selector[lane] : (lane % size) ^ selector[lane]);
    const uint64_t source = uint64_t{lane / size} * size + from;
    if (from >= size || source >= machine.lane_count || !lanes.contains(static_cast<uint32_t>(source))) {
      return machine.fault(lane, format("{} reads lane {} of a subgroup of {}, which is inactive or outside; read only "
                                        "lanes that run the operation",
                                        kir::info(step.op).name, from, size));
    }
    result[lane] = value[source];
    return true;
  });
}

uint64_t combine(const Step& step, uint64_t a, uint64_t b) {
  uint64_t result = 0;
  step.function({&result, &a, &b, nullptr, 1, step.op, step.type, step.operand_type});
  return result;
}

/// The operations whose result is one value a subgroup, and exclusive_add.
void subgroup_value(Machine& machine, const Step& step, const std::vector<uint32_t>& active, uint32_t first) {
  const uint64_t* value = machine.lanes_of(machine.code->operands(step)[0]);
  const auto results = machine.code->results(step);
  uint64_t* result = machine.lanes_of(results[0]);
  const auto is_set = [&](uint32_t lane) { return value[lane] != 0; };
  uint64_t all = value[active.front()];
  switch (step.op) {
    case Op::subgroup_any: all = std::ranges::any_of(active, is_set); break;
    case Op::subgroup_all: all = std::ranges::all_of(active, is_set); break;
    case Op::subgroup_broadcast_first: break;
    case Op::subgroup_exclusive_add: {
      uint64_t sum = 0;
      for (uint32_t lane : active) {
        result[lane] = sum;
        sum = combine(step, sum, value[lane]);
      }
      return;
    }
    case Op::subgroup_ballot: {
      std::array<uint64_t, 4> words = {};
      for (uint32_t lane : active)
        if (is_set(lane)) words[(lane - first) / 32] |= uint64_t{1} << ((lane - first) % 32);
      for (uint32_t k = 0; k < results.size(); ++k)
        for (uint32_t lane : active) machine.lanes_of(results[k])[lane] = words[k];
      return;
    }
    default:
      for (size_t i = 1; i < active.size(); ++i) all = combine(step, all, value[active[i]]);
      break;
  }
  for (uint32_t lane : active) result[lane] = all;
}

}  // namespace

bool run_convergent_step(Machine& machine, const Step& step, const Lanes& lanes) {
  switch (step.op) {
    case Op::barrier: return barrier(machine, step, lanes);
    case Op::assume_uniform: return assume_uniform(machine, step, lanes);
    case Op::subgroup_shuffle:
    case Op::subgroup_shuffle_xor: return shuffle(machine, step, lanes);
    default:
      return for_each_subgroup(machine, lanes, [&](uint32_t first, uint32_t, const auto& active) {
        subgroup_value(machine, step, active, first);
        return true;
      });
  }
}

}  // namespace wavegate::device::reference
