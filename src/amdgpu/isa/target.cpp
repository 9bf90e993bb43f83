#include "wavegate/amdgpu/isa/target.h"

#include <algorithm>
#include <iterator>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::isa {

namespace {

constexpr std::uint32_t kKibibyte = 1024;
constexpr auto kUserSgprs = WorkgroupIds::user_sgprs;

// clang-format off
constexpr TargetInfo kTargets[] = {
    // target, name, generation, machine, wave32, packed ids, agprs, unified, flat scratch, ids, sgprs, lds
    {Target::gfx900,  "gfx900",  Generation::gfx9,  0x2c, false, false, false, false, false, kUserSgprs, 102, 64 * kKibibyte},
    {Target::gfx906,  "gfx906",  Generation::gfx9,  0x2f, false, false, false, false, false, kUserSgprs, 102, 64 * kKibibyte},
    {Target::gfx908,  "gfx908",  Generation::gfx9,  0x30, false, false, true,  false, false, kUserSgprs, 102, 64 * kKibibyte},
    {Target::gfx90a,  "gfx90a",  Generation::gfx9,  0x3f, false, true,  true,  true,  false, kUserSgprs, 102, 64 * kKibibyte},
    {Target::gfx942,  "gfx942",  Generation::gfx9,  0x4c, false, true,  true,  true,  true,  kUserSgprs, 102, 64 * kKibibyte},
    {Target::gfx1010, "gfx1010", Generation::gfx10, 0x33, true,  false, false, false, false, kUserSgprs, 106, 64 * kKibibyte},
    {Target::gfx1013, "gfx1013", Generation::gfx10, 0x42, true,  false, false, false, false, kUserSgprs, 106, 64 * kKibibyte},
    {Target::gfx1030, "gfx1030", Generation::gfx10, 0x36, true,  false, false, false, false, kUserSgprs, 106, 64 * kKibibyte},
    {Target::gfx1100, "gfx1100", Generation::gfx11, 0x41, true,  true,  false, false, true,  kUserSgprs, 106, 64 * kKibibyte},
    {Target::gfx1150, "gfx1150", Generation::gfx11, 0x43, true,  true,  false, false, true,  kUserSgprs, 106, 64 * kKibibyte},
    {Target::gfx1200, "gfx1200", Generation::gfx12, 0x48, true,  true,  false, false, true,  WorkgroupIds::ttmp, 106, 64 * kKibibyte},
};
// clang-format on
static_assert(std::size(kTargets) == kTargetCount);

struct Processor {
  std::string_view name;
  std::uint8_t elf_machine;
  Target target;
};

constexpr Processor kProcessors[] = {
    {"gfx900", 0x2c, Target::gfx900},   {"gfx902", 0x2d, Target::gfx900},   {"gfx909", 0x31, Target::gfx900},
    {"gfx90c", 0x32, Target::gfx900},   {"gfx906", 0x2f, Target::gfx906},   {"gfx908", 0x30, Target::gfx908},
    {"gfx90a", 0x3f, Target::gfx90a},   {"gfx942", 0x4c, Target::gfx942},   {"gfx1010", 0x33, Target::gfx1010},
    {"gfx1013", 0x42, Target::gfx1013}, {"gfx1030", 0x36, Target::gfx1030}, {"gfx1031", 0x37, Target::gfx1030},
    {"gfx1032", 0x38, Target::gfx1030}, {"gfx1033", 0x39, Target::gfx1030}, {"gfx1034", 0x3e, Target::gfx1030},
    {"gfx1035", 0x3d, Target::gfx1030}, {"gfx1036", 0x45, Target::gfx1030}, {"gfx1100", 0x41, Target::gfx1100},
    {"gfx1101", 0x46, Target::gfx1100}, {"gfx1102", 0x47, Target::gfx1100}, {"gfx1103", 0x44, Target::gfx1100},
    {"gfx1150", 0x43, Target::gfx1150}, {"gfx1151", 0x4a, Target::gfx1150}, {"gfx1152", 0x55, Target::gfx1150},
    {"gfx1200", 0x48, Target::gfx1200}, {"gfx1201", 0x4e, Target::gfx1200},
};

std::string names_of_targets() {
  std::string names;
  for (const TargetInfo& target : kTargets) names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}

/// Takes "xnack+" apart; false if it is no setting of a target id.
bool read_setting(std::string_view text, TargetId& id) {
  if (text.empty() || (text.back() != '+' && text.back() != '-')) return false;
  const Setting setting = text.back() == '+' ? Setting::on : Setting::off;
  text.remove_suffix(1);
  if (text != "xnack" && text != "sramecc") return false;
  (text == "xnack" ? id.xnack : id.sramecc) = setting;
  return true;
}

}  // namespace

const TargetInfo& info(Target target) {
  return kTargets[static_cast<std::size_t>(target)];
}

Result<TargetId> parse_target(std::string_view text) {
  std::string_view rest = text;
  constexpr std::string_view kTriple = "amdgcn-amd-amdhsa--";
  if (rest.starts_with(kTriple)) rest.remove_prefix(kTriple.size());
  const std::string_view name = rest.substr(0, rest.find(':'));
  const auto* const processor = std::find_if(std::begin(kProcessors), std::end(kProcessors),
                                             [&](const Processor& known) { return known.name == name; });
  if (processor == std::end(kProcessors))
    return unsupported(format("target \"{}\" has no decoder table; there are {}", text, names_of_targets()));
  TargetId id{processor->target, processor->name};
  rest.remove_prefix(name.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view setting = rest.substr(0, rest.find(':'));
    if (!read_setting(setting, id))
      return invalid_input(
          format("target \"{}\": \"{}\" is none of xnack+, xnack-, sramecc+, sramecc-", text, setting));
    rest.remove_prefix(setting.size());
  }
  return id;
}

std::optional<TargetId> find_target(std::uint8_t elf_machine) {
  const auto* const processor = std::find_if(std::begin(kProcessors), std::end(kProcessors),
                                             [&](const Processor& known) { return known.elf_machine == elf_machine; });
  if (processor == std::end(kProcessors)) return std::nullopt;
  return TargetId{processor->target, processor->name};
}

}  // namespace wavegate::amdgpu::isa
