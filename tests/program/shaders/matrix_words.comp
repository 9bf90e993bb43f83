#version 450
// 4 + padding to 16, a 3x2 matrix of 3 columns 8 bytes apart (24), an array of 2 words: 48 bytes.
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer X { float x[]; };
layout(push_constant) uniform Words { float a; layout(offset = 16) mat3x2 m; float list[2]; };

void main() { x[0] = a + m[2][1] + list[1]; }
