#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>

#include "wavegate/amdgpu/wave/matrix.h"

/// Which matrix instructions there are, and where the elements of their matrices lie. Both are facts of AMD's ISA
/// documents, and of the matrix instruction calculator that AMD publishes.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using enum Element;

// clang-format off
constexpr MatrixShape kShapes[] = {
    // MFMA: rows, columns, depth, blocks, result, A, B
    {v_mfma_f32_32x32x1f32, 32, 32, 1, 2, f32, f32, f32}, {v_mfma_f32_16x16x1f32, 16, 16, 1, 4, f32, f32, f32}, {v_mfma_f32_4x4x1f32, 4, 4, 1, 16, f32, f32, f32},
    {v_mfma_f32_32x32x2f32, 32, 32, 2, 1, f32, f32, f32}, {v_mfma_f32_16x16x4f32, 16, 16, 4, 1, f32, f32, f32},
    {v_mfma_f32_32x32x4f16, 32, 32, 4, 2, f32, f16, f16}, {v_mfma_f32_16x16x4f16, 16, 16, 4, 4, f32, f16, f16}, {v_mfma_f32_4x4x4f16, 4, 4, 4, 16, f32, f16, f16},
    {v_mfma_f32_32x32x8f16, 32, 32, 8, 1, f32, f16, f16}, {v_mfma_f32_16x16x16f16, 16, 16, 16, 1, f32, f16, f16},
    {v_mfma_f32_32x32x2bf16, 32, 32, 2, 2, f32, bf16, bf16}, {v_mfma_f32_16x16x2bf16, 16, 16, 2, 4, f32, bf16, bf16}, {v_mfma_f32_4x4x2bf16, 4, 4, 2, 16, f32, bf16, bf16},
    {v_mfma_f32_32x32x4bf16, 32, 32, 4, 1, f32, bf16, bf16}, {v_mfma_f32_16x16x8bf16, 16, 16, 8, 1, f32, bf16, bf16},
    {v_mfma_f32_32x32x4bf16_1k, 32, 32, 4, 2, f32, bf16, bf16}, {v_mfma_f32_16x16x4bf16_1k, 16, 16, 4, 4, f32, bf16, bf16}, {v_mfma_f32_4x4x4bf16_1k, 4, 4, 4, 16, f32, bf16, bf16},
    {v_mfma_f32_32x32x8bf16_1k, 32, 32, 8, 1, f32, bf16, bf16}, {v_mfma_f32_16x16x16bf16_1k, 16, 16, 16, 1, f32, bf16, bf16},
    {v_mfma_i32_32x32x4i8, 32, 32, 4, 2, i32, i8, i8}, {v_mfma_i32_16x16x4i8, 16, 16, 4, 4, i32, i8, i8}, {v_mfma_i32_4x4x4i8, 4, 4, 4, 16, i32, i8, i8},
    {v_mfma_i32_32x32x8i8, 32, 32, 8, 1, i32, i8, i8}, {v_mfma_i32_16x16x16i8, 16, 16, 16, 1, i32, i8, i8},
    {v_mfma_i32_32x32x16_i8, 32, 32, 16, 1, i32, i8, i8}, {v_mfma_i32_16x16x32_i8, 16, 16, 32, 1, i32, i8, i8},
    {v_mfma_f64_16x16x4f64, 16, 16, 4, 1, f64, f64, f64}, {v_mfma_f64_4x4x4f64, 4, 4, 4, 4, f64, f64, f64},
    {v_mfma_f32_16x16x8_xf32, 16, 16, 8, 1, f32, xf32, xf32}, {v_mfma_f32_32x32x4_xf32, 32, 32, 4, 1, f32, xf32, xf32},
    {v_mfma_f32_16x16x32_fp8_fp8, 16, 16, 32, 1, f32, fp8, fp8}, {v_mfma_f32_16x16x32_fp8_bf8, 16, 16, 32, 1, f32, fp8, bf8},
    {v_mfma_f32_16x16x32_bf8_fp8, 16, 16, 32, 1, f32, bf8, fp8}, {v_mfma_f32_16x16x32_bf8_bf8, 16, 16, 32, 1, f32, bf8, bf8},
    {v_mfma_f32_32x32x16_fp8_fp8, 32, 32, 16, 1, f32, fp8, fp8}, {v_mfma_f32_32x32x16_fp8_bf8, 32, 32, 16, 1, f32, fp8, bf8},
    {v_mfma_f32_32x32x16_bf8_fp8, 32, 32, 16, 1, f32, bf8, fp8}, {v_mfma_f32_32x32x16_bf8_bf8, 32, 32, 16, 1, f32, bf8, bf8},
    {v_smfmac_f32_16x16x32_f16, 16, 16, 32, 1, f32, f16, f16, true}, {v_smfmac_f32_32x32x16_f16, 32, 32, 16, 1, f32, f16, f16, true},
    {v_smfmac_f32_16x16x32_bf16, 16, 16, 32, 1, f32, bf16, bf16, true}, {v_smfmac_f32_32x32x16_bf16, 32, 32, 16, 1, f32, bf16, bf16, true},
    {v_smfmac_i32_16x16x64_i8, 16, 16, 64, 1, i32, i8, i8, true}, {v_smfmac_i32_32x32x32_i8, 32, 32, 32, 1, i32, i8, i8, true},
    {v_smfmac_f32_16x16x64_fp8_fp8, 16, 16, 64, 1, f32, fp8, fp8, true}, {v_smfmac_f32_16x16x64_fp8_bf8, 16, 16, 64, 1, f32, fp8, bf8, true},
    {v_smfmac_f32_16x16x64_bf8_fp8, 16, 16, 64, 1, f32, bf8, fp8, true}, {v_smfmac_f32_16x16x64_bf8_bf8, 16, 16, 64, 1, f32, bf8, bf8, true},
    {v_smfmac_f32_32x32x32_fp8_fp8, 32, 32, 32, 1, f32, fp8, fp8, true}, {v_smfmac_f32_32x32x32_fp8_bf8, 32, 32, 32, 1, f32, fp8, bf8, true},
    {v_smfmac_f32_32x32x32_bf8_fp8, 32, 32, 32, 1, f32, bf8, fp8, true}, {v_smfmac_f32_32x32x32_bf8_bf8, 32, 32, 32, 1, f32, bf8, bf8, true},
    // WMMA of gfx11 and gfx12, and SWMMAC
    {v_wmma_f32_16x16x16_f16, 16, 16, 16, 1, f32, f16, f16}, {v_wmma_f32_16x16x16_bf16, 16, 16, 16, 1, f32, bf16, bf16},
    {v_wmma_f16_16x16x16_f16, 16, 16, 16, 1, f16, f16, f16}, {v_wmma_bf16_16x16x16_bf16, 16, 16, 16, 1, bf16, bf16, bf16},
    {v_wmma_i32_16x16x16_iu8, 16, 16, 16, 1, i32, iu8, iu8}, {v_wmma_i32_16x16x16_iu4, 16, 16, 16, 1, i32, iu4, iu4}, {v_wmma_i32_16x16x32_iu4, 16, 16, 32, 1, i32, iu4, iu4},
    {v_wmma_f32_16x16x16_fp8_fp8, 16, 16, 16, 1, f32, fp8, fp8}, {v_wmma_f32_16x16x16_fp8_bf8, 16, 16, 16, 1, f32, fp8, bf8},
    {v_wmma_f32_16x16x16_bf8_fp8, 16, 16, 16, 1, f32, bf8, fp8}, {v_wmma_f32_16x16x16_bf8_bf8, 16, 16, 16, 1, f32, bf8, bf8},
    {v_swmmac_f32_16x16x32_f16, 16, 16, 32, 1, f32, f16, f16, true}, {v_swmmac_f32_16x16x32_bf16, 16, 16, 32, 1, f32, bf16, bf16, true},
    {v_swmmac_f16_16x16x32_f16, 16, 16, 32, 1, f16, f16, f16, true}, {v_swmmac_bf16_16x16x32_bf16, 16, 16, 32, 1, bf16, bf16, bf16, true},
    {v_swmmac_i32_16x16x32_iu8, 16, 16, 32, 1, i32, iu8, iu8, true}, {v_swmmac_i32_16x16x32_iu4, 16, 16, 32, 1, i32, iu4, iu4, true},
    {v_swmmac_i32_16x16x64_iu4, 16, 16, 64, 1, i32, iu4, iu4, true},
    {v_swmmac_f32_16x16x32_fp8_fp8, 16, 16, 32, 1, f32, fp8, fp8, true}, {v_swmmac_f32_16x16x32_fp8_bf8, 16, 16, 32, 1, f32, fp8, bf8, true},
    {v_swmmac_f32_16x16x32_bf8_fp8, 16, 16, 32, 1, f32, bf8, fp8, true}, {v_swmmac_f32_16x16x32_bf8_bf8, 16, 16, 32, 1, f32, bf8, bf8, true},
};
// clang-format on

/// Of gfx9: a lane holds as many elements of a run as make the wave full; runs of blocks come before those of greater
/// k.
Run input_of_gfx9(unsigned length, unsigned blocks, unsigned depth, unsigned width, unsigned k, unsigned block) {
  const unsigned per_lane = depth / (64 / (length * blocks));
  const unsigned bit = k % per_lane * width;
  return {static_cast<std::uint8_t>(bit / 32), static_cast<std::uint8_t>(bit % 32),
          static_cast<std::uint8_t>(block * length + k / per_lane * length * blocks)};
}

/// Results of 32 bits fill registers by fours of rows, of 64 bits by single ones.
Run output_of_gfx9(const MatrixShape& shape, unsigned i, unsigned block) {
  const unsigned rows = shape.rows, columns = shape.columns;
  const bool wide = shape.result == f64;
  const unsigned height = wide ? 1 : 4;
  const unsigned in_register = 64 / columns;
  const unsigned blocks_beside = std::max(64u * height / (rows * columns), 1u);
  const unsigned element = block * (rows * columns / 64) + i / (height * in_register) * height + i % height;
  const unsigned lane = (block % blocks_beside) * columns + i / height % in_register * blocks_beside * columns;
  return {static_cast<std::uint8_t>(wide ? element * 2 : element), 0, static_cast<std::uint8_t>(lane)};
}

/// Of gfx12: what each bit of k says, the lowest first: 'e' which element of a lane, '0' and '1' bit 4 and 5 of the
/// lane.
struct InputBits {
  std::uint8_t width, depth;
  std::string_view wave32, wave64;
};
constexpr InputBits kInputs[] = {
    {16, 16, "ee0e", "ee01"},   {8, 16, "eee0", "ee10"},   {4, 16, "eee0", "eee0"},     {4, 32, "eeee0", "eee10"},
    {16, 32, "eee0e", "eee01"}, {8, 32, "eeee0", "eee10"}, {4, 64, "eeeee0", "eeee10"},
};
Run input_of_gfx12(unsigned lanes, unsigned depth, unsigned width, unsigned k) {
  const auto* const row = std::ranges::find_if(
      kInputs, [&](const InputBits& input) { return input.width == width && input.depth == depth; });
  if (row == std::end(kInputs)) return {};
  unsigned element = 0, place = 0, lane = 0;
  for (const char meaning : lanes == 32 ? row->wave32 : row->wave64) {
    const unsigned bit = k & 1;
    k >>= 1;
    if (meaning == 'e')
      element |= bit << place++;
    else
      lane |= bit << (meaning == '0' ? 4 : 5);
  }
  const unsigned bit = element * width;
  return {static_cast<std::uint8_t>(bit / 32), static_cast<std::uint8_t>(bit % 32), static_cast<std::uint8_t>(lane)};
}

}  // namespace

const MatrixShape* find_matrix(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kShapes, opcode, &MatrixShape::opcode);
  return row == std::end(kShapes) ? nullptr : row;
}

Run MatrixLayout::input(const MatrixShape& shape, unsigned length, unsigned depth, unsigned width, unsigned k,
                        unsigned block) const {
  if (generation == isa::Generation::gfx9) return input_of_gfx9(length, shape.blocks, depth, width, k, block);
  if (generation >= isa::Generation::gfx12) return input_of_gfx12(lanes, depth, width, k);
  // Each sixteen lanes hold the whole matrix.
  return {static_cast<std::uint8_t>(k * width / 32), static_cast<std::uint8_t>(k * width % 32), 0};
}

Run MatrixLayout::output(const MatrixShape& shape, unsigned i, unsigned block) const {
  if (generation == isa::Generation::gfx9) return output_of_gfx9(shape, i, block);
  if (generation < isa::Generation::gfx12) {
    // A register holds two or four rows, of 16 bits in its low or high halves.
    const unsigned in_register = lanes / 16;
    return {static_cast<std::uint8_t>(i / in_register), 0, static_cast<std::uint8_t>(i % in_register * 16)};
  }
  const unsigned element = i % (lanes == 32 ? 8 : 4);
  const unsigned lane = (i / 8 % 2) * 16 + (lanes == 32 ? 0 : i / 4 % 2 * 32);
  const unsigned bit = element * bits_of(shape.result);
  return {static_cast<std::uint8_t>(bit / 32), static_cast<std::uint8_t>(bit % 32), static_cast<std::uint8_t>(lane)};
}

}  // namespace wavegate::amdgpu::wave
