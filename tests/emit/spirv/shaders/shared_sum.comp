#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };
shared uint partial[64];

void main() {
  uint lane = gl_LocalInvocationIndex;
  partial[lane] = values[gl_GlobalInvocationID.x];
  for (uint step = 32; step > 0; step /= 2) {
    barrier();
    if (lane < step) partial[lane] += partial[lane + step];
  }
  if (lane == 0) sums[gl_WorkGroupID.x] = partial[0];
}
