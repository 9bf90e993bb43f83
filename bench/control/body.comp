#version 450
// The body of wavegate-bench-control, as a shader of the user's own.
layout(local_size_x = 64) in;
layout(binding = 0) buffer State { uint state[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  state[i] = state[i] * 1664525u + 1013904223u;
}
