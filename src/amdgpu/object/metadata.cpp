#include "wavegate/amdgpu/object/metadata.h"

#include <algorithm>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::size_t kMaximumDepth = 32;
/// A kernel takes twenty times its shortest note in memory; the largest libraries have some ten thousand in one object.
constexpr std::size_t kMostKernels = std::size_t{1} << 20;

constexpr std::array<std::string_view, static_cast<std::size_t>(ValueKind::unknown)> kKindNames = {
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_none",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_multigrid_sync_arg",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_grid_dims",
    "hidden_heap_v1",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
};
static_assert(kKindNames.back() == "hidden_queue_ptr", "a row for each kind");

template <typename T>
struct NumberKey {
  std::string_view key;
  std::uint32_t T::*member;
};
template <typename T>
struct TextKey {
  std::string_view key;
  std::string T::*member;
};

constexpr NumberKey<KernelMetadata> kKernelNumbers[] = {
    {".kernarg_segment_size", &KernelMetadata::kernarg_bytes},
    {".kernarg_segment_align", &KernelMetadata::kernarg_alignment},
    {".group_segment_fixed_size", &KernelMetadata::lds_bytes},
    {".private_segment_fixed_size", &KernelMetadata::scratch_bytes},
    {".wavefront_size", &KernelMetadata::wave_width},
    {".sgpr_count", &KernelMetadata::sgprs},
    {".vgpr_count", &KernelMetadata::vgprs},
    {".agpr_count", &KernelMetadata::agprs},
    {".sgpr_spill_count", &KernelMetadata::sgpr_spills},
    {".vgpr_spill_count", &KernelMetadata::vgpr_spills},
    {".max_flat_workgroup_size", &KernelMetadata::max_workgroup},
};
constexpr TextKey<KernelMetadata> kKernelTexts[] = {{".name", &KernelMetadata::name},
                                                    {".symbol", &KernelMetadata::symbol}};
constexpr NumberKey<Argument> kArgumentNumbers[] = {{".offset", &Argument::offset}, {".size", &Argument::size}};
constexpr TextKey<Argument> kArgumentTexts[] = {{".name", &Argument::name}, {".type_name", &Argument::type_name}};

/// Fills Metadata straight from the parser's events, so that nothing of the document is kept that nobody asked for.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return value(); }
  bool boolean(bool truth) override {
    if (place() == Place::kernel && key_ == ".uses_dynamic_stack") kernel().uses_dynamic_stack = truth;
    if (place() == Place::argument && key_ == ".is_const") argument().is_const = truth;
    return value();
  }
  bool number_unsigned(number_unsigned_t number) override { return take(number) && value(); }
  bool number_integer(number_integer_t number) override {
    return take(number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(number))) && value();
  }
  bool number_float(number_float_t, const string_t&) override { return take(std::nullopt) && value(); }
  bool binary(binary_t&) override { return value(); }
  bool string(string_t& text) override { return take(text) && value(); }

  bool key(string_t& text) override {
    key_ = std::move(text);
    return true;
  }

  bool start_object(std::size_t) override {
    switch (place()) {
      case Place::nothing: return open(Place::root);
      case Place::kernels:
        if (metadata_.kernels.size() == kMostKernels)
          return fail(format("tells of more than {} kernels", kMostKernels));
        metadata_.kernels.emplace_back();
        return open(Place::kernel);
      case Place::arguments:
        kernel().arguments.emplace_back();
        seen_ = {};
        return open(Place::argument);
      default: return open(Place::elsewhere);
    }
  }

  bool start_array(std::size_t) override {
    if (place() == Place::root && key_ == "amdhsa.kernels") return open(Place::kernels);
    if (place() == Place::kernel && key_ == ".args") return open(Place::arguments);
    if (place() == Place::kernel && key_ == ".reqd_workgroup_size") {
      extent_ = 0;
      return open(Place::extents);
    }
    if (place() == Place::nothing) return fail("is no map");
    return open(Place::elsewhere);
  }

  bool end_object() override {
    if (place() == Place::argument && !finish_argument()) return false;
    if (place() == Place::kernel && kernel().name.empty())
      return fail(format("kernel {} has no name", metadata_.kernels.size() - 1));
    return close();
  }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(format("is not MessagePack at byte {}", position));
  }

  Result<Metadata> finish() && {
    if (error_) return invalid_input(*std::move(error_), "metadata note");
    for (KernelMetadata& kernel : metadata_.kernels) std::ranges::stable_sort(kernel.arguments, {}, &Argument::offset);
    return std::move(metadata_);
  }

 private:
  /// Which container is being read. Of what is `elsewhere` nothing is kept.
  enum class Place : std::uint8_t { nothing, root, kernels, kernel, arguments, argument, extents, elsewhere };
  /// What an argument must say.
  struct Seen {
    bool offset = false, size = false, kind = false;
  };

  Place place() const { return open_.empty() ? Place::nothing : open_.back(); }
  KernelMetadata& kernel() { return metadata_.kernels.back(); }
  Argument& argument() { return kernel().arguments.back(); }

  bool fail(std::string message) {
    if (!error_) error_ = std::move(message);
    return false;
  }

  bool open(Place place) {
    if (open_.size() == kMaximumDepth) return fail(format("nests deeper than {} levels", kMaximumDepth));
    open_.push_back(place);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// After a value that is no container: the document is a map.
  bool value() { return place() != Place::nothing || fail("is no map"); }

  /// A number, or nothing for one that no key takes: a negative one or a fraction.
  bool take(std::optional<std::uint64_t> number) {
    if (place() == Place::extents) {
      if (extent_ == 3) return fail(".reqd_workgroup_size has more than three sizes");
      return store(number, kernel().required_workgroup[extent_++], ".reqd_workgroup_size");
    }
    if (place() == Place::kernel) {
      for (const auto& row : kKernelNumbers)
        if (row.key == key_) return store(number, kernel().*row.member, row.key);
      return true;
    }
    if (place() != Place::argument) return true;
    seen_.offset |= key_ == ".offset";
    seen_.size |= key_ == ".size";
    for (const auto& row : kArgumentNumbers)
      if (row.key == key_) return store(number, argument().*row.member, row.key);
    return true;
  }

  bool store(std::optional<std::uint64_t> number, std::uint32_t& into, std::string_view key) {
    if (!number || *number > std::numeric_limits<std::uint32_t>::max())
      return fail(format("{} of kernel {} is no number of 32 bits", key, metadata_.kernels.size() - 1));
    into = static_cast<std::uint32_t>(*number);
    return true;
  }

  bool take(std::string& text) {
    if (place() == Place::root && key_ == "amdhsa.target") {
      metadata_.target = std::move(text);
      return true;
    }
    if (place() == Place::kernel) return store(text, kernel(), kKernelTexts);
    if (place() != Place::argument) return true;
    if (key_ == ".value_kind") {
      seen_.kind = true;
      argument().kind = value_kind_of(text);
      if (argument().kind == ValueKind::unknown) argument().kind_name = std::move(text);
      return true;
    }
    return store(text, argument(), kArgumentTexts);
  }

  template <typename T, std::size_t count>
  bool store(std::string& text, T& into, const TextKey<T> (&rows)[count]) {
    const auto row = std::ranges::find(rows, key_, &TextKey<T>::key);
    if (row != std::end(rows)) into.*(row->member) = std::move(text);
    return true;
  }

  bool finish_argument() {
    // Without these an argument has no place; demanding them also keeps what is made of a file near its size.
    for (const auto& [seen, key] :
         {std::pair(seen_.offset, ".offset"), {seen_.size, ".size"}, {seen_.kind, ".value_kind"}})
      if (!seen)
        return fail(format("argument {} of kernel {} has no {}", kernel().arguments.size() - 1,
                           metadata_.kernels.size() - 1, key));
    return true;
  }

  Metadata metadata_;
  std::vector<Place> open_;
  std::string key_;
  Seen seen_;
  std::size_t extent_ = 0;
  std::optional<std::string> error_;
};

}  // namespace

std::string_view to_string(ValueKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kKindNames.size() ? kKindNames[index] : "unknown";
}

ValueKind value_kind_of(std::string_view name) {
  return static_cast<ValueKind>(std::ranges::find(kKindNames, name) - kKindNames.begin());
}

bool is_hidden(ValueKind kind) {
  return to_string(kind).starts_with("hidden_");
}

Result<Metadata> parse_metadata(Bytes note) {
  try {
    Reader reader;
    const auto* begin = reinterpret_cast<const std::uint8_t*>(note.data());
    nlohmann::json::sax_parse(begin, begin + note.size(), &reader, nlohmann::json::input_format_t::msgpack, false);
    return std::move(reader).finish();
  } catch (const std::bad_alloc&) {
    return device_error("the metadata does not fit into this machine's memory");
  }
}

}  // namespace wavegate::amdgpu::object
