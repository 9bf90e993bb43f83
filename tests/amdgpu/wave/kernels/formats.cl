// Buffers with formats: a descriptor is made of an address, a stride of 0 and a word that says its format.
typedef unsigned int uint;
typedef uint uint2v __attribute__((ext_vector_type(2)));
typedef uint uint4v __attribute__((ext_vector_type(4)));
#define ITEM (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define DESCRIPTOR(memory) ((uint4v)((uint)(unsigned long)(memory), (uint)((unsigned long)(memory) >> 32) & 0xffff, bytes, word))

kernel void load(global uint* memory, uint bytes, uint word, uint size, global uint4v* out) {
  uint4v result;
  __asm__ volatile("buffer_load_format_xyzw %0, %1, %2, 0 offen" : "=&v"(result) : "v"(ITEM * size), "s"(DESCRIPTOR(memory)));
  out[ITEM] = result;
}
kernel void load_half(global uint* memory, uint bytes, uint word, uint size, global uint2v* out) {
  uint2v result = 0;
  __asm__ volatile("buffer_load_format_d16_xyz %0, %1, %2, 0 offen" : "+v"(result) : "v"(ITEM * size), "s"(DESCRIPTOR(memory)));
  out[ITEM] = result;
}
kernel void store(global uint* memory, uint bytes, uint word, uint size, global const uint4v* in) {
  __asm__ volatile("buffer_store_format_xyzw %0, %1, %2, 0 offen" : : "v"(in[ITEM]), "v"(ITEM * size), "s"(DESCRIPTOR(memory)) : "memory");
}
kernel void typed(global uint* memory, uint bytes, uint word, global uint2v* out) {
  uint2v result;
#ifdef __gfx900__
  __asm__ volatile("tbuffer_load_format_xy %0, %1, %2, 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SINT] offen" : "=&v"(result) : "v"(ITEM * 4), "s"(DESCRIPTOR(memory)));
#else
  __asm__ volatile("tbuffer_load_format_xy %0, %1, %2, 0 format:[BUF_FMT_16_16_SINT] offen" : "=&v"(result) : "v"(ITEM * 4), "s"(DESCRIPTOR(memory)));
#endif
  out[ITEM] = result;
}

// Each lane's word goes to LDS by its lane; M0 leaves sixteen bytes free.
kernel void to_lds(global uint* memory, uint bytes, uint word, global uint* out) {
  local uint words[260];
  const uint i = __builtin_amdgcn_workitem_id_x();
  words[i] = 0;
  if (i < 4) words[256 + i] = 0;
  __builtin_amdgcn_s_barrier();
#if defined(__gfx900__) || defined(__gfx1030__)
  __asm__ volatile("s_mov_b32 m0, %2\n\tbuffer_load_ubyte %0, %1, 0 offen offset:4 lds"
                   : : "v"(i * 4), "s"(DESCRIPTOR(memory)), "s"((uint)(unsigned long)words + 12 + __builtin_amdgcn_readfirstlane(i) * 4) : "memory");
#else
  __asm__ volatile("s_mov_b32 m0, %2\n\tbuffer_load_lds_u8 %0, %1, 0 offen offset:4"
                   : : "v"(i * 4), "s"(DESCRIPTOR(memory)), "s"((uint)(unsigned long)words + 12 + __builtin_amdgcn_readfirstlane(i) * 4) : "memory");
#endif
  __builtin_amdgcn_s_barrier();
  out[i] = ((local volatile uint*)words)[i + 4];
}
