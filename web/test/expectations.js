// What the cases must give: the bytes of the native command.
import assert from 'node:assert/strict';
import { bytesOf, runNatively, solveNatively, textOf } from './native.js';

const TOLERANCE = 0.05;

function boundedSearch() {
  const program = JSON.parse(textOf('examples/bfs.json'));
  const loop = program.run.find((command) => command.while);
  loop.max = 340;
  delete loop.body.find((command) => command.record).capacity;
  return JSON.stringify(program);
}

/** Plain data for the cases. */
export const given = {
  tolerance: TOLERANCE,
  heat: textOf('examples/heat.json'),
  heatKernel: textOf('examples/heat.kir'),
  search: textOf('examples/bfs.json'),
  boundedSearch: boundedSearch(),
  searchKernel: textOf('examples/bfs.kir'),
  maze: textOf('examples/maze.graph'),
};

const words = (bytes) => [...new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)];
const trips = (loops) => loops.map((loop) => loop.trips);

export const expectations = {
  heat({ u, history, loops }) {
    const native = runNatively('examples/heat.json', { outputs: ['u', 'history'], set: { tolerance: TOLERANCE } });
    assert.deepEqual(trips(loops), trips(native.loops));
    assert.equal(loops[0].exitReason, 'converged');
    assert.deepEqual(u, words(native.outputs.u));
    assert.deepEqual(history, words(native.outputs.history));
  },
  search({ distance, loops }) {
    const native = runNatively('examples/bfs.json', { outputs: ['distance'] });
    assert.deepEqual(distance, words(native.outputs.distance));
    assert.deepEqual(trips(loops), trips(native.loops));
  },
  strategies(ran) {
    const native = runNatively('examples/bfs.json', { outputs: ['distance'] });
    const done = Object.entries(ran).filter(([, result]) => typeof result !== 'string');
    assert.ok(done.length >= 4, JSON.stringify(ran));
    for (const [strategy, { distance }] of done) assert.deepEqual(distance, words(native.outputs.distance), strategy);
    for (const strategy of ['gate', 'fused-gate', 'early-out', 'chunked']) assert.ok(ran[strategy].distance, ran[strategy]);
    // One submission for the run, whatever the host-free strategy.
    assert.equal(ran['early-out'].counters.submissions, 1);
  },
  mesh({ x, exitReason, relativeResidual, iterations }) {
    const native = solveNatively('examples/maze.graph', 1e-7);
    assert.equal(exitReason, 'converged');
    assert.ok(relativeResidual <= 1e-7, relativeResidual);
    assert.equal(iterations, native.iterations);
    assert.deepEqual(x, [...native.x]);
  },
  inPlace({ u, counters, loops }) {
    const native = runNatively('examples/heat.json', { outputs: ['u'], set: { tolerance: TOLERANCE } });
    assert.deepEqual(trips(loops), trips(native.loops));
    assert.deepEqual(u, words(native.outputs.u));
    // The scalars, which tell trips and exit reason; never the field.
    assert.equal(counters.readbacks, 1);
  },
  embedded({ unbound, afterRun, afterEncode, unfit, afterAll, alive, limits }) {
    const times = (count) => Array.from({ length: 64 }, (_, i) => i * count);
    assert.match(unbound, /"numbers" has no memory/);
    assert.deepEqual(afterRun, times(5));
    assert.deepEqual(afterEncode, times(10));
    assert.equal(unfit.kind, 'invalid-input', unfit.message);
    assert.match(unfit.message, /recording it: .*not finished/);
    assert.deepEqual(afterAll, times(15));
    assert.deepEqual(alive, times(15));
    assert.equal(limits.workgroupInvocations, 256);
  },
  refusedEncoding(outcomes) {
    for (const { kind, message, then } of outcomes) {
      assert.equal(kind, 'invalid-input', message);
      assert.match(message, /not finished/);
      assert.deepEqual(then, [42, 42, 42, 42]);
    }
    assert.equal(outcomes.length, 2);
  },
  lent({ doubled, refusals, again }) {
    const times = (count) => Array.from({ length: 64 }, (_, i) => i * count);
    assert.deepEqual(doubled, times(2));
    assert.deepEqual(again, times(4));
    const expected = [/needs 256 bytes/, /usage STORAGE/, /usage COPY_DST/, /takes a GPUBuffer/, /neither destroyed nor mapped/];
    assert.equal(refusals.length, expected.length, JSON.stringify(refusals));
    refusals.forEach(({ kind, message }, i) => {
      assert.equal(kind, 'invalid-input', message);
      assert.match(message, expected[i]);
    });
  },
  lost({ before, errors }) {
    assert.equal(before, 7);
    assert.equal(errors.length, 2);
    for (const { kind, message } of errors) {
      assert.equal(kind, 'device', message);
      assert.match(message, /the device is lost/);
    }
  },
  ownShader(results) {
    let grains = Array(256).fill(6);
    let steps = 0;
    for (let moving = true; moving; steps += 1) {
      const falls = grains.map((height) => Number(height >= 4));
      const at = (x, y) => (x < 0 || y < 0 || x > 15 || y > 15 ? 0 : falls[y * 16 + x]);
      moving = falls.includes(1);
      grains = grains.map((height, i) => {
        const [x, y] = [i % 16, Math.floor(i / 16)];
        return height - 4 * falls[i] + at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
      });
    }
    for (const [strategy, { u, loops: [{ trips, exitReason }] }] of Object.entries(results)) {
      assert.deepEqual(u, grains, strategy);
      assert.equal(exitReason, 'converged', strategy);
      assert.equal(trips, Math.floor(steps / 2) + 1, strategy);
    }
  },
  calibrated({ measured, kept }) {
    assert.deepEqual(kept, measured);
    assert.ok(Object.values(measured).every((cost) => cost >= 0 && cost < 1e6), JSON.stringify(measured));
    assert.ok(measured.dispatch > 0 && measured.round_trip > 0);
  },
  unsupported({ kind, message }) {
    assert.equal(kind, 'unsupported');
    assert.match(message, /f64|float64/);
  },
};
