// The kernels of elementwise.inc for AMD's targets: no library, ids from the dispatch packet.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma clang fp contract(off)
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef half f16;
#define GLOBAL global

static float as_f(uint x) { return __builtin_astype(x, float); }
static half as_h(uint x) { return __builtin_astype((ushort)x, half); }
static void put(global uint* out, uint i, float x) { out[i] = x != x ? 0x7fc00000u : __builtin_astype(x, uint); }
static void put16(global uint* out, uint i, half x) { out[i] = x != x ? 0x7e00u : __builtin_astype(x, ushort); }
static void wide(global uint* out, uint i, ulong x) { out[i] = (uint)x ^ ((uint)(x >> 32) * 0x9e3779b9u); }
static void put64(global uint* out, uint i, double x) { wide(out, i, x != x ? 0x7ff8000000000000ul : __builtin_astype(x, ulong)); }
static double number(global const uint* p, uint i) { return __builtin_astype((ulong)p[i] << 32 | (p[i] * 2654435761u), double); }
#define PAIR ((ulong)a[i] << 32 | (b[i] * 2654435761u))
static __attribute__((noinline)) uint helper(uint x, uint y) { return x > y ? x * 31 + y : y ^ (x >> 3); }

#define KERNEL(name, ...) \
  kernel void name(global const uint* a, global const uint* b, global uint* out, uint n) { \
    const uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x(); \
    if (i >= n) return; \
    __VA_ARGS__; \
  }
#include "elementwise.inc"
