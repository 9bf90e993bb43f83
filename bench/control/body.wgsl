// The body of wavegate-bench-control, as a shader of the user's own.
@group(0) @binding(0) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  state[id.x] = state[id.x] * 1664525u + 1013904223u;
}
