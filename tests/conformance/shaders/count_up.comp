#version 450
// Adds to every element, and counts its runs in a scalar.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) buffer Count { uint count; };
layout(push_constant) uniform Parameters { uint amount; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i == 0) count += 1;
  if (i >= data.length()) return;
  data[i] += amount;
}
