// What is tried on every WebGPU: in Node and in a browser alike, so that it takes and gives plain data alone.
// `wavegate` is the package, `device` one of its devices, `given` what the tests read from files.

const bits = (elements) => [...new Int32Array(elements.buffer, elements.byteOffset, elements.byteLength / 4)];

export async function heat({ wavegate, device, given }) {
  const { outputs, loops, counters } = await wavegate.run(given.heat, {
    device, files: { 'heat.kir': given.heatKernel }, set: { tolerance: given.tolerance },
  });
  return { u: bits(outputs.u), history: bits(outputs.history), loops, counters };
}

export async function search({ wavegate, device, given }) {
  const { outputs, loops } = await wavegate.run(given.search, {
    device, files: { 'bfs.kir': given.searchKernel, 'maze.graph': given.maze },
  });
  return { distance: bits(outputs.distance), loops };
}

/** The search by every strategy that can run it: which did, and whether all gave the same. */
export async function strategies({ wavegate, device, given }) {
  const files = { 'bfs.kir': given.searchKernel, 'maze.graph': given.maze };
  const ran = {};
  for (const strategy of ['gate', 'fused-gate', 'chained-gate', 'producer', 'early-out', 'chunked', 'resident']) {
    try {
      const { outputs, counters } = await wavegate.run(given.boundedSearch, { device, files, strategy });
      ran[strategy] = { distance: bits(outputs.distance), counters };
    } catch (error) {
      if (error.kind !== 'unsupported') throw error;
      ran[strategy] = error.message;
    }
  }
  return ran;
}

export async function mesh({ wavegate, device, given }) {
  const content = new TextEncoder().encode(given.maze);
  const { x, ...report } = await wavegate.solve({ name: 'maze.graph', content }, { device, tolerance: 1e-7 });
  return { x: [...x], ...report };
}

/** The elements of a GPUBuffer, copied by hand. */
async function copied(gpu, { buffer, offset, size }) {
  const host = gpu.createBuffer({ size, usage: 0x1 | 0x8 });
  const encoder = gpu.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, offset, host, 0, size);
  gpu.queue.submit([encoder.finish()]);
  await host.mapAsync(0x1);
  const elements = new Int32Array(host.getMappedRange().slice(0));
  host.destroy();
  return [...elements];
}

/** A program without outputs leaves its results on the GPU, where they are found by name. */
export async function inPlace({ wavegate, device, given }) {
  const program = JSON.parse(given.heat);
  program.buffers.u.output = false;
  program.run[1].body.pop();
  const executable = await wavegate.compile(program, { device, files: { 'heat.kir': given.heatKernel } });
  const { counters, loops } = await executable.run({ set: { tolerance: given.tolerance } });
  const u = await copied(device.gpuDevice, executable.place('u'));
  executable.destroy();
  return { u, counters, loops };
}

const COUNTING = {
  wavegate: 1,
  name: 'counting',
  buffers: { numbers: { type: 'i32', count: 64, external: true } },
  scalars: { n: { type: 'uint32', initial: 0 } },
  kernels: {
    add: {
      kir: `kernel add {
        workgroup_size 64 1 1
        buffer numbers i32 read_write
        %i: i32 = builtin global_id 0
        %old: i32 = load numbers[%i]
        %new: i32 = add %old, %i
        store numbers[%i], %new
      }`,
    },
  },
  run: [
    { assign: 'n', value: 0 },
    {
      while: ['<', 'n', 5], max: 10, label: 'count', body: [
        { dispatch: 'add', bindings: ['numbers'], grid: [1] },
        { assign: 'n', value: ['+', 'n', 1] },
      ],
    },
  ],
};

/** A device and a buffer of the application's, at the limits that every WebGPU has, and its own command encoder. */
export async function embedded({ wavegate, gpu }) {
  const adapter = await gpu.requestAdapter();
  const own = await adapter.requestDevice();
  const device = await wavegate.openDevice(own);
  const numbers = own.createBuffer({ size: 256, usage: 0x80 | 0x4 | 0x8 });
  const executable = await wavegate.compile(COUNTING, { device, hostFree: true });
  let unbound = '';
  await executable.run().catch((error) => {
    unbound = error.message;
  });
  executable.bind('numbers', numbers);
  await executable.run();
  const afterRun = await copied(own, { buffer: numbers, offset: 0, size: 256 });
  const encoder = own.createCommandEncoder();
  const recorded = executable.encode(encoder);
  own.queue.submit([encoder.finish()]);
  recorded.submitted();
  const afterEncode = await copied(own, { buffer: numbers, offset: 0, size: 256 });
  // A page hears too late for the call that an encoder takes nothing: the next one tells it, and the one after that runs.
  executable.encode(encoder).submitted();
  await own.queue.onSubmittedWorkDone();
  await copied(own, { buffer: numbers, offset: 0, size: 256 });
  let unfit = {};
  await executable.run().catch(({ kind, message }) => {
    unfit = { kind, message };
  });
  await executable.run();
  const afterAll = await copied(own, { buffer: numbers, offset: 0, size: 256 });
  executable.destroy();
  device.destroy();
  // Still the application's.
  const alive = await copied(own, { buffer: numbers, offset: 0, size: 256 });
  own.destroy();
  return { unbound, afterRun, afterEncode, unfit, afterAll, alive, limits: device.limits };
}

const ONE_MORE = {
  wavegate: 1,
  name: 'one more',
  buffers: { numbers: { type: 'i32', count: 4, initial: 41, output: true } },
  kernels: {
    add: {
      kir: `kernel add {
        workgroup_size 4 1 1
        buffer numbers i32 read_write
        %i: i32 = builtin global_id 0
        %one: i32 = constant 1
        %a: i32 = load numbers[%i]
        %b: i32 = add %a, %one
        store numbers[%i], %b
      }`,
    },
  },
  run: [{ dispatch: 'add', bindings: ['numbers'], grid: [1] }],
};

/** What was to be written by an encoder that takes nothing is written by the run after, whenever the page hears of it. */
export async function refusedEncoding({ wavegate, gpu }) {
  const own = await (await gpu.requestAdapter()).requestDevice();
  const device = await wavegate.openDevice(own);
  const encoder = own.createCommandEncoder();
  encoder.finish();
  const outcomes = [];
  for (const waits of [false, true]) {
    const executable = await wavegate.compile(ONE_MORE, { device, hostFree: true });
    executable.encode(encoder).submitted();
    if (waits) await own.queue.onSubmittedWorkDone();
    const outcome = {};
    await executable.run().catch(({ kind, message }) => Object.assign(outcome, { kind, message }));
    await executable.run();
    outcome.then = [...executable.read('numbers')];
    outcomes.push(outcome);
    executable.destroy();
  }
  device.destroy();
  own.destroy();
  return outcomes;
}

const ADDING = {
  wavegate: 1,
  name: 'adding',
  buffers: {
    from: { type: 'i32', count: 64, external: true },
    to: { type: 'i32', count: 64, external: true },
  },
  kernels: {
    add: {
      kir: `kernel add {
        workgroup_size 64 1 1
        buffer from i32 read
        buffer to i32 read_write
        %i: i32 = builtin global_id 0
        %a: i32 = load from[%i]
        %b: i32 = load to[%i]
        %c: i32 = add %a, %b
        store to[%i], %c
      }`,
    },
  },
  run: [{ dispatch: 'add', bindings: ['from', 'to'], grid: [1] }],
};

const STORAGE = 0x80;
const COPIES = 0x4 | 0x8;

/** One GPUBuffer lent twice, others that cannot be lent, and one that is destroyed. */
export async function lent({ wavegate, gpu }) {
  const own = await (await gpu.requestAdapter()).requestDevice();
  const device = await wavegate.openDevice(own);
  const executable = await wavegate.compile(ADDING, { device });
  const make = (size, usage) => own.createBuffer({ size, usage });
  const numbers = make(256, STORAGE | COPIES);
  own.queue.writeBuffer(numbers, 0, Int32Array.from({ length: 64 }, (_, i) => i));
  executable.bind('from', numbers);
  executable.bind('to', numbers);
  await executable.run();
  const doubled = await copied(own, { buffer: numbers, offset: 0, size: 256 });

  const refusals = [];
  const refused = ({ kind, message }) => refusals.push({ kind, message });
  for (const unfit of [make(128, STORAGE | COPIES), make(256, COPIES), make(256, STORAGE | 0x4), undefined]) {
    try {
      executable.bind('to', unfit);
    } catch (error) {
      refused(error);
    }
  }
  const gone = make(256, STORAGE | COPIES);
  executable.bind('to', gone);
  gone.destroy();
  await executable.run().catch(refused);
  executable.bind('to', numbers);
  await executable.run();
  const again = await copied(own, { buffer: numbers, offset: 0, size: 256 });
  executable.destroy();
  device.destroy();
  own.destroy();
  return { doubled, refusals, again };
}

/** The application destroys the device that it lends. */
export async function lost({ wavegate, gpu }) {
  const own = await (await gpu.requestAdapter()).requestDevice();
  const device = await wavegate.openDevice(own);
  const program = { wavegate: 1, name: 'count', scalars: { n: { type: 'uint32', initial: 0 } }, run: [{ assign: 'n', value: 7 }] };
  const executable = await wavegate.compile(program, { device });
  const { scalars } = await executable.run();
  own.destroy();
  await own.lost;
  const errors = [];
  const failed = ({ kind, message }) => errors.push({ kind, message });
  await executable.run().catch(failed);
  await wavegate.compile(program, { device }).catch(failed);
  executable.destroy();
  device.destroy();
  return { before: scalars.n, errors };
}

// A sandpile: a cell with four grains or more gives one to each neighbour.
const TOPPLE = `
@group(0) @binding(0) var<storage, read> old: array<i32>;
@group(0) @binding(1) var<storage, read_write> next: array<i32>;
@group(0) @binding(2) var<storage, read_write> moving: array<atomic<u32>>;

fn falls(x: i32, y: i32) -> i32 {
  if (x < 0 || y < 0 || x > 15 || y > 15) { return 0; }
  return select(0, 1, old[y * 16 + x] >= 4);
}

@compute @workgroup_size(8, 8) fn topple(@builtin(global_invocation_id) id: vec3u) {
  let x = i32(id.x);
  let y = i32(id.y);
  let here = old[y * 16 + x];
  if (here >= 4) { atomicStore(&moving[0], 1u); }
  next[y * 16 + x] = here - 4 * falls(x, y) + falls(x - 1, y) + falls(x + 1, y) + falls(x, y - 1) + falls(x, y + 1);
}`;

/** A shader of the user's own in a loop, by the strategies that can gate it. */
export async function ownShader({ wavegate, device }) {
  const program = {
    wavegate: 1,
    name: 'sandpile',
    buffers: { u: { type: 'i32', count: 256, initial: 6, output: true }, v: { type: 'i32', count: 256 } },
    scalars: { moving: { type: 'uint32', initial: 1 } },
    kernels: {
      topple: {
        wgsl_file: 'topple.wgsl',
        entry_point: 'topple',
        workgroup_size: [8, 8],
        bindings: [
          { name: 'old', type: 'i32', access: 'read' },
          { name: 'new', type: 'i32', access: 'write' },
          { name: 'moving', kind: 'scalar', type: 'i32', access: 'read_write' },
        ],
      },
    },
    run: [
      {
        while: 'moving', max: 2000, label: 'until nothing moves', body: [
          { assign: 'moving', value: 0 },
          { dispatch: 'topple', bindings: ['u', 'v', 'moving'], threads: [16, 16] },
          { dispatch: 'topple', bindings: ['v', 'u', 'moving'], threads: [16, 16] },
        ],
      },
    ],
  };
  const results = {};
  for (const strategy of ['early-out', 'chunked', 'gate']) {
    const { outputs, loops } = await wavegate.run(program, { device, files: { 'topple.wgsl': TOPPLE }, strategy });
    results[strategy] = { u: bits(outputs.u), loops };
  }
  return results;
}

/** What commands cost, measured here. */
export async function calibrated({ device }) {
  const measured = await device.calibrate();
  return { measured, kept: device.costs };
}

/** The error of a kernel that WGSL cannot say. */
export async function unsupported({ wavegate, device }) {
  const program = {
    wavegate: 1,
    name: 'doubles',
    buffers: { x: { type: 'f64', count: 64, initial: 1, output: true } },
    kernels: {
      twice: {
        kir: `kernel twice {
          workgroup_size 64 1 1
          buffer x f64 read_write
          %i: i32 = builtin global_id 0
          %a: f64 = load x[%i]
          %b: f64 = add_f %a, %a
          store x[%i], %b
        }`,
      },
    },
    run: [{ dispatch: 'twice', bindings: ['x'], grid: [1] }],
  };
  try {
    await wavegate.run(program, { device });
    return {};
  } catch ({ kind, message }) {
    return { kind, message };
  }
}
