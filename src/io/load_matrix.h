#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "wavegate/base/result.h"
#include "wavegate/io/csr.h"
#include "wavegate/io/file.h"

namespace wavegate::io {

/// Loads a matrix by the ending of its file's name, in any case and optionally followed by .gz:
/// .mtx (Matrix Market) as it stands, .graph (METIS) as laplacian_plus_identity.
Result<CsrMatrix> load_matrix(const std::filesystem::path& path, std::uint64_t maximum_bytes = kDefaultMaximumBytes);

/// The same from the content of the file, decompressed.
Result<CsrMatrix> parse_matrix(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace wavegate::io
