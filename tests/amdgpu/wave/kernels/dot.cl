// What Triton makes of tl.dot: a workgroup of four waves computes a tile of C, a tile of A and of B at a time through LDS, each wave
// with matrix instructions on a quarter of it. A is M x K and B is K x N, by rows, of f16; C is M x N of f32.
#include "matrix_types.h"
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); } while (0)
#define TILE 32
#define DEPTH 32
typedef unsigned int uint;

kernel void dot_tiles(global const half* a, global const half* b, global float* c, uint N, uint K) {
  local half tile_a[TILE][DEPTH + 8];
  local half tile_b[TILE][DEPTH + 8];  // transposed, so that a lane's elements lie side by side
  const uint thread = LANE, count = __builtin_amdgcn_workgroup_size_x();
  const uint row = __builtin_amdgcn_workgroup_id_y() * TILE, column = __builtin_amdgcn_workgroup_id_x() * TILE;
  const uint wave = thread / __AMDGCN_WAVEFRONT_SIZE__, lane = thread % __AMDGCN_WAVEFRONT_SIZE__;
  const uint wave_row = wave / 2 * 16, wave_column = wave % 2 * 16;
#ifdef __gfx942__
  float4v sum = 0;
#elif __AMDGCN_WAVEFRONT_SIZE__ == 32
  float8v sum = 0;
#else
  float4v sum = 0;
#endif
  for (uint k = 0; k < K; k += DEPTH) {
    for (uint i = thread; i < TILE * DEPTH; i += count) {
      tile_a[i / DEPTH][i % DEPTH] = a[(row + i / DEPTH) * K + k + i % DEPTH];
      tile_b[i % TILE][i / TILE] = b[(k + i / TILE) * N + column + i % TILE];
    }
    BARRIER();
#ifdef __gfx942__
    for (uint step = 0; step < DEPTH; step += 16) {
      const half4v x = *(local half4v*)&tile_a[wave_row + lane % 16][step + lane / 16 * 4];
      const half4v y = *(local half4v*)&tile_b[wave_column + lane % 16][step + lane / 16 * 4];
      sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    }
#else
    for (uint step = 0; step < DEPTH; step += 16) {
      const half16v x = *(local half16v*)&tile_a[wave_row + lane % 16][step];
      const half16v y = *(local half16v*)&tile_b[wave_column + lane % 16][step];
#if __AMDGCN_WAVEFRONT_SIZE__ == 32
      sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum);
#else
      sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(x, y, sum);
#endif
    }
#endif
    BARRIER();
  }
#ifdef __gfx942__
  for (uint i = 0; i < 4; ++i) c[(row + wave_row + lane / 16 * 4 + i) * N + column + wave_column + lane % 16] = sum[i];
#else
  const uint rows = __AMDGCN_WAVEFRONT_SIZE__ / 16;
  for (uint i = 0; i < 16 / rows; ++i) c[(row + wave_row + i * rows + lane / 16) * N + column + wave_column + lane % 16] = sum[i];
#endif
}
