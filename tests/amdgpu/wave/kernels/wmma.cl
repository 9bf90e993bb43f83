// One WMMA a kernel: each lane loads what it holds of A, B and C, and stores what it gets of D.
#include "matrix_types.h"

#ifdef __gfx1200__
#define ON_GFX11(...)
#define ON_GFX12(...) __VA_ARGS__
#define LAST _gfx12
#else
#define ON_GFX11(...) __VA_ARGS__
#define ON_GFX12(...)
#define LAST
#endif
#if __AMDGCN_WAVEFRONT_SIZE__ == 32
#define PICK(of32, of64) of32
#define WIDTH _w32
#else
#define PICK(of32, of64) of64
#define WIDTH _w64
#endif
#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define BUILTIN(name) JOIN(__builtin_amdgcn_wmma_##name, WIDTH, LAST)
#define ARGUMENTS(A, B, D) (global const A* a, global const B* b, global const D* c, global D* d)
#define ABSOLUTE_0(x) x
#define ABSOLUTE_1(x) __builtin_elementwise_abs(x)

#define FLOATS(targets, name, builtin, K, ea, eb, ed, A32, B32, D32, A64, B64, D64, sign_a, sign_c, absolute) \
  ON_##targets(kernel void wmma_##name ARGUMENTS(PICK(A32, A64), PICK(B32, B64), PICK(D32, D64)) { \
    d[LANE] = BUILTIN(builtin)(sign_a a[LANE], b[LANE], sign_c ABSOLUTE_##absolute(c[LANE])); \
  })
#define HALVES(name, builtin, K, ea, ed, A32, D32, A64, D64, high) \
  ON_GFX11(kernel void wmma_##name ARGUMENTS(PICK(A32, A64), PICK(A32, A64), PICK(D32, D64)) { \
    d[LANE] = BUILTIN(builtin)(a[LANE], b[LANE], c[LANE], high); \
  })
#define INTEGERS(targets, name, builtin, K, ea, eb, A32, B32, D32, A64, B64, D64, signed_a, signed_b, clamp) \
  ON_##targets(kernel void wmma_##name ARGUMENTS(PICK(A32, A64), PICK(B32, B64), PICK(D32, D64)) { \
    d[LANE] = BUILTIN(builtin)(signed_a, a[LANE], signed_b, b[LANE], c[LANE], clamp); \
  })
#include "wmma.inc"
