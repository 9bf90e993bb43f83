#version 450
// Elements that are more than scalars: 16 bytes, 24 bytes, and the 16-byte stride of std140.
layout(local_size_x = 1) in;
struct Pair { vec2 a; vec2 b; vec2 c; };
layout(std430, set = 0, binding = 0) buffer Vectors { vec4 vectors[]; };
layout(std430, set = 0, binding = 1) buffer Pairs { Pair pairs[]; };
layout(std140, set = 0, binding = 2) buffer Padded { float padded[]; };

void main() { vectors[0] = vec4(pairs[0].a, pairs[0].b) + padded[0]; }
