#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Target { float value; };
layout(push_constant) uniform Words { Target target; };

void main() { target.value = 1.0; }
