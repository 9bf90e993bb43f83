// Arguments of every kind, compiled with their names (-cl-kernel-arg-info).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef struct {
  int first;
  float second;
  short third;
} triple;

uint item(void) {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

kernel void add(global const float* x, global float* y, uint n) {
  const uint i = item();
  if (i < n) y[i] += x[i];
}

// What arrives, as the widest numbers of their kinds.
kernel void numbers(char c, ushort u, int i, ulong l, half h, float f, double d, global long* integers,
                    global double* floats) {
  integers[0] = c;
  integers[1] = u;
  integers[2] = i;
  integers[3] = (long)l;
  floats[0] = h;
  floats[1] = f;
  floats[2] = d;
}

kernel void vectors(float4 v, int3 w, triple t, global float* out) {
  out[0] = v.x;
  out[1] = v.w;
  out[2] = w.x;
  out[3] = w.z;
  out[4] = t.first;
  out[5] = t.second;
  out[6] = t.third;
}

// Two pointers to LDS, which must not meet.
kernel void reversed(local int* low, local int* high, global int* x) {
  const uint id = __builtin_amdgcn_workitem_id_x(), size = __builtin_amdgcn_workgroup_size_x();
  low[id] = x[id];
  high[id] = -x[id];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  x[id] = low[size - 1 - id] - 2 * high[size - 1 - id];
}

global uint calls = 7;

kernel void counted(global uint* out) {
  out[0] = ++calls;
}

// Each wave reads what the other writes, with nothing between.
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void racing(global int* out) {
  local volatile int shared[128];
  const uint id = __builtin_amdgcn_workitem_id_x();
  shared[id] = id;
  out[id] = shared[127 - id];
}

// Until somebody sets it, which nobody does.
kernel void waiting(global volatile int* flag) {
  while (*flag == 0) {
  }
}

kernel void null_or(global int* maybe, global int* out) {
  out[0] = maybe == 0 ? -1 : maybe[0];
}

kernel void picture(read_only image2d_t image, global int* out) {
  out[0] = 1;
}

// Names that a launcher has options of.
kernel void named(int check, int threads, global int* out) {
  out[0] = check * 100 + threads;
}

kernel void atomic_sum(global const int* values, global atomic_int* sum, uint n) {
  const uint i = item();
  if (i < n) __opencl_atomic_fetch_add(sum, values[i], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
