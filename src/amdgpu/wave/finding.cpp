#include "wavegate/amdgpu/wave/finding.h"

#include <algorithm>
#include <tuple>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/amdgpu/object/functions.h"
#include "wavegate/amdgpu/object/source_lines.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read: return "out-of-bounds read";
    case FindingKind::out_of_bounds_write: return "out-of-bounds write";
    case FindingKind::misaligned_atomic: return "misaligned atomic";
    case FindingKind::uninitialised_register: return "uninitialised register";
    case FindingKind::lds_race: return "LDS race";
    case FindingKind::global_race: return "global race";
    case FindingKind::unwatched_accesses: return "unwatched accesses";
  }
  return "";
}

std::string_view to_string(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::atomic: return "atomic";
    case AccessKind::atomic_read: return "atomic read";
  }
  return "";
}

std::string to_string(const CodePlace& place) {
  return place.function.empty() ? format("{:#x}", place.offset) : format("{}+{:#x}", place.function, place.offset);
}

namespace {

std::string with_source(const CodePlace& place, const std::string& instruction) {
  return place.file.empty() ? instruction : format("{}; {}:{}", instruction, place.file, place.line);
}

std::string text_of_race(const Finding& finding) {
  const Finding::OtherAccess& other = *finding.other;
  return format("{} after the {} at {} ({}) of wave {}", to_string(finding.access), to_string(other.kind),
                to_string(static_cast<const CodePlace&>(other)), with_source(other, other.instruction), other.wave);
}

/// The names of what an object holds.
struct Names {
  std::vector<object::Function> functions;
  object::SourceLines lines;

  explicit Names(const object::CodeObject& object) : functions(object::find_functions(object)) {
    // Lines that cannot be read are no reason to keep findings back.
    if (auto parsed = object::SourceLines::parse(object.elf); parsed.ok()) lines = *std::move(parsed);
  }
};

/// Fills in what names a place; its address is known.
void locate(CodePlace& place, const Names& names, const object::Kernel& launched) {
  const auto& functions = names.functions;
  const auto after = std::ranges::upper_bound(functions, place.code_address, {}, &object::Function::address);
  const bool inside =
      after != functions.begin() && place.code_address - std::prev(after)->address < std::prev(after)->code.size();
  if (inside && std::prev(after)->kernel != &launched) place.function = std::prev(after)->name;
  if (!inside) place.function = "(code)";
  place.offset = place.code_address - (inside ? std::prev(after)->address : 0);
  if (auto source = names.lines.find(place.code_address)) {
    place.file = std::move(source->file);
    place.line = source->line;
  }
}

}  // namespace

std::string to_string(const Finding& finding) {
  return format("{} at {} ({}): group {},{},{} wave {} lane {}, {}{:#x}{}{}{}", to_string(finding.kind),
                to_string(static_cast<const CodePlace&>(finding)), with_source(finding, finding.instruction),
                finding.workgroup[0], finding.workgroup[1], finding.workgroup[2], finding.wave, finding.lane,
                finding.kind == FindingKind::uninitialised_register ? "number " : "address ", finding.address,
                finding.detail.empty() ? "" : ", ", finding.detail,
                finding.occurrences > 1 ? format("; {} times", finding.occurrences) : "");
}

void Findings::add(Finding finding) {
  const std::lock_guard lock(mutex_);
  for (Finding& known : findings_) {
    if (known.kind != finding.kind || known.code_address != finding.code_address) continue;
    ++known.occurrences;
    return;
  }
  if (findings_.size() < kMaximum) findings_.push_back(std::move(finding));
}

CodePlace find_place(const object::CodeObject& object, const object::Kernel& launched, std::uint64_t code_address) {
  CodePlace place;
  place.code_address = code_address;
  locate(place, Names(object), launched);
  return place;
}

std::vector<Finding> Findings::located(const object::CodeObject& object, const object::Kernel& launched) const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> all = findings_;
  if (all.empty()) return all;
  const Names names(object);
  for (Finding& finding : all) {
    locate(finding, names, launched);
    if (!finding.other) continue;
    locate(*finding.other, names, launched);
    finding.detail = text_of_race(finding);
  }
  std::ranges::sort(all, {}, [](const Finding& finding) { return std::tuple(finding.code_address, finding.kind); });
  return all;
}

}  // namespace wavegate::amdgpu::wave
