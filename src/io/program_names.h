#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/io/text.h"
#include "wavegate/program/operation.h"
#include "wavegate/program/program.h"

namespace wavegate::io {

/// The keys of a map.
template <typename Map>
std::vector<std::string_view> keys_of(const Map& map) {
  std::vector<std::string_view> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

/// What a string of the document refers to in a map; the error names the nearest. `what` says what was sought.
template <typename Map>
Result<typename Map::const_iterator> look_up(const JsonView& view, const Map& map, std::string_view what) {
  WAVEGATE_TRY(const std::string name, view.text());
  const auto found = map.find(name);
  if (found != map.end()) return found;
  return view.error(format("there is no {} {}{}", what, quote(name), suggestion(name, keys_of(map))));
}

/// Checks that a name has letters, digits and _, and no digit first.
Result<void> check_name(std::string_view name, const JsonView& view);

/// What a program file has declared: what its commands may refer to. Buffers, scalars, launch parameters, matrices,
/// iteration indices and histories share one space of names, kernels and operations have each their own.
struct ProgramNames {
  std::map<std::string, program::Operand, std::less<>> values;  ///< never a Literal
  std::map<std::string, std::shared_ptr<const program::KernelSource>, std::less<>> kernels;
  const program::OperationTable* operations = nullptr;

  /// The text of `view`: the name of something new.
  Result<std::string> new_name(const JsonView& view) const;
  /// Enters a value; an error at `view` if this is no name, or that of another.
  Result<void> declare(std::string_view name, const JsonView& view, program::Operand value);
};

}  // namespace wavegate::io
