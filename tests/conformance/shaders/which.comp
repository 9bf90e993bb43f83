#version 450
// Says that the module runs.
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main() { data[0] = 2; }
