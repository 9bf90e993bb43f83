#pragma once

#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/io/csr.h"

namespace wavegate::io {

/// Reads a sparse matrix in NIST's Matrix Market exchange format: `coordinate`, with values `real`, `integer` or
/// `pattern` (each entry 1), and the structure `general` or `symmetric`, which is expanded. Every other kind of the
/// format is unsupported by name. `name` is the source in errors.
///
/// Values are rounded to f32; one that is not finite in f32 is refused. An entry that occurs twice is refused, since
/// readers disagree whether it means the sum or the last. Comment lines and blank lines may stand anywhere after the
/// first line. Time and memory are linear in the text whatever its header claims; a matrix far larger than its number
/// of entries (over 2^20 and over 64 rows or columns an entry) is unsupported.
Result<CsrMatrix> parse_matrix_market(std::string_view text, std::string_view name);

}  // namespace wavegate::io
