#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0) buffer Values { vec4 values[]; };
layout(set = 0, binding = 1) buffer Count { uint count; };

float weight(uint i) { return 1.0 / float(i + 1); }

bool is_odd(uint i) { return (i & 1u) != 0u; }

vec4 moved(uint i) {
  vec4 value = values[i];
  for (uint k = 0; k < 4; ++k) value[k] += weight(k);
  return value;
}

void main() {
  uint i = gl_GlobalInvocationID.y * 8 + gl_GlobalInvocationID.x;
  if (is_odd(i)) {
    values[i] = moved(i);
    atomicAdd(count, 1u);
  }
}
