#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Small contents that outlive the process, by name: files in the user's cache directory, or a page's local storage.
/// They only save time, so that what cannot be kept or read counts as not there.
namespace wavegate {

void keep(const std::string& name, std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> read_kept(const std::string& name);

}  // namespace wavegate
