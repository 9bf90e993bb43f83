#version 450
// y = a x + y: a buffer that is read, one that is read and written, two words of push constants.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Words { int count; float a; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = a * x[i] + y[i];
}
