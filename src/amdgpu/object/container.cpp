#include "wavegate/amdgpu/object/container.h"

#include <utility>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/amdgpu/object/elf.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::string_view kFatBinary = ".hip_fatbin";
using Visitor = std::function<Result<void>(const FoundObject&)>;

class Walk {
 public:
  Walk(const Visitor& visit, const ContainerLimits& limits) : visit_(visit), limits_(limits) {}

  Result<void> visit_bundles(Bytes bytes) {
    BundleFinder finder(bytes);
    std::size_t position = 0;
    while (const auto start = finder.next(position)) {
      const Bytes rest = bytes.subspan(*start);
      WAVEGATE_TRY(const std::uint64_t size, is_bundle(rest) ? visit_plain(rest, nullptr) : visit_packed(rest));
      position = *start + static_cast<std::size_t>(size);
      ++bundles_;
    }
    return {};
  }

  std::uint64_t bundles() const { return bundles_; }

 private:
  std::string place() const { return format("bundle {}", bundles_); }

  Result<std::uint64_t> visit_packed(Bytes bytes) {
    WAVEGATE_TRY(const CompressedBundle packed, within(place(), parse_compressed_bundle(bytes)));
    if (packed.unpacked_size > limits_.maximum_unpacked - unpacked_)
      return invalid_input(
          format("the compressed bundles up to this one unpack to more than {} bytes", limits_.maximum_unpacked),
          place());
    unpacked_ += packed.unpacked_size;
    WAVEGATE_TRY(std::vector<std::byte> unpacked, within(place(), unpack(packed, limits_.maximum_bundle)));
    const auto storage = std::make_shared<const std::vector<std::byte>>(std::move(unpacked));
    WAVEGATE_CHECK(visit_plain(*storage, storage));
    return packed.size;
  }

  Result<std::uint64_t> visit_plain(Bytes bytes, const std::shared_ptr<const std::vector<std::byte>>& storage) {
    WAVEGATE_TRY(const Bundle bundle, within(place(), parse_bundle(bytes)));
    for (const BundleEntry& entry : bundle.entries) {
      if (entry.content.empty() || entry.id.find("amdgcn") == std::string_view::npos) continue;
      WAVEGATE_CHECK(visit_({format("{}, {}", place(), entry.id), std::string(entry.id), entry.content, storage}));
    }
    return bundle.size;
  }

  const Visitor& visit_;
  ContainerLimits limits_;
  std::uint64_t unpacked_ = 0;  ///< As headers claim, which is never less than what is unpacked.
  std::uint64_t bundles_ = 0;
};

}  // namespace

bool is_container(Bytes file) {
  return is_elf(file) || is_bundle(file) || is_compressed_bundle(file);
}

Result<void> visit_code_objects(Bytes file, const Visitor& visit, const ContainerLimits& limits) {
  if (is_code_object(file)) return visit({{}, {}, file, nullptr});
  Walk walk(visit, limits);
  if (is_bundle(file) || is_compressed_bundle(file)) return walk.visit_bundles(file);
  if (!is_elf(file))
    return invalid_input(
        "is neither an AMD code object nor an offload bundle nor a program or library that holds one; a raw shader "
        "needs a "
        "JSON file beside it");
  WAVEGATE_TRY(const Elf elf, parse_elf(file));
  std::uint64_t visited = 0;  // sections of a hostile file may overlap, so that all are read together
  for (const Section& section : elf.sections) {
    if (section.name != kFatBinary) continue;
    visited += section.content.size();
    if (visited > file.size()) return invalid_input("its sections \".hip_fatbin\" overlap");
    WAVEGATE_CHECK(walk.visit_bundles(section.content));
  }
  if (walk.bundles() == 0)
    return invalid_input("holds no AMD code: it has no section \".hip_fatbin\" with an offload bundle");
  return {};
}

}  // namespace wavegate::amdgpu::object
