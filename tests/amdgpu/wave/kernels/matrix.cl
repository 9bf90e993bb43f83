// One matrix instruction a kernel: each lane loads what it holds of A, B and C, and stores what it gets of D.
#include "matrix_types.h"

#ifdef __gfx908__
#define ON_ALL(x) x
#define ON_OLD(x) x
#elif defined(__gfx90a__)
#define ON_ALL(x) x
#define ON_OLD(x) x
#define ON_NEW(x) x
#elif defined(__gfx942__)
#define ON_ALL(x) x
#define ON_NEW(x) x
#define ON_LAST(x) x
#endif
#ifndef ON_ALL
#define ON_ALL(x)
#endif
#ifndef ON_OLD
#define ON_OLD(x)
#endif
#ifndef ON_NEW
#define ON_NEW(x)
#endif
#ifndef ON_LAST
#define ON_LAST(x)
#endif

#define MFMA(targets, name, builtin, M, N, K, blocks, ea, eb, ed, A, B, D, cbsz, abid, blgp) \
  ON_##targets(kernel void name(global const A* a, global const B* b, global const D* c, global D* d) { \
    d[LANE] = __builtin_amdgcn_mfma_##builtin(a[LANE], b[LANE], c[LANE], cbsz, abid, blgp); \
  })
#include "matrix.inc"
