#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };
layout(push_constant) uniform Launch { float factor; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= values.length()) return;
  values[i] *= factor;
}
