// The kernels of elementwise.inc for the host, by the same compiler: what AMD's code is held against.
#include <string.h>
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef signed char schar;
typedef _Float16 f16;
#define GLOBAL
#define char schar

static float as_f(uint x) { float f; memcpy(&f, &x, 4); return f; }
static f16 as_h(uint x) { f16 h; ushort s = (ushort)x; memcpy(&h, &s, 2); return h; }
static void put(uint* out, uint i, float x) { uint w; memcpy(&w, &x, 4); out[i] = x != x ? 0x7fc00000u : w; }
static void put16(uint* out, uint i, f16 x) { ushort w; memcpy(&w, &x, 2); out[i] = x != x ? 0x7e00u : w; }
static void wide(uint* out, uint i, ulong x) { out[i] = (uint)x ^ ((uint)(x >> 32) * 0x9e3779b9u); }
static void put64(uint* out, uint i, double x) { ulong w; memcpy(&w, &x, 8); wide(out, i, x != x ? 0x7ff8000000000000ul : w); }
static double number(const uint* p, uint i) { ulong w = (ulong)p[i] << 32 | (p[i] * 2654435761u); double d; memcpy(&d, &w, 8); return d; }
#define PAIR ((ulong)a[i] << 32 | (b[i] * 2654435761u))
static __attribute__((noinline)) uint helper(uint x, uint y) { return x > y ? x * 31 + y : y ^ (x >> 3); }

#define KERNEL(name, ...)                                                                       \
  static void item_##name(const uint* a, const uint* b, uint* out, uint n, uint i) { __VA_ARGS__; } \
  void host_##name(const uint* a, const uint* b, uint* out, uint n) {                           \
    for (uint i = 0; i < n; ++i) item_##name(a, b, out, n, i);                                  \
  }
#include "elementwise.inc"
