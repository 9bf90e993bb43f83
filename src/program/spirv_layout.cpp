#include "wavegate/program/spirv_layout.h"

#include <algorithm>

namespace wavegate::program {
namespace {

using kir::SpirvInstruction;
using kir::SpirvMemberDecorations;
using kir::SpirvModule;

using Sizes = std::map<uint32_t, uint64_t>;
using Size = std::optional<uint64_t>;

// Past any real type, and small enough that no product or sum of words with it overflows.
constexpr uint64_t kHugeSize = 1ull << 31;

Size find_size(const Sizes& sizes, uint32_t type) {
  const auto found = sizes.find(type);
  return found == sizes.end() ? Size{} : found->second;
}

Size array_size(const SpirvModule& module, const Sizes& sizes, const SpirvInstruction& array) {
  const Size element = find_size(sizes, array.word(2));
  const std::optional<uint32_t> length = module.constant(array.word(3));
  const std::optional<uint32_t> stride = module.decorations_of(array.word(1)).array_stride;
  if (!element || !length || !stride || *length == 0) return std::nullopt;
  return (*length - 1) * uint64_t{*stride} + *element;
}

Size member_size(const SpirvModule& module, const Sizes& sizes, uint32_t structure, uint32_t member, uint32_t type) {
  const SpirvInstruction definition = module.definition(type);
  const SpirvMemberDecorations layout = module.decorations_of(structure, member);
  if (definition.op != spv::Op::OpTypeMatrix || !layout.matrix_stride) return find_size(sizes, type);
  const SpirvInstruction column = module.definition(definition.word(2));
  const uint64_t columns = definition.word(3), rows = column.word(3);
  const uint64_t component = spirv_scalar_size(module, column.word(2));
  const uint64_t vectors = layout.row_major ? rows : columns, length = layout.row_major ? columns : rows;
  if (vectors == 0) return std::nullopt;
  // Matrices and vectors hold 2 to 4 parts (16 with Vector16); the bound only keeps hostile counts from overflowing.
  return (std::min<uint64_t>(vectors, 16) - 1) * *layout.matrix_stride + std::min<uint64_t>(length, 16) * component;
}

Size struct_size(const SpirvModule& module, const Sizes& sizes, const SpirvInstruction& structure) {
  uint64_t size = 0;
  for (uint32_t member = 0; member + 2 < structure.words.size(); ++member) {
    const std::optional<uint32_t> offset = module.decorations_of(structure.word(1), member).offset;
    const Size bytes = member_size(module, sizes, structure.word(1), member, structure.word(member + 2));
    if (!offset || !bytes) return std::nullopt;
    size = std::max(size, *offset + *bytes);
  }
  return size;
}

Size type_size(const SpirvModule& module, const Sizes& sizes, const SpirvInstruction& type) {
  switch (type.op) {
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat: return spirv_scalar_size(module, type.word(1));
    case spv::Op::OpTypeVector:
    case spv::Op::OpTypeMatrix: {
      const Size part = find_size(sizes, type.word(2));
      return part ? Size{*part * type.word(3)} : Size{};
    }
    case spv::Op::OpTypeArray: return array_size(module, sizes, type);
    case spv::Op::OpTypeStruct: return struct_size(module, sizes, type);
    default: return std::nullopt;
  }
}

}  // namespace

uint32_t spirv_scalar_size(const SpirvModule& module, uint32_t type) {
  const SpirvInstruction definition = module.definition(type);
  if (definition.op != spv::Op::OpTypeInt && definition.op != spv::Op::OpTypeFloat) return 0;
  return definition.word(2) / 8;
}

std::map<uint32_t, uint64_t> spirv_type_sizes(const SpirvModule& module) {
  // Types come after what they are made of, so that one pass meets every part before its whole.
  Sizes sizes;
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i))
    if (const Size size = type_size(module, sizes, i)) sizes[i.word(1)] = std::min(*size, kHugeSize);
  return sizes;
}

}  // namespace wavegate::program
