#include "wavegate/amdgpu/object/yaml_metadata.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::size_t kMaximumDepth = 32;
/// A kernel's shortest entry is some ten bytes, and takes twenty times that in memory. This is room for
/// thousands of kernels as compilers write them, and for a hundred MiB of what is made of them.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

template <typename T>
struct NumberKey {
  std::string_view key;
  std::uint32_t T::*member;
};

constexpr NumberKey<KernelMetadata> kKernelNumbers[] = {
    {"KernargSegmentSize", &KernelMetadata::kernarg_bytes},
    {"KernargSegmentAlign", &KernelMetadata::kernarg_alignment},
    {"GroupSegmentFixedSize", &KernelMetadata::lds_bytes},
    {"PrivateSegmentFixedSize", &KernelMetadata::scratch_bytes},
    {"WavefrontSize", &KernelMetadata::wave_width},
    {"NumSGPRs", &KernelMetadata::sgprs},
    {"NumVGPRs", &KernelMetadata::vgprs},
    {"NumSpilledSGPRs", &KernelMetadata::sgpr_spills},
    {"NumSpilledVGPRs", &KernelMetadata::vgpr_spills},
    {"MaxFlatWorkGroupSize", &KernelMetadata::max_workgroup},
};

/// "GlobalBuffer" as version 3 spells it: "global_buffer".
std::string later_spelling(std::string_view kind) {
  if (kind == "HiddenMultiGridSyncArg") return "hidden_multigrid_sync_arg";
  std::string name;
  for (const char letter : kind) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    if (upper && !name.empty()) name += '_';
    name += upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return name;
}

/// The parser, and the event that it stands at; both are the library's to free.
class Events {
 public:
  explicit Events(Bytes text) : is_ready_(yaml_parser_initialize(&parser_) != 0) {
    if (!is_ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    forget();
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  /// The next event, valid until the one after it; nullptr where the text is no YAML.
  const yaml_event_t* next() {
    forget();
    has_event_ = is_ready_ && yaml_parser_parse(&parser_, &event_) != 0;
    return has_event_ ? &event_ : nullptr;
  }
  std::size_t line() const { return parser_.problem_mark.line + 1; }

 private:
  void forget() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool is_ready_;
  bool has_event_ = false;
};

class Reader {
 public:
  Result<Metadata> read(Bytes text) {
    Events events(text);
    while (const yaml_event_t* const event = events.next()) {
      if (event->type == YAML_STREAM_END_EVENT) return std::move(metadata_);
      WAVEGATE_CHECK(take(*event));
    }
    return invalid_input(format("is not YAML at line {}", events.line()));
  }

 private:
  /// Which container is being read. Of what is `elsewhere` nothing is kept.
  enum class Place : std::uint8_t {
    root,
    kernels,
    kernel,
    properties,
    attributes,
    extents,
    arguments,
    argument,
    elsewhere
  };
  struct Open {
    Place place;
    bool is_map;
    std::optional<std::string> key = {};  ///< Of a map, while its value is awaited.
  };

  Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_ALIAS_EVENT: return invalid_input("has an alias, which no compiler writes");
      case YAML_SCALAR_EVENT:
        return scalar({reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length});
      case YAML_MAPPING_START_EVENT: return open(true);
      case YAML_SEQUENCE_START_EVENT: return open(false);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT: return close();
      default: return {};
    }
  }

  KernelMetadata& kernel() { return metadata_.kernels.back(); }
  std::string_view key() const { return open_.back().key ? std::string_view(*open_.back().key) : std::string_view(); }

  /// The place of a container that starts here.
  Place place_of(bool is_map) const {
    if (open_.empty()) return is_map ? Place::root : Place::elsewhere;
    switch (open_.back().place) {
      case Place::root: return !is_map && key() == "Kernels" ? Place::kernels : Place::elsewhere;
      case Place::kernels: return is_map ? Place::kernel : Place::elsewhere;
      case Place::kernel:
        if (!is_map) return key() == "Args" ? Place::arguments : Place::elsewhere;
        return key() == "CodeProps" ? Place::properties : key() == "Attrs" ? Place::attributes : Place::elsewhere;
      case Place::attributes: return !is_map && key() == "ReqdWorkGroupSize" ? Place::extents : Place::elsewhere;
      case Place::arguments: return is_map ? Place::argument : Place::elsewhere;
      default: return Place::elsewhere;
    }
  }

  Result<void> open(bool is_map) {
    if (open_.size() == kMaximumDepth) return invalid_input(format("nests deeper than {} levels", kMaximumDepth));
    if (!open_.empty() && open_.back().is_map && !open_.back().key) return invalid_input("has a key that is no text");
    const Place place = place_of(is_map);
    open_.push_back({place, is_map});
    if (place == Place::kernel) {
      metadata_.kernels.emplace_back();
      end_ = 0;
    }
    if (place == Place::extents) extent_ = 0;
    if (place == Place::argument) {
      argument_ = {};
      alignment_ = 0;
    }
    return {};
  }

  Result<void> close() {
    const Place place = open_.back().place;
    open_.pop_back();
    if (!open_.empty()) open_.back().key.reset();
    if (place == Place::argument) return finish_argument();
    if (place == Place::kernel && kernel().name.empty())
      return invalid_input(format("kernel {} has no name", metadata_.kernels.size() - 1));
    return {};
  }

  Result<void> scalar(std::string_view text) {
    if (open_.empty()) return invalid_input("is no map");
    Open& here = open_.back();
    if (here.is_map && !here.key) {
      here.key = text;
      return {};
    }
    WAVEGATE_CHECK(value(here.place, text));
    here.key.reset();
    return {};
  }

  Result<void> value(Place place, std::string_view text) {
    switch (place) {
      case Place::kernel:
        if (key() == "Name") kernel().name = text;
        if (key() == "SymbolName") kernel().symbol = text;
        return {};
      case Place::properties:
        if (key() == "IsDynamicCallStack") kernel().uses_dynamic_stack = text == "true";
        for (const auto& row : kKernelNumbers)
          if (row.key == key()) return store(text, kernel().*row.member);
        return {};
      case Place::extents:
        if (extent_ == 3) return invalid_input("ReqdWorkGroupSize has more than three sizes");
        return store(text, kernel().required_workgroup[extent_++]);
      case Place::argument: return argument_value(text);
      default: return {};
    }
  }

  Result<void> argument_value(std::string_view text) {
    if (key() == "Name") argument_.name = text;
    if (key() == "TypeName") argument_.type_name = text;
    if (key() == "IsConst") argument_.is_const = text == "true";
    if (key() == "Size") return store(text, argument_.size);
    if (key() == "Align") return store(text, alignment_);
    if (key() != "ValueKind") return {};
    argument_.kind = value_kind_of(later_spelling(text));
    argument_.kind_name = argument_.kind == ValueKind::unknown ? text : std::string_view();
    return {};
  }

  Result<void> store(std::string_view text, std::uint32_t& into) const {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (fault == std::errc() && end == text.data() + text.size()) return {};
    return invalid_input(format("{} of kernel {} is no number of 32 bits", key().empty() ? "ReqdWorkGroupSize" : key(),
                                metadata_.kernels.size() - 1));
  }

  Result<void> finish_argument() {
    const auto fault = [&](std::string_view what) {
      return invalid_input(
          format("argument {} of kernel {} {}", kernel().arguments.size(), metadata_.kernels.size() - 1, what));
    };
    if (argument_.size == 0 || alignment_ == 0) return fault("has no Size or no Align");
    const std::uint64_t offset = (end_ + alignment_ - 1) / alignment_ * alignment_;
    if (offset + argument_.size > std::numeric_limits<std::uint32_t>::max()) return fault("lies beyond 4 GiB");
    argument_.offset = static_cast<std::uint32_t>(offset);
    end_ = offset + argument_.size;
    kernel().arguments.push_back(std::move(argument_));
    return {};
  }

  Metadata metadata_;
  std::vector<Open> open_;
  Argument argument_;
  std::uint32_t alignment_ = 0;
  std::uint64_t end_ = 0;  ///< Of the last argument.
  std::size_t extent_ = 0;
};

}  // namespace

Result<Metadata> parse_yaml_metadata(Bytes note) {
  constexpr std::string_view kWhere = "metadata note";
  if (note.size() > kMostBytes)
    return unsupported(format("has {} bytes of YAML; at most {} are read", note.size(), kMostBytes),
                       std::string(kWhere));
  // The note may end with zeros, which are no YAML.
  const auto end = std::ranges::find(note, std::byte{0});
  return within(kWhere, Reader().read(note.first(static_cast<std::size_t>(end - note.begin()))));
}

}  // namespace wavegate::amdgpu::object
