#include "wavegate/cli/launch_file.h"

#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/file.h"
#include "wavegate/io/json.h"

namespace wavegate::cli {
namespace {

using io::JsonView;

constexpr std::uint64_t kLargestSize = 0xffffffff;

/// 1000, or [100, 10, 1].
Result<std::array<std::uint32_t, 3>> sizes_of(const JsonView& view) {
  constexpr std::string_view kWhat = "a size in work-items";
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  if (view.value().is_number()) {
    WAVEGATE_TRY(const std::uint64_t size, view.whole(kWhat, 1, kLargestSize));
    sizes[0] = static_cast<std::uint32_t>(size);
    return sizes;
  }
  WAVEGATE_TRY(const std::vector<JsonView> items, view.items());
  if (items.empty() || items.size() > 3) return view.error(format("has {} sizes; expected one to three", items.size()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    WAVEGATE_TRY(const std::uint64_t size, items[i].whole(kWhat, 1, kLargestSize));
    sizes[i] = static_cast<std::uint32_t>(size);
  }
  return sizes;
}

Result<void> add_launch(EmulationJob& job, const JsonView& view, const Paths& paths) {
  WAVEGATE_CHECK(view.check_keys({"kernel", "threads", "group", "lds", "args"}));
  EmulatedLaunch launch;
  WAVEGATE_TRY(const JsonView kernel, view.at("kernel"));
  WAVEGATE_TRY(launch.launch.kernel, kernel.text());
  WAVEGATE_TRY(const JsonView threads, view.at("threads"));
  WAVEGATE_TRY(launch.launch.threads, sizes_of(threads));
  WAVEGATE_TRY(const JsonView group, view.at("group"));
  WAVEGATE_TRY(launch.launch.group, sizes_of(group));
  if (const auto lds = view.find("lds")) {
    WAVEGATE_TRY(const std::uint64_t bytes, lds->whole("bytes of LDS", 0, 1 << 20));
    launch.launch.dynamic_lds = static_cast<std::uint32_t>(bytes);
  }
  if (const auto arguments = view.find("args")) {
    WAVEGATE_TRY(const auto members, arguments->members());
    for (const auto& [name, member] : members) {
      WAVEGATE_TRY(const std::string text, member.text());
      const auto added = add_argument(job, launch, name, text, paths);
      if (!added.ok()) return arguments->error(added.error());
    }
  }
  job.launches.push_back(std::move(launch));
  return {};
}

Result<EmulationJob> read_job(const JsonView& view, const Paths& paths) {
  WAVEGATE_CHECK(view.check_keys({"buffers", "launches"}));
  EmulationJob job;
  if (const auto buffers = view.find("buffers")) {
    WAVEGATE_TRY(const auto members, buffers->members());
    for (const auto& [name, member] : members) {
      WAVEGATE_TRY(const std::string text, member.text());
      const auto added = add_buffer(job, name, text, paths);
      if (!added.ok()) return member.error(added.error());
    }
  }
  WAVEGATE_TRY(const JsonView launches, view.at("launches"));
  WAVEGATE_TRY(const std::vector<JsonView> items, launches.items());
  if (items.empty()) return launches.error("has no launch");
  for (const JsonView& item : items) WAVEGATE_CHECK(add_launch(job, item, paths));
  return job;
}

}  // namespace

Result<EmulationJob> load_launch_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaximumBytes = 1 << 24;
  WAVEGATE_TRY(const std::vector<std::byte> bytes, io::read_file(path, kMaximumBytes));
  const std::string place = path.string();
  WAVEGATE_TRY(const io::JsonValue json, within(place, io::parse_json(io::as_text(bytes))));
  return within(place, read_job(JsonView(json, ""), {path.parent_path(), true}));
}

}  // namespace wavegate::cli
