#version 450
layout(local_size_x_id = 0) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };

void main() { x[gl_GlobalInvocationID.x] = 1.0; }
