// Pictures of fields, drawn by a render pass over the program's own buffers: nothing is copied, nothing read back.

const COLOURS = `
const stops = array<vec3f, 7>(
  vec3f(0.043, 0.075, 0.169), vec3f(0.145, 0.200, 0.455), vec3f(0.424, 0.231, 0.561), vec3f(0.745, 0.275, 0.427),
  vec3f(0.918, 0.486, 0.290), vec3f(0.973, 0.761, 0.380), vec3f(1.000, 0.961, 0.835));

/// The colour of a value between 0 and 1.
fn colour(value: f32) -> vec3f {
  let at = clamp(value, 0.0, 1.0) * 6.0;
  let below = min(u32(at), 5u);
  var all = stops;
  return mix(all[below], all[below + 1u], at - f32(below));
}
`;

const PLATE = `${COLOURS}
struct Shape { width: u32, height: u32, low: f32, high: f32, of_integers: u32 }
@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> field: array<u32>;

struct Corner { @builtin(position) position: vec4f, @location(0) place: vec2f }

@vertex fn corner(@builtin(vertex_index) index: u32) -> Corner {
  let place = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
  return Corner(vec4f(place * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0), 0.0, 1.0), place);
}

fn value(x: i32, y: i32) -> f32 {
  let column = u32(clamp(x, 0, i32(shape.width) - 1));
  let row = u32(clamp(y, 0, i32(shape.height) - 1));
  let at = row * shape.width + column;
  if (at >= arrayLength(&field)) { return shape.low; }
  let word = field[at];
  return select(bitcast<f32>(word), f32(bitcast<i32>(word)), shape.of_integers != 0u);
}

@fragment fn pixel(@location(0) place: vec2f) -> @location(0) vec4f {
  let at = place * vec2f(f32(shape.width), f32(shape.height)) - 0.5;
  let cell = vec2i(floor(at));
  let part = fract(at);
  let above = mix(value(cell.x, cell.y), value(cell.x + 1, cell.y), part.x);
  let below = mix(value(cell.x, cell.y + 1), value(cell.x + 1, cell.y + 1), part.x);
  let here = mix(above, below, part.y);
  return vec4f(colour((here - shape.low) / max(shape.high - shape.low, 1e-30)), 1.0);
}
`;

// The field is the sum of two buffers, as conjugate gradients keep their solution, over its largest magnitude.
const MESH_VALUES = `
@group(0) @binding(0) var<storage, read> base: array<f32>;
@group(0) @binding(1) var<storage, read> correction: array<f32>;
fn field(at: u32) -> f32 { return base[at] + correction[at]; }
`;

const RANGE = `${MESH_VALUES}
@group(0) @binding(2) var<storage, read_write> largest: array<f32>;
var<workgroup> parts: array<f32, 64>;

@compute @workgroup_size(64) fn range(@builtin(local_invocation_index) local: u32) {
  var mine = 0.0;
  for (var i = local; i < arrayLength(&base); i += 64u) { mine = max(mine, abs(field(i))); }
  parts[local] = mine;
  workgroupBarrier();
  if (local == 0u) {
    var all = 0.0;
    for (var i = 0u; i < 64u; i++) { all = max(all, parts[i]); }
    largest[0] = all;
  }
}
`;

const MESH = `${COLOURS}${MESH_VALUES}
@group(0) @binding(2) var<storage, read> largest: array<f32>;
@group(0) @binding(3) var<storage, read> places: array<vec2f>;
@group(0) @binding(4) var<storage, read> edges: array<u32>;

struct End { @builtin(position) position: vec4f, @location(0) value: f32 }

@vertex fn end(@builtin(vertex_index) index: u32) -> End {
  let vertex = edges[index];
  let value = field(vertex) / max(largest[0], 1e-30);
  return End(vec4f(places[vertex] * 0.96, 0.0, 1.0), value);
}

@fragment fn pixel(@location(0) value: f32) -> @location(0) vec4f {
  return vec4f(colour(0.5 + 0.5 * sign(value) * pow(abs(value), 0.6)), 1.0);
}
`;

const BACKGROUND = { r: 0.043, g: 0.063, b: 0.125, a: 1 };

/** A canvas that shows one field at a time. */
export class Picture {
  #context;
  #device;
  #format;
  #draw;
  #pipelines = new Map();

  constructor(canvas, device) {
    this.canvas = canvas;
    this.#device = device;
    this.#format = navigator.gpu.getPreferredCanvasFormat();
    this.#context = canvas.getContext('webgpu');
    this.#context.configure({ device, format: this.#format, alphaMode: 'opaque' });
  }

  #pipeline(code, vertex, topology) {
    const known = this.#pipelines.get(code);
    if (known) return known;
    const module = this.#device.createShaderModule({ code });
    const made = this.#device.createRenderPipeline({
      layout: 'auto',
      vertex: { module, entryPoint: vertex },
      fragment: { module, entryPoint: 'pixel', targets: [{ format: this.#format }] },
      primitive: { topology },
    });
    this.#pipelines.set(code, made);
    return made;
  }

  #buffer(data, usage) {
    const buffer = this.#device.createBuffer({ size: Math.max(data.byteLength, 16), usage: usage | GPUBufferUsage.COPY_DST });
    this.#device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  #group(pipeline, resources) {
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    return this.#device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  }

  #pass(encoder, pipeline, group, vertices) {
    const pass = encoder.beginRenderPass({
      colorAttachments: [{
        view: this.#context.getCurrentTexture().createView(),
        clearValue: BACKGROUND, loadOp: 'clear', storeOp: 'store',
      }],
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.draw(vertices);
    pass.end();
  }

  /** Shows a buffer of f32 or i32 as an image, row by row, from here on. */
  showPlate(place, { width, height, low, high, type = 'f32' }) {
    const pipeline = this.#pipeline(PLATE, 'corner', 'triangle-list');
    const shape = new ArrayBuffer(32);
    new Uint32Array(shape).set([width, height, 0, 0, Number(type === 'i32')]);
    new Float32Array(shape).set([low, high], 2);
    const group = this.#group(pipeline, [{ buffer: this.#buffer(new Uint8Array(shape), GPUBufferUsage.UNIFORM) }, place]);
    this.#draw = (encoder) => this.#pass(encoder, pipeline, group, 3);
  }

  /** Shows the sum of two buffers of floats on the edges of a mesh. */
  showMesh(base, correction, places, edges) {
    const pipeline = this.#pipeline(MESH, 'end', 'line-list');
    const storage = GPUBufferUsage.STORAGE;
    const largest = { buffer: this.#buffer(new Float32Array(4), storage) };
    const group = this.#group(pipeline, [
      base, correction, largest, { buffer: this.#buffer(places, storage) }, { buffer: this.#buffer(edges, storage) },
    ]);
    const module = this.#device.createShaderModule({ code: RANGE });
    const range = this.#device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'range' } });
    const rangeGroup = this.#group(range, [base, correction, largest]);
    this.#draw = (encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(range);
      pass.setBindGroup(0, rangeGroup);
      pass.dispatchWorkgroups(1);
      pass.end();
      this.#pass(encoder, pipeline, group, edges.length);
    };
  }

  /** Shows nothing from here on. */
  clear() {
    this.#draw = undefined;
  }

  /** Draws what the buffers hold now. */
  draw() {
    const size = Math.round(this.canvas.clientWidth * Math.min(devicePixelRatio, 2)) || 1;
    if (this.canvas.width !== size) {
      this.canvas.width = size;
      this.canvas.height = size;
    }
    if (!this.#draw) return;
    const encoder = this.#device.createCommandEncoder();
    this.#draw(encoder);
    this.#device.queue.submit([encoder.finish()]);
  }
}
