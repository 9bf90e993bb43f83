#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/amdgpu/object/code_target.h"
#include "wavegate/base/result.h"

/// Raw shaders: machine code without a container, as drivers and consoles keep it, with a JSON file beside it that says
/// what the command stream would. docs/shader-sidecar.schema.json is its schema.
namespace wavegate::amdgpu::object {

/// What a compute dispatch sets besides its arguments, by the names of the registers.
struct ComputeState {
  std::string name = "shader";
  CodeTarget target;
  std::uint32_t pgm_rsrc1 = 0;
  std::uint32_t pgm_rsrc2 = 0;
  std::uint32_t pgm_rsrc3 = 0;
  std::array<std::uint32_t, 3> num_thread = {1, 1, 1};  ///< Work-items of a workgroup.
  bool wave32 = false;
  std::vector<std::uint32_t> user_sgprs;   ///< Values of s0 and on, as far as they are known.
  std::optional<std::uint32_t> lds_bytes;  ///< Where it is not what pgm_rsrc2 grants.
  std::uint32_t scratch_bytes = 0;         ///< Of a work-item.

  bool operator==(const ComputeState&) const = default;
};

/// Reads the JSON, of at most 64 KiB. A key that is not known is refused, and so is a state that contradicts itself.
Result<ComputeState> parse_sidecar(std::string_view json);

/// The code as an object of one kernel at address zero, so that all that takes objects takes it. Version is 0. Borrows
/// the code, a whole number of words.
Result<CodeObject> make_code_object(Bytes code, const ComputeState& state);

}  // namespace wavegate::amdgpu::object
