#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };
layout(set = 0, binding = 1) uniform sampler2D image;

void main() { x[0] = textureLod(image, vec2(0), 0.0).x; }
