// What control flow costs a page: one dependent chain of kernels by each strategy, as wavegate-bench-control measures
// it natively.

const KIR = `kernel body {
  workgroup_size 64 1 1
  buffer state i32 read_write
  %i: i32 = builtin global_id 0
  %old: i32 = load state[%i]
  %a: i32 = constant 1664525
  %b: i32 = constant 1013904223
  %product: i32 = mul %old, %a
  %new: i32 = add %product, %b
  store state[%i], %new
}`;

/** The same as a shader of the user's own. */
const WGSL = `
@group(0) @binding(0) var<storage, read_write> state: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  state[id.x] = state[id.x] * 1664525u + 1013904223u;
}`;

const OWN = {
  wgsl_file: 'body.wgsl',
  workgroup_size: [64],
  bindings: [{ name: 'state', type: 'i32', access: 'read_write' }],
};

/**
 * The program of a case: `direct` spells the chain out with no predicate, `host-polled` holds one iteration, and any
 * other strategy is a loop that ends after as many iterations as the parameter `needed` says.
 */
function programOf({ strategy, kernels, workgroups, bound, needed, own = false }) {
  const body = Array(kernels).fill({ dispatch: 'body', bindings: ['state'], grid: [workgroups] });
  const counting = [
    { assign: 'count', value: ['+', 'count', 1] },
    { assign: 'more', value: ['<', 'count', 'needed'] },
  ];
  const loop = { while: 'more', label: 'loop', body: [...body, ...counting] };
  if (strategy === 'direct') Object.assign(loop, { min: needed, max: needed });
  else if (bound !== null) loop.max = bound;
  const start = [{ assign: 'count', value: 0 }, { assign: 'more', value: 1 }];
  return {
    wavegate: 1,
    name: 'chain',
    buffers: { state: { type: 'i32', count: 64 * workgroups, initial: 1 } },
    scalars: { count: { type: 'uint32', initial: 0 }, more: { type: 'uint32', initial: 1 } },
    parameters: { needed: { type: 'uint32', value: needed } },
    kernels: { body: own ? OWN : { kir: KIR } },
    run: strategy === 'host-polled' ? [...body, ...counting] : [...start, loop],
  };
}

async function prepare({ wavegate, device }, what) {
  const options = { device, files: { 'body.wgsl': WGSL } };
  if (what.strategy === 'direct') options.strategy = 'unroll';
  else if (!['default', 'host-polled'].includes(what.strategy)) options.strategy = what.strategy;
  try {
    const executable = await wavegate.compile(programOf(what), options);
    return { what, executable, times: [], chosen: executable.regions.at(-1)?.strategy };
  } catch (error) {
    if (error.kind !== 'unsupported') throw error;
    return { what, refused: error.message };
  }
}

/** From the first submission until the page has the result, in microseconds. */
async function once({ what, executable }) {
  executable.reset();
  const start = performance.now();
  let report;
  do report = await executable.run();
  while (what.strategy === 'host-polled' && report.scalars.more !== 0);
  const taken = (performance.now() - start) * 1000;
  if (report.scalars.count !== what.needed)
    throw new Error(`${what.strategy}: ${report.scalars.count} iterations where ${what.needed} are needed`);
  return taken;
}

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];

/** Each turn starts with the next case, and every second goes backwards: no case always follows the same one. */
function inTurn(all, run) {
  const step = run % 2 === 0 ? 1 : all.length - 1;
  return all.map((_, i) => all[(run + i * step) % all.length]);
}

/** Runs cases in turns, after one run each that warms up. The first is what the others are compared with. */
async function group(place, cases, runs) {
  const all = [];
  for (const what of cases) all.push(await prepare(place, what));
  for (let run = 0; run <= runs; ++run)
    for (const each of inTurn(all, run)) {
      if (each.refused) continue;
      const taken = await once(each);
      if (run > 0) each.times.push(taken);
    }
  const floor = median(all[0].times);
  return all.map(({ what, executable, chosen, refused, times }) => {
    executable?.destroy();
    if (refused) return { ...what, refused };
    const microseconds = median(times);
    return { ...what, chosen, microsecondsPerIteration: microseconds / what.needed, ratio: microseconds / floor };
  });
}

const LOOPS = ['default', 'gate', 'fused-gate', 'chained-gate', 'producer', 'early-out', 'chunked', 'resident'];

/** `report` hears of each group. Resolves to the rows of all groups. */
export async function measure({ wavegate, device, quick = false, report = () => {} }) {
  const place = { wavegate, device };
  const full = quick ? 100 : 1000;
  const runs = quick ? 3 : 7;
  const rows = [];
  const add = async (cases) => {
    const { kernels, workgroups, needed } = cases[0];
    report(`${kernels} kernels of ${workgroups} workgroups, ${needed} iterations`);
    rows.push(...await group(place, cases, runs));
  };
  for (const workgroups of [1, 256]) {
    for (const kernels of [1, 4, 8])
      await add(['direct', ...LOOPS, 'host-polled'].map((strategy) => ({ strategy, kernels, workgroups, bound: full, needed: full })));
    await add(['direct', ...LOOPS].map((strategy) => ({ strategy, kernels: 1, workgroups, bound: full, needed: full / 100 })));
    for (const needed of quick ? [200] : [1000, 20000])
      await add([needed + 1, needed * 100, null].map((bound) => ({ strategy: 'default', kernels: 1, workgroups, bound, needed })));
  }
  await add(['direct', 'default', 'gate', 'fused-gate', 'early-out'].map(
    (strategy) => ({ strategy, kernels: 8, workgroups: 1, bound: full, needed: full, own: true })));
  return rows;
}
