#include "differential/compare.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "differential/random.h"
#include "differential/shrink.h"
#include "lowering/chunk_guards.h"
#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"

namespace wavegate::differential {
namespace {

Verdict different(std::string text) {
  return {Verdict::Kind::different, std::move(text), {}};
}

/// The first word that differs, by buffer.
std::string buffer_difference(const program::BufferInfo& info, const std::vector<std::byte>& expected,
                              const std::vector<std::byte>& got) {
  size_t differing = 0;
  std::optional<size_t> first;
  for (size_t i = 0; i < expected.size(); i += 4) {
    if (std::memcmp(expected.data() + i, got.data() + i, 4) == 0) continue;
    ++differing;
    if (!first) first = i;
  }
  if (!first) return {};
  uint32_t wanted = 0;
  uint32_t found = 0;
  std::memcpy(&wanted, expected.data() + *first, 4);
  std::memcpy(&found, got.data() + *first, 4);
  return format("buffer {}[{}] is {:#x}, not {:#x}; {} of {} elements differ", info.name, *first / 4, found, wanted,
                differing, expected.size() / 4);
}

/// The first difference between what a run left and what it should have left; empty if there is none.
Result<std::string> difference(const program::Program& program, const State& expected, Executable& executable) {
  for (uint32_t id = 0; id < program.buffers().size(); ++id) {
    std::vector<std::byte> bytes(expected.buffers[id].size());
    WAVEGATE_CHECK(executable.read_bytes(program::Buffer{id}, 0, bytes));
    std::string text = buffer_difference(program.buffers()[id], expected.buffers[id], bytes);
    if (!text.empty()) return text;
  }
  for (uint32_t id = 0; id < program.scalars().size(); ++id) {
    WAVEGATE_TRY(const uint32_t bits, executable.read_bits(program::Scalar{id}));
    if (bits != expected.scalars[id])
      return format("scalar {} is {:#x}, not {:#x}", program.scalars()[id].name, bits, expected.scalars[id]);
  }
  for (const program::While* loop : loops_of(program.body())) {
    WAVEGATE_TRY(const LoopReport report, executable.loop(loop->loop));
    const LoopState& wanted = expected.loops[loop->loop.id];
    const bool converged = report.reason == ExitReason::converged;
    if (report.trips != wanted.trips || converged != wanted.converged)
      return format("while \"{}\" reports {} trips and {}, not {} and {}", loop->label, report.trips,
                    converged ? "converged" : "bound", wanted.trips, wanted.converged ? "converged" : "bound");
  }
  return std::string();
}

Result<void> bind_externals(const program::Program& program, device::Device& device, Executable& executable) {
  for (uint32_t id = 0; id < program.buffers().size(); ++id) {
    if (!program.buffers()[id].external) continue;
    WAVEGATE_TRY(std::shared_ptr<device::Buffer> memory, device.allocate(program.buffers()[id].bytes()));
    WAVEGATE_CHECK(executable.bind(program::Buffer{id}, std::move(memory)));
  }
  return {};
}

Result<void> prepare(const Step& step, Executable& executable) {
  if (step.reset) WAVEGATE_CHECK(executable.reset());
  for (const Step::Setting& setting : step.settings) WAVEGATE_CHECK(executable.set(setting.parameter, setting.value));
  return {};
}

/// All steps; empty if nothing differs.
Result<std::string> run(const Case& one, const Expectation& expected, device::Device& device, Executable& executable) {
  constexpr double seconds = 120;  // a loop that does not end is a difference, too
  executable.set_time_limit(seconds);
  WAVEGATE_CHECK(bind_externals(one.program, device, executable));
  for (size_t i = 0; i < one.steps.size(); ++i) {
    WAVEGATE_CHECK(prepare(one.steps[i], executable));
    const Result<void> ran = executable.run();
    if (i == expected.states.size()) {
      const std::string& where = expected.failure->where;
      if (ran.ok()) return format("run {} succeeds, but must fail: {}", i, expected.failure->to_string());
      const std::string error = ran.error().to_string();
      const std::string label = where.substr(where.find('"'));
      return error.find(label) != std::string::npos ? std::string()
                                                    : format("run {} fails, but does not name {}: {}", i, where, error);
    }
    if (!ran.ok()) return format("run {} fails: {}", i, ran.error().to_string());
    WAVEGATE_TRY(const std::string found, difference(one.program, expected.states[i], executable));
    if (!found.empty()) return format("after run {}: {}", i, found);
  }
  return std::string();
}

}  // namespace

Verdict compare(const Case& one, const Expectation& expected, const Subject& subject) {
  const lowering::Options options = subject.is_mixed ? mixed_options(one, subject.device->profile()) : subject.options;
  Result<Executable> executable = compile(one.program, subject.device, options);
  if (!executable) {
    const Error& error = executable.error();
    if (error.kind == ErrorKind::unsupported) return {Verdict::Kind::refused, error.to_string(), {}};
    return different("does not compile: " + error.to_string());
  }
  const Result<std::string> found = run(one, expected, *subject.device, *executable);
  if (!found) return different(found.error().to_string());
  if (!found->empty()) return different(*found);
  Verdict verdict;
  for (const lowering::RegionReport& region : executable->plan().regions) verdict.strategies.insert(region.strategy);
  return verdict;
}

lowering::Options options_of(const Case& one) {
  lowering::Options options;
  options.costs = one.seed % 2 == 0 ? target::Costs() : target::Costs::of_cpu();
  return options;
}

lowering::Options mixed_options(const Case& one, const target::Profile& profile) {
  constexpr size_t most = 4;  // regions that are chosen for; the others are as by default
  Random random(one.seed ^ 0x5bd1e995u);
  lowering::Options options = options_of(one);
  for (const std::string& label : region_labels(one.program.body())) {
    if (options.region_strategies.size() == most) break;
    const auto rows = lowering::strategies();
    lowering::Options tried = options;
    tried.region_strategies[label] = rows[random.below(static_cast<uint32_t>(rows.size()))].strategy;
    if (lowering::lower(one.program, profile, tried)) options = std::move(tried);
  }
  return options;
}

std::vector<Subject> subjects_of(const Case& one, const std::shared_ptr<device::Device>& device) {
  const lowering::Options options = options_of(one);
  std::vector<Subject> subjects;
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    subjects.push_back({std::string(row.name), device, options});
    subjects.back().options.strategy = row.strategy;
  }
  for (const auto& [name, costs] : lowering::chunk_guards(*options.costs)) {
    subjects.push_back({name, device, options});
    subjects.back().options.strategy = lowering::Strategy::chunked;
    subjects.back().options.costs = costs;
  }
  subjects.push_back({"default", device, options});
  subjects.push_back({"default, host-free", device, options});
  subjects.back().options.host_free = true;
  subjects.push_back({"mixed", device, options, true});
  return subjects;
}

std::pair<const Subject*, Verdict> compare_one(const Case& one, const Expectation& expected,
                                               const std::vector<Subject>& subjects, Uses& uses) {
  std::vector<const Subject*> order;
  for (const Subject& subject : subjects) order.push_back(&subject);
  std::ranges::stable_sort(order, {}, [&](const Subject* subject) { return uses[subject->name]; });
  std::pair<const Subject*, Verdict> last = {};
  for (const Subject* subject : order) {
    last = {subject, compare(one, expected, *subject)};
    if (last.second.kind == Verdict::Kind::refused) continue;
    ++uses[subject->name];
    break;
  }
  return last;
}

}  // namespace wavegate::differential
