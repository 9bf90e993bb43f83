#include "wavegate/amdgpu/wave/emulate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "wavegate/amdgpu/object/launch.h"
#include "wavegate/amdgpu/object/registers.h"
#include "wavegate/amdgpu/wave/check.h"
#include "wavegate/amdgpu/wave/program.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Sizes = std::array<u32, 3>;

/// All that is known of a launch before its first wave.
struct Plan {
  const object::Kernel* kernel = nullptr;
  isa::Target target{};
  isa::WaveWidth width{};
  object::LaunchState state;
  object::Registers registers;
  Launch launch;
  Sizes groups{};  ///< partial ones included
  u64 group_count = 0;
  u32 waves_per_group = 0;
  u32 lds_bytes = 0;
  u64 scratch_bytes = 0;   ///< of a lane
  u64 scratch = 0;         ///< address of all slots' scratch memory
  u64 scratch_memory = 0;  ///< its bytes
  u64 arguments = 0;       ///< address
  u64 packet = 0;          ///< address
  std::vector<u32> argument_words;
};

u64 volume(const Sizes& sizes) {
  return u64{sizes[0]} * sizes[1] * sizes[2];
}

Result<void> check_sizes(const Plan& plan) {
  const Launch& launch = plan.launch;
  for (unsigned i = 0; i < 3; ++i) {
    if (launch.threads[i] == 0 || launch.group[i] == 0)
      return invalid_input(format("kernel \"{}\": sizes of grid and group must not be 0", launch.kernel));
    if (plan.kernel->required_workgroup[i] != 0 && plan.kernel->required_workgroup[i] != launch.group[i])
      return invalid_input(format("kernel \"{}\" requires groups of {}x{}x{} work-items", launch.kernel,
                                  plan.kernel->required_workgroup[0], plan.kernel->required_workgroup[1],
                                  plan.kernel->required_workgroup[2]));
  }
  const u64 size = volume(launch.group);
  const u64 most = plan.kernel->max_workgroup != 0 ? std::min<u64>(plan.kernel->max_workgroup, 1024) : 1024;
  if (size > most)
    return invalid_input(format("kernel \"{}\": a group of {} work-items exceeds its {}", launch.kernel, size, most));
  return {};
}

/// The values that a launcher fills in.
u64 hidden_value(const Plan& plan, object::ValueKind kind) {
  using enum object::ValueKind;
  const Launch& launch = plan.launch;
  const auto index = [&](object::ValueKind first) {
    return static_cast<unsigned>(kind) - static_cast<unsigned>(first);
  };
  switch (kind) {
    case hidden_block_count_x:
    case hidden_block_count_y:
    case hidden_block_count_z:
      return launch.threads[index(hidden_block_count_x)] / launch.group[index(hidden_block_count_x)];
    case hidden_group_size_x:
    case hidden_group_size_y:
    case hidden_group_size_z: return launch.group[index(hidden_group_size_x)];
    case hidden_remainder_x:
    case hidden_remainder_y:
    case hidden_remainder_z: return launch.threads[index(hidden_remainder_x)] % launch.group[index(hidden_remainder_x)];
    case hidden_grid_dims: return launch.threads[2] > 1 ? 3 : launch.threads[1] > 1 ? 2 : 1;
    case hidden_dynamic_lds_size: return launch.dynamic_lds;
    case hidden_private_base: return kPrivateAperture;
    case hidden_shared_base: return kSharedAperture;
    default: return 0;
  }
}

void put(std::vector<std::byte>& bytes, std::size_t offset, u64 value, std::size_t size) {
  if (offset <= bytes.size() && size <= bytes.size() - offset)
    std::memcpy(bytes.data() + offset, &value, std::min<std::size_t>(size, 8));
}

/// With room behind it, since compilers widen loads of the last arguments.
std::vector<std::byte> argument_segment(const Plan& plan) {
  constexpr std::size_t kWidestLoad = 64;
  std::vector<std::byte> bytes(kWidestLoad +
                               std::max<std::size_t>({plan.kernel->kernarg_bytes, plan.kernel->descriptor.kernarg_bytes,
                                                      plan.launch.arguments.size()}));
  std::ranges::copy(plan.launch.arguments, bytes.begin());
  for (const object::Argument& argument : plan.kernel->arguments)
    if (object::is_hidden(argument.kind)) put(bytes, argument.offset, hidden_value(plan, argument.kind), argument.size);
  return bytes;
}

/// The AQL packet that starts a kernel: many read the sizes of grid and group from it.
std::vector<std::byte> dispatch_packet(const Plan& plan) {
  std::vector<std::byte> bytes(64);
  const Launch& launch = plan.launch;
  put(bytes, 0, 2, 2);
  put(bytes, 2, hidden_value(plan, object::ValueKind::hidden_grid_dims), 2);
  for (std::size_t i = 0; i < 3; ++i) {
    put(bytes, 4 + 2 * i, launch.group[i], 2);
    put(bytes, 12 + 4 * i, launch.threads[i], 4);
  }
  put(bytes, 24, plan.scratch_bytes, 4);
  put(bytes, 28, plan.lds_bytes, 4);
  put(bytes, 40, plan.arguments, 8);
  return bytes;
}

Result<u64> place(GuestMemory& memory, const std::vector<std::byte>& bytes, std::string name) {
  WAVEGATE_TRY(const u64 address, memory.allocate(bytes.size(), std::move(name)));
  std::memcpy(memory.at(address, bytes.size()).data(), bytes.data(), bytes.size());
  return address;
}

Result<Plan> make_plan(const Module& module, GuestMemory& memory, const Launch& launch, unsigned workers) {
  Plan plan;
  plan.launch = launch;
  WAVEGATE_TRY(plan.kernel, module.kernel(launch.kernel));
  WAVEGATE_TRY(const isa::TargetId id, isa::parse_target(module.object().target.processor));
  plan.target = id.target;
  plan.width = plan.kernel->wave_width == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  if (!isa::has_wave_width(plan.target, plan.width))
    return invalid_input(format("kernel \"{}\": {} has no wave32", launch.kernel, isa::to_string(plan.target)));
  WAVEGATE_CHECK(check_sizes(plan));
  WAVEGATE_TRY(plan.state, object::launch_state(plan.kernel->descriptor, plan.target, plan.width));
  plan.registers = object::decode_registers(plan.kernel->descriptor, plan.target, plan.width);
  for (unsigned i = 0; i < 3; ++i) plan.groups[i] = (launch.threads[i] - 1) / launch.group[i] + 1;
  plan.group_count = volume(plan.groups);
  plan.waves_per_group = static_cast<u32>((volume(launch.group) - 1) / isa::lanes(plan.width) + 1);

  const u64 lds = u64{std::max(plan.kernel->descriptor.lds_bytes, plan.kernel->lds_bytes)} + launch.dynamic_lds;
  if (lds > isa::info(plan.target).lds_bytes)
    return invalid_input(format("kernel \"{}\": {} bytes of LDS exceed the target's {}", launch.kernel, lds,
                                isa::info(plan.target).lds_bytes));
  plan.lds_bytes = static_cast<u32>(lds);

  // What a dynamic stack takes is not told.
  constexpr u64 kDynamicStack = 16384;
  plan.scratch_bytes = std::max(plan.kernel->descriptor.scratch_bytes, plan.kernel->scratch_bytes);
  if (plan.kernel->uses_dynamic_stack || plan.kernel->descriptor.dynamic_stack) plan.scratch_bytes += kDynamicStack;
  plan.scratch_bytes = (plan.scratch_bytes + 3) / 4 * 4;
  if (plan.scratch_bytes != 0) {
    plan.scratch_memory = plan.scratch_bytes * isa::lanes(plan.width) * plan.waves_per_group * workers;
    WAVEGATE_TRY(plan.scratch, memory.allocate(plan.scratch_memory, "scratch"));
  }
  const std::vector<std::byte> arguments = argument_segment(plan);
  plan.argument_words.resize(arguments.size() / 4);
  std::memcpy(plan.argument_words.data(), arguments.data(), plan.argument_words.size() * 4);
  WAVEGATE_TRY(plan.arguments, place(memory, arguments, "arguments"));
  WAVEGATE_TRY(plan.packet, place(memory, dispatch_packet(plan), "dispatch packet"));
  return plan;
}

// ---------------------------------------------------------------- waves

using Scalars = decltype(Wave::scalars);

void set_sgprs(Scalars& scalars, const object::SgprRange& range, std::initializer_list<u32> values) {
  u32 index = range.first;
  for (const u32 value : values)
    if (index < range.first + range.count && index < scalar::kVcc) scalars[index++] = value;
}

void set_user_sgprs(Scalars& scalars, const Plan& plan) {
  using enum object::UserSgpr;
  const auto low = [](u64 value) { return static_cast<u32>(value); };
  const auto high = [](u64 value) { return static_cast<u32>(value >> 32); };
  const auto set = [&](object::UserSgpr value, std::initializer_list<u32> words) {
    if (const auto& range = plan.state[value]) set_sgprs(scalars, *range, words);
  };
  // Scratch as a buffer: dwords of lanes interleaved, the lane's number added.
  const u32 index_stride = plan.width == isa::WaveWidth::wave32 ? 2 : 3;
  // From gfx10 on the descriptor says how bounds are checked: 3, by bytes.
  const u32 bounds = isa::info(plan.target).generation >= isa::Generation::gfx10 ? 3u << 28 : 0;
  set(private_segment_buffer, {low(plan.scratch), (high(plan.scratch) & 0xffffu) | 1u << 31, ~0u,
                               bounds | 1u << 23 | index_stride << 21 | 1u << 19});
  set(dispatch_pointer, {low(plan.packet), high(plan.packet)});
  set(kernarg_pointer, {low(plan.arguments), high(plan.arguments)});
  set(flat_scratch_init, {low(plan.scratch), high(plan.scratch)});
  set(private_segment_size, {low(plan.scratch_bytes)});
  for (u32 i = 0; i < plan.state.preloaded.count; ++i) {
    const u32 word = plan.state.preload_offset + i, index = plan.state.preloaded.first + i;
    if (word < plan.argument_words.size() && index < scalar::kVcc) scalars[index] = plan.argument_words[word];
  }
}

/// Those that differ between the waves of a group and not between groups.
void set_wave_sgprs(Scalars& scalars, const Plan& plan, u32 number, u64 scratch_offset) {
  if (plan.state.workgroup_ids == isa::WorkgroupIds::ttmp) scalars[scalar::kTtmp + 8] = number << 25;
  if (const auto index = plan.state.workgroup_info; index && *index < scalar::kVcc)
    scalars[*index] = plan.waves_per_group;
  if (const auto index = plan.state.scratch_offset; index && *index < scalar::kVcc)
    scalars[*index] = static_cast<u32>(scratch_offset);
}

void set_group_sgprs(Scalars& scalars, const Plan& plan, const Workgroup& group) {
  if (plan.state.workgroup_ids == isa::WorkgroupIds::ttmp) {
    scalars[scalar::kTtmp + 9] = group.id[0];
    scalars[scalar::kTtmp + 7] = (group.id[1] & 0xffffu) | group.id[2] << 16;
  }
  for (unsigned i = 0; i < 3; ++i)
    if (const auto index = plan.state.workgroup_id[i]; index && *index < scalar::kVcc) scalars[*index] = group.id[i];
}

Mode initial_mode(const Plan& plan) {
  const object::FloatMode& mode = plan.registers.float_mode;
  Mode word;
  word.word = static_cast<u32>(mode.round_f32) | static_cast<u32>(mode.round_f16_f64) << 2 |
              static_cast<u32>(mode.denorm_f32) << 4 | static_cast<u32>(mode.denorm_f16_f64) << 6 |
              (mode.dx10_clamp.value_or(true) ? 1u << 8 : 0u) | (mode.ieee.value_or(true) ? 1u << 9 : 0u);
  return word;
}

/// What a wave starts with, but for its group's number.
struct Start {
  Scalars scalars{};
  std::array<Row, 3> ids{};  ///< v0 to v2
  LaneMask exec = 0;
  u64 scratch_offset = 0;
};

/// The waves of one workgroup after another, on one host thread.
class Worker {
 public:
  Worker(Machine& machine, const Plan& plan, const Options& options, const Step* entry, unsigned slot)
      : machine_(machine),
        plan_(plan),
        options_(options),
        entry_(entry),
        slot_(slot),
        log_(options.maximum_checked_words),
        waves_(plan.waves_per_group) {
    group_.machine = &machine;
    group_.lds.resize(plan.lds_bytes);
    if (options.check) group_.shadow = &log_;
  }

  /// Registers of the waves; before the first group.
  Result<void> allocate() {
    for (Wave& wave : waves_) {
      WAVEGATE_TRY(wave.vectors, allocate_rows());
      if (options_.check) wave.written = std::make_unique<Wave::Written>();
    }
    return {};
  }

  /// Runs a group to its end; false after an error, which is then `error`.
  bool run_group(u64 number) {
    start_group(number);
    while (group_.alive != 0) {
      bool progress = false;
      for (u32 i = 0; i < started_; ++i) {
        Wave& wave = waves_[i];
        if (wave.status == Status::ended || machine_.stop.load(std::memory_order_relaxed)) continue;
        if (wave.status == Status::waiting && wave.awaited_phase == group_.barrier_phase) continue;
        if (options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed))
          return fail(device_error(format("kernel \"{}\": the launch was cancelled", machine_.kernel)));
        progress = true;
        run_wave(wave);
        if (wave.status == Status::failed) return fail(*wave.error);
      }
      if (machine_.stop.load(std::memory_order_relaxed)) return false;
      if (!progress)
        return fail(
            invalid_input(format("kernel \"{}\": group {},{},{}: every wave waits at a barrier that not all reach",
                                 machine_.kernel, group_.id[0], group_.id[1], group_.id[2])));
    }
    log_.end_group();
    return true;
  }

  const std::optional<Error>& error() const { return error_; }
  const std::optional<Finding>& unwatched_accesses() const { return log_.unwatched(); }
  u64 instructions = 0, lane_instructions = 0, waves_run = 0;

 private:
  bool fail(Error error) {
    error_ = std::move(error);
    machine_.stop = true;
    return false;
  }

  void start_group(u64 number) {
    const Sizes& groups = plan_.groups;
    group_.number = number;
    group_.id = {static_cast<u32>(number % groups[0]), static_cast<u32>(number / groups[0] % groups[1]),
                 static_cast<u32>(number / groups[0] / groups[1])};
    std::ranges::fill(group_.lds, std::byte{0});
    log_.start_group();
    group_.arrived = 0;
    group_.barrier_phase = 0;
    Sizes size;
    for (unsigned i = 0; i < 3; ++i)
      size[i] = std::min(plan_.launch.group[i], plan_.launch.threads[i] - group_.id[i] * plan_.launch.group[i]);
    const u32 items = static_cast<u32>(volume(size));
    started_ = (items - 1) / isa::lanes(plan_.width) + 1;
    group_.alive = started_;
    prepare(size, items);
    for (u32 i = 0; i < started_; ++i) start_wave(i);
    waves_run += started_;
  }

  /// What every wave of a group of this size starts with. Most groups of a launch have one size.
  void prepare(const Sizes& size, u32 items) {
    if (size == prepared_) return;
    prepared_ = size;
    starts_.assign(started_, {});
    const u32 lanes = isa::lanes(plan_.width);
    for (u32 number = 0; number < started_; ++number) {
      Start& start = starts_[number];
      const u32 first = number * lanes, count = std::min(lanes, items - first);
      start.exec = mask_of(count);
      start.scratch_offset = (u64{slot_} * plan_.waves_per_group + number) * plan_.scratch_bytes * lanes;
      set_user_sgprs(start.scalars, plan_);
      set_wave_sgprs(start.scalars, plan_, number, start.scratch_offset);
      // Work-items are numbered along x first.
      for (u32 lane = 0; lane < count; ++lane) {
        const u32 item = first + lane;
        const auto ids =
            object::initial_vgprs(plan_.state, {item % size[0], item / size[0] % size[1], item / size[0] / size[1]});
        for (unsigned i = 0; i < 3; ++i) start.ids[i].lane[lane] = ids[i];
      }
    }
  }

  void start_wave(u32 number) {
    Wave& wave = waves_[number];
    const Start& start = starts_[number];
    wave.scalars = start.scalars;
    wave.scc = 0;
    wave.mode = mode_;
    wave.lanes = isa::lanes(plan_.width);
    wave.full = mask_of(wave.lanes);
    wave.pc = entry_;
    wave.group = &group_;
    wave.machine = &machine_;
    wave.number = number;
    wave.status = Status::running;
    wave.awaited_phase.reset();
    wave.instructions = wave.lane_instructions = 0;
    wave.scratch_bytes = plan_.scratch_bytes;
    wave.scratch_base = plan_.scratch + start.scratch_offset;
    set_group_sgprs(wave.scalars, plan_, group_);
    wave.set_mask(scalar::kExec, start.exec);
    const std::size_t used = wave.lanes * sizeof(u32);
    for (unsigned i = 0; i < start.ids.size(); ++i) std::memcpy(wave.row(i)->lane, start.ids[i].lane, used);
    const auto clear = [&](unsigned from, unsigned to) {
      for (unsigned i = from; i < to; ++i) std::memset(wave.row(i)->lane, 0, used);
    };
    clear(3, std::clamp<u32>(plan_.registers.vgprs, 3, 256));
    if (has_accumulation_) clear(vector::kAccumulation, vector::kAccumulation + 256);
    if (wave.written) note_start(wave);
  }

  /// What a launch writes counts as written.
  void note_start(Wave& wave) {
    *wave.written = {};
    const unsigned rows = plan_.state.packed_work_item_ids ? 1 : plan_.state.work_item_dimensions;
    for (unsigned i = 0; i < rows; ++i) wave.written->rows[i] = ~LaneMask{0};
    for (unsigned i = 0; i < plan_.state.user_sgprs + 5u && i < scalar::kVcc; ++i) wave.written->scalars[i] = true;
    for (unsigned i = scalar::kTtmp; i < scalar::kCount; ++i) wave.written->scalars[i] = true;
  }

  void run_wave(Wave& wave) {
    wave.status = Status::running;
    const Step* step = wave.pc;
    const bool watched = wave.written != nullptr || options_.observe;
    const u64 before = wave.instructions, lanes_before = wave.lane_instructions;
    // A wave that spins on what another is to write must let it run.
    constexpr u64 kSlice = 1 << 20;
    const u64 limit = std::min(wave.instructions + kSlice, plan_limit());
    while (step != nullptr && wave.instructions < limit) {
      ++wave.instructions;
      step = watched ? run_watched(wave, *step) : step->run(wave, *step);
    }
    instructions += wave.instructions - before;
    lane_instructions += wave.lane_instructions - lanes_before;
    if (wave.status == Status::ended) {
      --group_.alive;
      group_.open_if_all();
    } else if (step != nullptr) {
      wave.pc = step;
      if (wave.instructions >= machine_.maximum_instructions)
        wave.fail(
            invalid_input(format("kernel \"{}\": wave {} of group {},{},{} has run {} instructions without an end, at "
                                 "offset {}; raise --max-instructions if it should",
                                 machine_.kernel, wave.number, group_.id[0], group_.id[1], group_.id[2],
                                 wave.instructions, place_text(wave, *step))));
    } else if (wave.status == Status::running) {
      wave.fail(internal_error(format("kernel \"{}\": an instruction has nothing behind it", machine_.kernel)));
    }
  }

  u64 plan_limit() const { return machine_.maximum_instructions; }

  const Step* run_watched(Wave& wave, const Step& step) {
    if (wave.written) check_sources(wave, step);
    const LaneMask exec = wave.exec();
    const Step* const next = step.run(wave, step);
    if (wave.written) note_results(wave, step, exec);
    if (options_.observe) options_.observe(wave, step);
    return next;
  }

  Machine& machine_;
  const Plan& plan_;
  const Options& options_;
  const Step* entry_;
  unsigned slot_;
  u32 started_ = 0;
  Workgroup group_;
  AccessLog log_;
  std::vector<Wave> waves_;
  Sizes prepared_{};  ///< the size of groups that `starts_` is for
  std::vector<Start> starts_;
  const Mode mode_ = initial_mode(plan_);
  const bool has_accumulation_ = isa::info(plan_.target).accumulation_vgprs && plan_.kernel->agprs != 0;
  std::optional<Error> error_;
};

/// Rounding and denormals of MODE are the host's while an operation runs (float_scope.h), which is written for x86-64.
bool host_suffices() {
#if !defined(__x86_64__)
  return false;
#elif defined(WAVEGATE_WAVE_AVX2)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

}  // namespace

Result<Report> run(const Module& module, GuestMemory& memory, const Launch& launch, const Options& options) {
  if (!host_suffices()) return unsupported("the interpreter of AMD waves needs an x86-64 processor with AVX2 and FMA");
  const auto start = std::chrono::steady_clock::now();
  const unsigned wanted = options.host_threads != 0 ? std::min(options.host_threads, 256u)
                                                    : std::max(1u, std::thread::hardware_concurrency());
  const unsigned threads = options.check || options.observe ? 1 : wanted;
  WAVEGATE_TRY(const Plan plan, make_plan(module, memory, launch, threads));
  Findings findings;
  Program program(module.image(), plan.target, plan.width);
  Machine machine;
  machine.memory = &memory;
  machine.program = &program;
  machine.target = plan.target;
  machine.generation = isa::info(plan.target).generation;
  machine.kernel = launch.kernel;
  machine.code_base = module.image().address_of(plan.kernel->entry);
  machine.object = &module.object();
  machine.launched = plan.kernel;
  machine.image_base = module.image().base;
  machine.scratch = plan.scratch;
  machine.scratch_bytes = plan.scratch_memory;
  machine.maximum_instructions = options.maximum_instructions;
  machine.findings = &findings;
  const Step* const entry = program.at(machine.code_base + plan.state.entry_skip);
  if (entry == nullptr)
    return invalid_input(format("kernel \"{}\": its entry {:#x} is no code", launch.kernel, plan.kernel->entry));

  std::atomic<u64> next_group{0};
  std::vector<std::unique_ptr<Worker>> workers;
  const unsigned count = static_cast<unsigned>(std::min<u64>(threads, plan.group_count));
  for (unsigned i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(machine, plan, options, entry, i));
    WAVEGATE_CHECK(workers.back()->allocate());
  }
  const auto work = [&](Worker& worker) {
    for (u64 group = next_group++; group < plan.group_count && !machine.stop.load(std::memory_order_relaxed);
         group = next_group++)
      if (!worker.run_group(group)) return;
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < count; ++i) helpers.emplace_back([&, i] { work(*workers[i]); });
    work(*workers[0]);
  }
  Report report;
  report.workgroups = plan.group_count;
  for (const auto& worker : workers) {
    if (worker->error()) return *worker->error();
    report.waves += worker->waves_run;
    report.instructions += worker->instructions;
    report.lane_instructions += worker->lane_instructions;
    if (const std::optional<Finding>& unwatched = worker->unwatched_accesses()) {
      report.unwatched_accesses += unwatched->occurrences;
      findings.add(*unwatched);
    }
  }
  report.findings = findings.located(module.object(), *plan.kernel);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace wavegate::amdgpu::wave
