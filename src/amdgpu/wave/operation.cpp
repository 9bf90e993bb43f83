#include "wavegate/amdgpu/wave/operation.h"

#include <string>

namespace wavegate::amdgpu::wave {

namespace {

using Rows = std::array<const Operation*, isa::kOpcodeCount>;

void enter(Rows& rows, std::span<const Operation> operations) {
  for (const Operation& operation : operations) rows[static_cast<std::size_t>(operation.opcode)] = &operation;
}

/// v_cmpx does what v_cmp does; where its result goes is not the operation's business.
void share_compares(Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = isa::to_string(static_cast<isa::Opcode>(i));
    if (!name.starts_with("v_cmpx_")) continue;
    const auto compare = isa::parse_opcode("v_cmp_" + std::string(name.substr(7)));
    if (compare) rows[i] = rows[static_cast<std::size_t>(*compare)];
  }
}

Rows all_rows() {
  Rows rows{};
  for (const auto operations : {float_operations(), half_operations(), double_operations(), approximate_operations(),
                                integer_operations(), short_operations(), conversion_operations(), compare_operations(),
                                dot_operations(), small_float_operations(), reduction_operations()})
    enter(rows, operations);
  share_compares(rows);
  return rows;
}

Rows saturating_rows() {
  Rows rows{};
  enter(rows, saturating_operations());
  enter(rows, saturating_dot_operations());
  return rows;
}

Rows fnuz_rows() {
  Rows rows{};
  enter(rows, fnuz_operations());
  return rows;
}

}  // namespace

const Operation* find_operation(isa::Opcode opcode) {
  static const Rows kRows = all_rows();
  return kRows[static_cast<std::size_t>(opcode)];
}

const Operation* find_saturating_operation(isa::Opcode opcode) {
  static const Rows kRows = saturating_rows();
  return kRows[static_cast<std::size_t>(opcode)];
}

const Operation* find_fnuz_operation(isa::Opcode opcode) {
  static const Rows kRows = fnuz_rows();
  return kRows[static_cast<std::size_t>(opcode)];
}

}  // namespace wavegate::amdgpu::wave
