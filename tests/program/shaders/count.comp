#version 450
// An atomic on a block of two words.
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Counts { uint first; uint second; };

void main() { atomicAdd(second, 1u); }
