// Kernels for the checks of the interpreter: what is wrong, and what only looks so. check_test.cpp says what each is.
typedef unsigned int uint;
typedef unsigned char uchar;
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define SIZE __builtin_amdgcn_workgroup_size_x()
#define ITEM (GROUP * SIZE + LOCAL)
#define COUNT(place, scope) __opencl_atomic_fetch_add(place, 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_##scope)
#define FENCE() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")
#define BARRIER() do { FENCE(); __builtin_amdgcn_s_barrier(); FENCE(); } while (0)

// The shape of rocSPARSE's bsrxmvn_5x5: 50 work-items add up by halves, with fences where barriers should be.
kernel void half_sums(global const uint* in, global uint* out) {
  local uint sums[50];
  sums[LOCAL] = in[LOCAL];
  FENCE();
  if (LOCAL < 25) sums[LOCAL] += sums[LOCAL + 25];
  FENCE();
  if (LOCAL < 5) out[LOCAL] = sums[LOCAL * 5] + sums[LOCAL * 5 + 1];
}

// Each wave has its own part of LDS and needs no barrier.
kernel void wave_sums(uint lanes, global const uint* in, global uint* out) {
  local uint words[256];
  const uint first = LOCAL / lanes * lanes;
  uint sum = in[ITEM];
  for (uint distance = 1; distance < lanes; distance *= 2) {
    words[LOCAL] = sum;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
    sum += words[first + ((LOCAL - first) ^ distance)];
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
  }
  out[ITEM] = sum;
}

// Waves write bytes of the same words.
kernel void bytes(global uchar* out) {
  local volatile uchar part[256];
  part[(LOCAL * 65) % 256] = (uchar)LOCAL;
  out[(LOCAL * 65) % 256] = (uchar)LOCAL;
}
// And the same bytes.
kernel void same_bytes(global uchar* out) { out[LOCAL % 4] = (uchar)LOCAL; }

// An array in scratch memory, which every group writes anew.
kernel void scratch_of_groups(uint n, global uint* out) {
  volatile uint words[16];
  for (uint i = 0; i < 16; ++i) words[i] = ITEM + i;
  out[ITEM] = words[n % 16];
}

kernel void quotient(global const double* x, global double* y) { y[ITEM] = x[ITEM] / x[ITEM + 1]; }

// The callee saves registers that its caller may have written, and has not.
__attribute__((noinline)) uint saves_registers(uint a, uint b) {
  uint sum = a;
  // s40 and v41 are the caller's: they are saved and restored.
  __asm__ volatile("s_mov_b32 s40, 7\n v_mov_b32 v41, 5\n v_xor_b32 %0, v41, %0\n" : "+v"(sum) : : "s40", "v41");
  return sum + b;
}
kernel void calls(uint b, global uint* out) { out[ITEM] = saves_registers(ITEM, b); }

// A called function that writes where it must not.
__attribute__((noinline)) void beyond(global uint* out, uint n) { out[n] = n; }
kernel void calls_beyond(uint n, global uint* out) {
  out[ITEM] = 1;
  beyond(out, n + LOCAL);
}

// v60 is used, and nothing wrote it.
kernel void undefined_use(global uint* out) {
  uint value;
  __asm__ volatile("v_xor_b32 %0, v60, v60" : "=v"(value) : : "v60");
  out[ITEM] = value;
}
// It is copied twice and put into scratch memory first.
kernel void undefined_copy(global uint* out) {
  volatile uint words[4];
  uint value;
  __asm__ volatile("v_mov_b32 v61, v60\n v_mov_b32 %0, v61" : "=v"(value) : : "v60", "v61");
  words[LOCAL % 4] = value;
  out[ITEM] = words[LOCAL % 4] + 1;
}

// Groups count in a word: read as atomics are, and as others are.
kernel void atomic_counter(global atomic_uint* counter, global uint* out) {
  COUNT(counter, DEVICE);
  out[ITEM] = __opencl_atomic_load(counter, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
kernel void plain_counter(global uint* counter, global uint* out) {
  COUNT((global atomic_uint*)counter, DEVICE);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  out[ITEM] = *counter;
}
// The second group's load comes after an atomic of its own.
kernel void count_and_look(global uint* counter, global uint* out) {
  COUNT((global atomic_uint*)counter, DEVICE);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  if (GROUP == 1) out[LOCAL] = *counter;
}
// The first lane clears what others count in already.
kernel void unset_counter(global uint* out) {
  local volatile uint counter;
  if (LOCAL == 0) counter = 0;
  FENCE();
  COUNT((local volatile atomic_uint*)&counter, WORK_GROUP);
  BARRIER();
  out[ITEM] = counter;
}
// Adds by comparing and swapping, from a first guess that is a plain load.
kernel void guessed_counter(global uint* counter, global uint* out) {
  uint guess = *counter;
  while (!__opencl_atomic_compare_exchange_strong((global atomic_uint*)counter, &guess, guess + LOCAL, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)) {
  }
  out[ITEM] = 1;
}

// Both halves of a packed product take the lower of two scalars; nothing writes the upper.
kernel void packed_product(global float* out) {
#if defined(__gfx942__)
  __asm__ volatile("s_mov_b32 s40, 2.0\n v_mov_b32 v60, 1.0\n v_mov_b32 v61, 1.0\n"
                   "v_pk_mul_f32 v[60:61], v[60:61], s[40:41] op_sel_hi:[1,0]" : : : "s40", "s41", "v60", "v61");
#endif
  out[ITEM] = 2;
}
