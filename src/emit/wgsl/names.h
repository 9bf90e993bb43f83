#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace wavegate::emit::wgsl {

/// Gives out identifiers of one module: each once, and none that WGSL or the emitter has another use for.
class Names {
 public:
  /// The label itself where it is a free identifier; else with its other characters as _, and _ behind it until it is
  /// free. `v` and digits are never free: so are values called.
  std::string claim(std::string_view label);

  /// The name will not be given out.
  void take(std::string_view name) { taken_.emplace(name); }

 private:
  std::unordered_set<std::string> taken_;
};

/// Whether WGSL has the word as a keyword, keeps it for later, or means something by it that the emitter writes.
bool is_reserved(std::string_view word);

}  // namespace wavegate::emit::wgsl
