#version 450
// Reverses each 64 elements and adds their place: through workgroup memory, with a barrier.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint words[64];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint i = gl_GlobalInvocationID.x;
  words[lane] = data[i];
  barrier();
  data[i] = words[63 - lane] + lane;
}
