// wavegate-differential: random programs by the thousand, each by every strategy, against what the program means.
//
//   wavegate-differential --seed 1000 --count 20000 --device reference --device vulkan
//
// Prints a line of progress a second and how many programs each way of running met. The first difference ends it with
// its seed, the program made as small as it goes, and exit status 1.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "device/small_devices.h"
#include "differential/compare.h"
#include "differential/print.h"
#include "differential/shrink.h"
#include "lowering/chunk_guards.h"
#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"

namespace wavegate::differential {
namespace {

struct Arguments {
  uint64_t seed = 1;
  uint64_t count = 1000;
  std::vector<std::string> devices = {"reference", "vulkan"};
  std::vector<std::string> ways;  ///< of all_ways(); none: all
  Size size;
  bool in_turn = false;     ///< each program by one way alone, that which had fewest
  bool keep_going = false;  ///< names every difference in a line, and shrinks none
  bool reasons = false;     ///< says why programs were refused
  bool print = false;       ///< the programs, instead of running them
};

/// How one way of running on one device did.
struct Tally {
  uint64_t same = 0, refused = 0, different = 0;
  std::map<std::string, uint64_t> reasons;  ///< why, without names and numbers, and how often
};

struct Totals {
  std::map<std::string, Tally> ways;  ///< by device and way
  uint64_t programs = 0, iterate = 0;
};

/// A message without what differs from program to program: quoted names and numbers.
std::string general(const std::string& message) {
  std::string result;
  bool quoted = false;
  for (const char c : message) {
    if (c == '"') quoted = !quoted;
    if (quoted && c != '"') continue;
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      result += c;
    else if (result.empty() || result.back() != '#')
      result += '#';
  }
  return result;
}

/// Says all that is needed to find the fault again.
void report(const Case& one, Subject subject) {
  const target::Profile& profile = subject.device->profile();
  if (std::exchange(subject.is_mixed, false)) subject.options = mixed_options(one, profile);
  // A region that is gone cannot be asked for.
  const auto subject_of = [&](const Case& smaller) {
    const std::vector<std::string> labels = region_labels(smaller.program.body());
    Subject same = subject;
    std::erase_if(same.options.region_strategies,
                  [&](const auto& region) { return std::ranges::find(labels, region.first) == labels.end(); });
    return same;
  };
  const auto verdict_of = [&](const Case& smaller) -> Verdict {
    const Result<Expectation> expected = expect(smaller, profile);
    return expected ? compare(smaller, *expected, subject_of(smaller)) : Verdict{};
  };
  const Case small = shrink(
      one, [&](const Case& smaller) { return verdict_of(smaller).kind == Verdict::Kind::different; }, 3000);
  fmt::print("made small, {} runs:\n{}", small.steps.size(), print(small.program));
  for (const auto& [label, strategy] : subject_of(small).options.region_strategies)
    fmt::print("region \"{}\": {}\n", label, to_string(strategy));
  fmt::print("{}\n", verdict_of(small).text);
}

void progress(const Totals& totals, const Arguments& arguments, bool is_last) {
  fmt::print(stderr, "\r{} of {} programs, {} % iterate{}", totals.programs, arguments.count,
             totals.programs == 0 ? 0 : totals.iterate * 100 / totals.programs, is_last ? "\n" : "");
  std::fflush(stderr);
}

Result<bool> run(const Arguments& arguments) {
  std::map<std::string, std::shared_ptr<device::Device>> devices;
  for (const std::string& name : arguments.devices) {
    devices[name] = device::small_device(name);
    if (devices[name] != nullptr) continue;
    WAVEGATE_TRY(devices[name], open_device(name));
  }
  Totals totals;
  std::map<std::string, Uses> uses;  ///< by device
  bool agrees = true;
  // Counts what came of it; false: it is time to stop.
  const auto judge = [&](const Case& one, const Subject& subject, const Verdict& verdict, const std::string& device) {
    Tally& tally = totals.ways[format("{}, {}", device, subject.name)];
    switch (verdict.kind) {
      case Verdict::Kind::same: ++tally.same; return true;
      case Verdict::Kind::refused:
        ++tally.refused;
        ++tally.reasons[general(verdict.text)];
        return true;
      case Verdict::Kind::different: break;
    }
    ++tally.different;
    agrees = false;
    fmt::print("seed {}: {} on {}: {}\n", one.seed, subject.name, device, verdict.text);
    std::fflush(stdout);
    if (arguments.keep_going) return true;
    report(one, subject);
    return false;
  };
  auto shown = std::chrono::steady_clock::now();
  for (uint64_t seed = arguments.seed; seed < arguments.seed + arguments.count; ++seed) {
    const Case one = generate(seed, arguments.size);
    bool counted = false;
    for (const auto& [name, device] : devices) {
      WAVEGATE_TRY(const Expectation expected, expect(one, device->profile()));
      if (!counted) totals.iterate += expected.statistics.most_trips >= 2 ? 1 : 0;
      counted = true;
      std::vector<Subject> subjects = subjects_of(one, device);
      if (!arguments.ways.empty())
        std::erase_if(subjects, [&](const Subject& subject) {
          return std::ranges::find(arguments.ways, subject.name) == arguments.ways.end();
        });
      if (arguments.in_turn) {
        const auto [subject, verdict] = compare_one(one, expected, subjects, uses[name]);
        if (!judge(one, *subject, verdict, name)) return false;
      } else {
        for (const Subject& subject : subjects)
          if (!judge(one, subject, compare(one, expected, subject), name)) return false;
      }
    }
    ++totals.programs;
    if (const auto now = std::chrono::steady_clock::now(); now - shown > std::chrono::seconds(1)) {
      shown = now;
      progress(totals, arguments, false);
    }
  }
  progress(totals, arguments, true);
  for (const auto& [way, tally] : totals.ways) {
    fmt::print("{:<40} {:>7} the same, {:>7} refused, {:>7} different\n", way, tally.same, tally.refused,
               tally.different);
    if (arguments.reasons)
      for (const auto& [reason, times] : tally.reasons) fmt::print("{:>8} x {}\n", times, reason);
  }
  fmt::print("seeds {} to {}: {} programs, {} of which iterate twice or more; {}\n", arguments.seed,
             arguments.seed + arguments.count - 1, totals.programs, totals.iterate,
             agrees ? "no difference" : "there are differences");
  return agrees;
}

std::vector<std::string> all_ways() {
  std::vector<std::string> names = {"default", "default, host-free", "mixed"};
  for (const auto& [name, costs] : lowering::chunk_guards({})) names.push_back(name);
  for (const lowering::StrategyInfo& row : lowering::strategies()) names.emplace_back(row.name);
  return names;
}

int main_with(int count, char** words) {
  Arguments arguments;
  CLI::App app{"Random programs by every strategy against what they mean"};
  app.add_option("--seed", arguments.seed, "The first seed")->capture_default_str();
  app.add_option("--count", arguments.count, "How many programs")->capture_default_str();
  app.add_option("--device", arguments.devices, "Devices, by name; few_launch_words and the like are small ones")
      ->capture_default_str();
  app.add_option("--strategy", arguments.ways, "Strategies, or the default, or a mixture; all if none is given")
      ->check(CLI::IsMember(all_ways()));
  app.add_option("--depth", arguments.size.depth, "Of nested control flow")->capture_default_str();
  app.add_option("--commands", arguments.size.spelled_commands, "Commands of a program spelled out, about")
      ->capture_default_str();
  app.add_option("--iterations", arguments.size.nested_iterations, "Product of the bounds of nested loops")
      ->capture_default_str();
  app.add_option("--elements", arguments.size.most_elements, "Of the largest buffer")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  app.add_flag("--in-turn", arguments.in_turn, "Run each program one way alone, that which had fewest programs so far");
  app.add_flag("--keep-going", arguments.keep_going,
               "Name every difference in a line instead of stopping at the first");
  app.add_flag("--reasons", arguments.reasons, "Say at the end why programs were refused");
  app.add_flag("--print", arguments.print, "Print the programs and run none");
  CLI11_PARSE(app, count, words);
  if (arguments.print) {
    for (uint64_t seed = arguments.seed; seed < arguments.seed + arguments.count; ++seed)
      fmt::print("{}\n", print(generate(seed, arguments.size).program));
    return 0;
  }
  const Result<bool> agrees = run(arguments);
  if (!agrees) {
    fmt::print(stderr, "{}\n", agrees.error().to_string());
    return 2;
  }
  return *agrees ? 0 : 1;
}

}  // namespace
}  // namespace wavegate::differential

int main(int count, char** words) {
  return wavegate::differential::main_with(count, words);
}
