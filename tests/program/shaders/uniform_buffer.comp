#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };
layout(std140, set = 0, binding = 1) uniform Uniforms { float u; };

void main() { x[0] = u; }
