#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; } buffers[2];

void main() { buffers[1].x[0] = 1.0; }
