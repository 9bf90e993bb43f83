// Read by the compiler alone: package.test.js.
import { compile, compileSolver, openDevice, run, solve, WavegateError, type RunReport, type Strategy } from 'wavegate';

const strategy: Strategy = 'early-out';
const { outputs, loops, counters } = await run(new URL('heat.json', 'https://example.org/'), {
  strategy, set: { tolerance: 0.1 }, timeLimit: 5,
});
const trips: number = loops[0].trips;
const reason: 'converged' | 'bound' = loops[0].exitReason;
const readbacks: number = counters.readbacks;
const u = outputs.u;
if (u instanceof Float32Array) u.fill(trips + readbacks);

declare const gpuDevice: GPUDevice;
declare const buffer: GPUBuffer;
declare const encoder: GPUCommandEncoder;
const device = await openDevice(gpuDevice);
const executable = await compile({ wavegate: 1 }, { device, hostFree: true, inputs: { u: [1, 2] } });
executable.bind('u', buffer);
executable.encode(encoder).submitted();
const report: RunReport = await executable.run();
const place: GPUBuffer = executable.place('u').buffer;

const solver = await compileSolver({ name: 'a.mtx', content: new Uint8Array() }, { jacobi: true });
const x: Float64Array = solver.solution().x;
const { relativeResidual } = await solve({ name: 'a.graph', content: new ArrayBuffer(0) });

try {
  // @ts-expect-error: there is no such strategy.
  await run('{}', { strategy: 'fastest' });
  // @ts-expect-error: a parameter is a number.
  executable.set('tolerance', 'small');
  // @ts-expect-error: executables come from compile().
  new (executable.constructor as typeof import('wavegate').Executable)();
} catch (error) {
  if (error instanceof WavegateError && error.kind === 'unsupported') console.log(error.where);
}
console.log(reason, report, place, x, relativeResidual);
