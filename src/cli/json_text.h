#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace wavegate::cli {

/// The document, indented, with a line feed at its end. NaN and infinities become null, and bytes that are no UTF-8
/// the replacement character, so that the text is JSON whatever the input was.
inline std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace wavegate::cli
