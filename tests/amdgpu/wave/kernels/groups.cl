// Kernels of workgroups: LDS, barriers, atomics, lanes that exchange values. Their meaning is written out in groups_test.cpp.
typedef unsigned int uint;
typedef unsigned short ushort;
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define SIZE __builtin_amdgcn_workgroup_size_x()
#define ITEM (GROUP * SIZE + LOCAL)
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); } while (0)

kernel void saxpy(uint n, float a, global const float* x, global float* y) {
  const uint i = ITEM;
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

kernel void mandelbrot(uint width, uint height, uint most, global uint* out) {
  const uint i = ITEM;
  const float cx = (float)(i % width) * (3.0f / (float)width) - 2.0f, cy = (float)(i / width) * (2.0f / (float)height) - 1.0f;
  float x = 0, y = 0;
  uint steps = 0;
  while (steps < most && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  out[i] = steps;
}

kernel void reverse(global const uint* in, global uint* out) {
  local uint words[256];
  words[LOCAL] = in[ITEM];
  BARRIER();
  out[ITEM] = words[SIZE - 1 - LOCAL];
}

kernel void group_sum(global const uint* in, global uint* out) {
  local uint words[256];
  words[LOCAL] = in[ITEM];
  for (uint width = SIZE / 2; width != 0; width /= 2) {
    BARRIER();
    if (LOCAL < width) words[LOCAL] += words[LOCAL + width];
  }
  if (LOCAL == 0) out[GROUP] = words[0];
}

kernel void scan(global const uint* in, global uint* out) {
  local uint words[256];
  words[LOCAL] = in[ITEM];
  for (uint distance = 1; distance < SIZE; distance *= 2) {
    BARRIER();
    const uint before = LOCAL >= distance ? words[LOCAL - distance] : 0;
    BARRIER();
    words[LOCAL] += before;
  }
  out[ITEM] = words[LOCAL];
}

kernel void histogram(global const uint* in, global uint* out) {
  __atomic_fetch_add(&out[in[ITEM] & 15], 1, __ATOMIC_RELAXED);
}

kernel void append(global const uint* in, global uint* counter, global uint* out) {
  if (in[ITEM] & 1) out[__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)] = in[ITEM];
}

kernel void grid_ids(global uint* out, uint width, uint height) {
  const uint x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  const uint y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  const uint z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
  out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

kernel void permute(global const uint* in, global uint* out) {
  out[ITEM] = (uint)__builtin_amdgcn_ds_bpermute((int)((LOCAL * 7 + 3) % 32 * 4), (int)in[ITEM]);
}

kernel void shift_rows(global const uint* in, global uint* out) {
  // Each lane adds its left neighbour, four times over, in place: a row's lanes see values from before, not those just written.
  int x = (int)in[ITEM];
  for (int i = 0; i < 4; ++i) x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, true);
  out[ITEM] = (uint)x;
}

kernel void first_lane(global const uint* in, global uint* out) {
  out[ITEM] = __builtin_amdgcn_readfirstlane(in[ITEM]) + __builtin_amdgcn_mbcnt_lo(0x0f0fu, 5);
}

kernel void beyond_end(global const uint* in, global uint* out, uint n) {
  out[ITEM] = in[ITEM + n];
}

kernel void race(global uint* out) {
  local volatile uint words[256];
  words[LOCAL] = LOCAL;
  out[ITEM] = words[(LOCAL + 64) % SIZE];
}
