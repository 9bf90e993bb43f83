#include "wavegate/amdgpu/object/code_target.h"

#include <algorithm>
#include <array>
#include <utility>

namespace wavegate::amdgpu::object {
namespace {

struct MachineRow {
  std::uint8_t number;
  std::string_view processor;
};

/// EF_AMDGPU_MACH, the low byte of e_flags (LLVM's AMDGPUUsage, "AMDGPU Architecture Identification").
constexpr MachineRow kMachines[] = {
    {0x20, "gfx600"},         {0x21, "gfx601"},       {0x22, "gfx700"},          {0x23, "gfx701"},
    {0x24, "gfx702"},         {0x25, "gfx703"},       {0x26, "gfx704"},          {0x28, "gfx801"},
    {0x29, "gfx802"},         {0x2a, "gfx803"},       {0x2b, "gfx810"},          {0x2c, "gfx900"},
    {0x2d, "gfx902"},         {0x2e, "gfx904"},       {0x2f, "gfx906"},          {0x30, "gfx908"},
    {0x31, "gfx909"},         {0x32, "gfx90c"},       {0x33, "gfx1010"},         {0x34, "gfx1011"},
    {0x35, "gfx1012"},        {0x36, "gfx1030"},      {0x37, "gfx1031"},         {0x38, "gfx1032"},
    {0x39, "gfx1033"},        {0x3a, "gfx602"},       {0x3b, "gfx705"},          {0x3c, "gfx805"},
    {0x3d, "gfx1035"},        {0x3e, "gfx1034"},      {0x3f, "gfx90a"},          {0x40, "gfx940"},
    {0x41, "gfx1100"},        {0x42, "gfx1013"},      {0x43, "gfx1150"},         {0x44, "gfx1103"},
    {0x45, "gfx1036"},        {0x46, "gfx1101"},      {0x47, "gfx1102"},         {0x48, "gfx1200"},
    {0x4a, "gfx1151"},        {0x4b, "gfx941"},       {0x4c, "gfx942"},          {0x4e, "gfx1201"},
    {0x4f, "gfx950"},         {0x51, "gfx9-generic"}, {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
    {0x54, "gfx11-generic"},  {0x55, "gfx1152"},      {0x58, "gfx1153"},         {0x59, "gfx12-generic"},
    {0x5f, "gfx9-4-generic"},
};

/// Generic code keeps to what all processors of a family have, so that the decoder of any serves.
constexpr std::pair<std::string_view, isa::Target> kGeneric[] = {
    {"gfx9-generic", isa::Target::gfx900},     {"gfx9-4-generic", isa::Target::gfx942},
    {"gfx10-1-generic", isa::Target::gfx1010}, {"gfx10-3-generic", isa::Target::gfx1030},
    {"gfx11-generic", isa::Target::gfx1100},   {"gfx12-generic", isa::Target::gfx1200},
};

/// Version 4 and later have two bits for each feature, those before one.
Setting setting_of(std::uint32_t bits) {
  constexpr std::array<Setting, 4> kSettings = {Setting::any, Setting::any, Setting::off, Setting::on};
  return kSettings[bits & 3];
}

std::string_view suffix(Setting feature) {
  constexpr std::array<std::string_view, 3> kSuffixes = {"", "-", "+"};
  return kSuffixes[static_cast<std::size_t>(feature)];
}

bool is_processor(std::string_view text) {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz-";
  return text.starts_with("gfx") && text.size() > 3 && text.size() < 32 &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

bool agree(Setting code, Setting wanted) {
  return code == Setting::any || wanted == Setting::any || code == wanted;
}

}  // namespace

std::string CodeTarget::to_string() const {
  std::string text = processor;
  if (sramecc != Setting::any) text.append(":sramecc").append(suffix(sramecc));
  if (xnack != Setting::any) text.append(":xnack").append(suffix(xnack));
  return text;
}

Result<isa::Target> CodeTarget::decoder() const {
  for (const auto& [name, target] : kGeneric)
    if (name == processor) return target;
  WAVEGATE_TRY(const isa::TargetId known, isa::parse_target(processor));
  return known.target;
}

std::optional<CodeTarget> parse_code_target(std::string_view text) {
  // A triple is four words between hyphens, and a processor's name may hold hyphens itself.
  if (const std::size_t triple = text.find("amdgcn-"); triple != std::string_view::npos) {
    const std::size_t start = text.find("gfx", triple);
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
  }
  std::size_t end = std::min(text.find(':'), text.size());
  if (!is_processor(text.substr(0, end))) return std::nullopt;
  CodeTarget target{std::string(text.substr(0, end))};
  while (end < text.size()) {
    text.remove_prefix(end + 1);
    end = std::min(text.find(':'), text.size());
    const std::string_view feature = text.substr(0, end);
    if (!feature.ends_with('+') && !feature.ends_with('-')) return std::nullopt;
    const Setting value = feature.ends_with('+') ? Setting::on : Setting::off;
    const std::string_view name = feature.substr(0, feature.size() - 1);
    if (name == "xnack") {
      target.xnack = value;
    } else if (name == "sramecc" || name == "sram-ecc") {
      target.sramecc = value;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

bool matches(const CodeTarget& code, const CodeTarget& wanted) {
  return code.processor == wanted.processor && agree(code.xnack, wanted.xnack) && agree(code.sramecc, wanted.sramecc);
}

std::optional<CodeTarget> target_of_flags(std::uint32_t flags, std::uint32_t code_object_version) {
  const auto row = std::ranges::find(kMachines, static_cast<std::uint8_t>(flags & 0xff), &MachineRow::number);
  if (row == std::end(kMachines)) return std::nullopt;
  CodeTarget target{std::string(row->processor)};
  if (code_object_version >= 4) {
    target.xnack = setting_of(flags >> 8);
    target.sramecc = setting_of(flags >> 10);
  } else {
    if ((flags & 0x100) != 0) target.xnack = Setting::on;
    if ((flags & 0x200) != 0) target.sramecc = Setting::on;
  }
  return target;
}

}  // namespace wavegate::amdgpu::object
