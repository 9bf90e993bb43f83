#version 450
// One step of a sandpile: a cell that holds four grains or more gives a quarter of them to each neighbour.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) readonly buffer Old { uint old[]; };
layout(binding = 1) writeonly buffer New { uint new[]; };
layout(binding = 2) buffer Moving { uint moving; };
layout(push_constant) uniform Parameters { uint side; };

uint received(uint x, uint y) { return x < side && y < side ? old[y * side + x] / 4 : 0; }

void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
  if (x >= side || y >= side) return;
  uint grains = old[y * side + x];
  new[y * side + x] = grains % 4 + received(x - 1, y) + received(x + 1, y) + received(x, y - 1) + received(x, y + 1);
  if (grains >= 4) atomicOr(moving, 1);
}
