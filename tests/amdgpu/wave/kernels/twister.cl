// MT19937 by a workgroup of 256: Matsumoto and Nishimura, "Mersenne twister" (1998). rocRAND of Debian 12 has none.
typedef unsigned int uint;
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); } while (0)

uint twisted(uint word, uint next, uint far) {
  const uint mixed = (word & 0x80000000u) | (next & 0x7fffffffu);
  return far ^ mixed >> 1 ^ ((mixed & 1) != 0 ? 0x9908b0dfu : 0);
}

uint tempered(uint word) {
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

// A word of a generation needs the one 227 before it of the same generation, so there are three steps to each.
kernel void twister(uint seed, uint generations, global uint* out) {
  local uint state[624];
  const uint item = LOCAL;
  if (item == 0) {
    state[0] = seed;
    for (uint i = 1; i < 624; ++i) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  }
  BARRIER();
  for (uint generation = 0; generation < generations; ++generation) {
    for (uint first = 0; first < 624; first += 227) {
      const uint i = first + item;
      const bool mine = item < 227 && i < 624;
      uint word = 0;
      if (mine) word = twisted(state[i], state[(i + 1) % 624], state[(i + 397) % 624]);
      BARRIER();
      if (mine) state[i] = word;
      BARRIER();
    }
    for (uint i = item; i < 624; i += 256) out[generation * 624 + i] = tempered(state[i]);
    BARRIER();
  }
}
