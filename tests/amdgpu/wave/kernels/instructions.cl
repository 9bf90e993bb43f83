// One instruction a kernel, on what a lane has of a, b and c.
typedef unsigned int uint;
typedef unsigned long ulong;
#define ITEM (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define YES(...) __VA_ARGS__
#define NO(...)
#define ON_ALL YES
#if defined(__gfx1030__)
#define ON_GFX1030 YES
#else
#define ON_GFX1030 NO
#endif
#if defined(__gfx942__)
#define ON_SINCE_GFX10 NO
#define ON_SINCE_GFX11 NO
#define ON_DOT_SIGNED YES
#define ON_DOT_UNSIGNED YES
#define ON_DOT_FLOAT YES
#define ON_FP8 YES
#define ON_GFX942 YES
#define ON_GFX12 NO
#else
#define ON_SINCE_GFX10 YES
#define ON_DOT_UNSIGNED YES
#define ON_DOT_FLOAT YES
#define ON_GFX942 NO
#if defined(__gfx1030__)
#define ON_SINCE_GFX11 NO
#define ON_DOT_SIGNED YES
#define ON_FP8 NO
#define ON_GFX12 NO
#else
#define ON_SINCE_GFX11 YES
#define ON_DOT_SIGNED NO
#if defined(__gfx1200__)
#define ON_FP8 YES
#define ON_GFX12 YES
#else
#define ON_FP8 NO
#define ON_GFX12 NO
#endif
#endif
#endif

#define WORDS(targets, name, text, ...) \
  ON_##targets(kernel void name(global const uint* a, global const uint* b, global const uint* c, global uint* out) { \
    const uint i = ITEM; \
    uint result; \
    __asm__ volatile(text : "=&v"(result) : "v"(a[i]), "v"(b[i]), "v"(c[i])); \
    out[i] = result; \
  })
#define KEEPS(targets, both, name, text, ...) \
  ON_##targets(kernel void name(global const uint* a, global const uint* b, global const uint* c, global uint* out) { \
    const uint i = ITEM; \
    uint result = c[i]; \
    __asm__ volatile(text : "+v"(result) : "v"(a[i]), "v"(b[i])); \
    out[i] = result; \
  })
#define LONGS(targets, name, text, ...) \
  ON_##targets(kernel void name(global const ulong* a, global const uint* b, global const ulong* c, global ulong* out) { \
    const uint i = ITEM; \
    ulong result; \
    __asm__ volatile(text : "=&v"(result) : "v"(a[i]), "v"(b[i]), "v"(c[i])); \
    out[i] = result; \
  })
#define PAIRS(targets, name, text, ...) \
  ON_##targets(kernel void name(global const uint* a, global ulong* out) { \
    const uint i = ITEM; \
    ulong result; \
    __asm__ volatile(text : "=&v"(result) : "v"(a[i])); \
    out[i] = result; \
  })
#include "instructions.inc"

// Digits of 2 / pi for the argument 1 and for a large one.
kernel void trig_preop(global double* out) {
  const uint i = ITEM;
  double small, large;
  __asm__ volatile("v_trig_preop_f64 %0, %1, %2" : "=&v"(small) : "v"(1.0), "v"(i));
  __asm__ volatile("v_trig_preop_f64 %0, %1, %2" : "=&v"(large) : "v"(0x1p100), "v"(i));
  out[2 * i] = small;
  out[2 * i + 1] = large;
}

kernel void mqsad_u32(global const ulong* a, global const uint* b, global const uint* c, global uint* out) {
  typedef uint uint4v __attribute__((ext_vector_type(4)));
  const uint i = ITEM;
  uint4v result;
  __asm__ volatile("v_mqsad_u32_u8 %0, %1, %2, %3" : "=&v"(result) : "v"(a[i]), "v"(b[i]), "v"(((global const uint4v*)c)[i]));
  ((global uint4v*)out)[i] = result;
}

kernel void swizzle(global uint* out) {
  const uint i = ITEM;
  out[8 * i] = __builtin_amdgcn_ds_swizzle(i, 0xc000 | 3 << 5);             // rotate by 3
  out[8 * i + 1] = __builtin_amdgcn_ds_swizzle(i, 0xc000 | 1 << 10 | 5 << 5 | 0x18);  // by 5 the other way, within eights
  out[8 * i + 2] = __builtin_amdgcn_ds_swizzle(i, 0xe000);                  // reversed bits
  out[8 * i + 3] = __builtin_amdgcn_ds_swizzle(i, 0xe000 | 0x10);
  out[8 * i + 4] = __builtin_amdgcn_ds_swizzle(i, 0xe01f);
}
