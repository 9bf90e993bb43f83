#include "wavegate/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace wavegate {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_input: return "invalid input";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::device: return "device error";
    case ErrorKind::internal: return "internal error (a bug in Wavegate; please report it)";
  }
  return "error";
}

std::string Error::to_string() const {
  std::string text(wavegate::to_string(kind));
  text += ": ";
  if (!where.empty()) {
    text += where;
    text += ": ";
  }
  return text + message;
}

Error Error::within(std::string_view place) const {
  std::string inner(place);
  if (!where.empty()) inner.append(": ").append(where);
  return {kind, message, std::move(inner)};
}

void end_with(const Error& error) {
  std::fprintf(stderr, "wavegate: the value of an error was asked for: %s\n", error.to_string().c_str());
  std::abort();
}

}  // namespace wavegate
