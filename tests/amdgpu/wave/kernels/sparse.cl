// One matrix instruction with a sparse A a kernel.
#include "matrix_types.h"

#if __AMDGCN_WAVEFRONT_SIZE__ == 32
#define PICK(of32, of64) of32
#define WIDTH _w32
#else
#define PICK(of32, of64) of64
#define WIDTH _w64
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ARGUMENTS(A, B, D) (global const A* a, global const B* b, global const D* c, global const int* index, global D* d)

#ifdef __gfx942__
#define SMFMAC(name, builtin, M, N, K, ea, eb, ed, A, B, D, cbsz, abid) \
  kernel void name ARGUMENTS(A, B, D) { \
    d[LANE] = __builtin_amdgcn_smfmac_##builtin(a[LANE], b[LANE], c[LANE], index[LANE], cbsz, abid); \
  }
#define SWMMAC(...)
#define SWMMAC_INTEGERS(...)
#else
#define SMFMAC(...)
#define SWMMAC(name, builtin, K, ea, eb, ed, A32, B32, D32, A64, B64, D64, shift) \
  kernel void name ARGUMENTS(PICK(A32, A64), PICK(B32, B64), PICK(D32, D64)) { \
    d[LANE] = JOIN(__builtin_amdgcn_swmmac_##builtin, WIDTH)(a[LANE], b[LANE], c[LANE], index[LANE] >> shift); \
  }
#define SWMMAC_INTEGERS(name, builtin, K, ea, eb, A32, B32, D32, A64, B64, D64, shift, signed_a, signed_b, clamp) \
  kernel void name ARGUMENTS(PICK(A32, A64), PICK(B32, B64), PICK(D32, D64)) { \
    d[LANE] = JOIN(__builtin_amdgcn_swmmac_##builtin, WIDTH)(signed_a, a[LANE], signed_b, b[LANE], c[LANE], index[LANE] >> shift, clamp); \
  }
#endif
#include "sparse.inc"
