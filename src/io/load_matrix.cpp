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

}  // namespace

Result<CsrMatrix> load_matrix(const std::filesystem::path& path, std::uint64_t maximum_bytes) {
  const std::string where = path.string();
  std::filesystem::path plain = path.filename();
  if (lower_case(plain.extension().string()) == ".gz") plain = plain.stem();
  const std::string ending = lower_case(plain.extension().string());
  const auto kind = std::ranges::find(kKinds, ending, &Kind::ending);
  if (kind == kKinds.end()) {
    return invalid_input(
        format("the ending {} is no kind of matrix file; accepted are {}", quote(ending), accepted_kinds()), where);
  }
  WAVEGATE_TRY(const std::vector<std::byte> bytes, read_file(path, maximum_bytes));
  try {
    return kind->parse(as_text(bytes), where);
  } catch (const std::bad_alloc&) {
    return device_error("the matrix does not fit into this machine's memory", where);
  }
}

}  // namespace wavegate::io
