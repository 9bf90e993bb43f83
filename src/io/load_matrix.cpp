#include "wavegate/io/load_matrix.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/io/matrix_market.h"
#include "wavegate/io/metis_graph.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

Result<CsrMatrix> parse_graph_matrix(std::string_view text, std::string_view name) {
  WAVEGATE_TRY(const MetisGraph graph, parse_metis_graph(text, name));
  return laplacian_plus_identity(graph);
}

struct Kind {
  std::string_view ending;
  std::string_view name;
  Result<CsrMatrix> (*parse)(std::string_view text, std::string_view name);
};

constexpr std::array kKinds = {
    Kind{".mtx", "Matrix Market", parse_matrix_market},
    Kind{".graph", "METIS", parse_graph_matrix},
};

std::string accepted_kinds() {
  std::string text;
  for (const Kind& kind : kKinds) text += format("{}{} ({})", text.empty() ? "" : ", ", kind.ending, kind.name);
  return text + ", each optionally followed by .gz";
}

Result<const Kind*> kind_of(const std::filesystem::path& path) {
  std::filesystem::path plain = path.filename();
  if (lower_case(plain.extension().string()) == ".gz") plain = plain.stem();
  const std::string ending = lower_case(plain.extension().string());
  const auto kind = std::ranges::find(kKinds, ending, &Kind::ending);
  if (kind != kKinds.end()) return &*kind;
  return invalid_input(
      format("the ending {} is no kind of matrix file; accepted are {}", quote(ending), accepted_kinds()),
      path.string());
}

Result<CsrMatrix> parse(const Kind& kind, const std::filesystem::path& path, std::span<const std::byte> bytes) {
  try {
    return kind.parse(as_text(bytes), path.string());
  } catch (const std::bad_alloc&) {
    return device_error("the matrix does not fit into this machine's memory", path.string());
  }
}

}  // namespace

Result<CsrMatrix> load_matrix(const std::filesystem::path& path, std::uint64_t maximum_bytes) {
  WAVEGATE_TRY(const Kind* kind, kind_of(path));
  WAVEGATE_TRY(const std::vector<std::byte> bytes, read_file(path, maximum_bytes));
  return parse(*kind, path, bytes);
}

Result<CsrMatrix> parse_matrix(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  WAVEGATE_TRY(const Kind* kind, kind_of(path));
  return parse(*kind, path, bytes);
}

}  // namespace wavegate::io
