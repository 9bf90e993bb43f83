#version 450
// Stores to a buffer the value of a scalar binding; takes the buffer's length, which is no access.
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(std430, set = 0, binding = 0) buffer Value { float value; };
layout(std430, set = 0, binding = 1) buffer Result { float result[]; };

void main() {
  if (gl_GlobalInvocationID.x < result.length()) result[gl_GlobalInvocationID.x] = value;
}
