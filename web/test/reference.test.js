// The package in Node on the reference device, which needs no WebGPU.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WavegateError, compile, openDevice, run, solve } from 'wavegate';
import { bytesOf, filesOf, runNatively, textOf } from './native.js';
import { heatProgram } from '../page/heat.js';

const device = 'reference';
const heat = textOf('examples/heat.json');
const heatFiles = filesOf('examples', ['heat.kir']);

test('heat flow gives the bytes of the native command', async () => {
  const native = runNatively('examples/heat.json', { outputs: ['u', 'history'], set: { tolerance: 0.5 } });
  const here = await run(heat, { device, files: heatFiles, set: { tolerance: 0.5 } });
  assert.deepEqual(bytesOf(here.outputs.u), native.outputs.u);
  assert.deepEqual(bytesOf(here.outputs.history), native.outputs.history);
  assert.equal(here.loops[0].trips, native.loops[0].trips);
  assert.equal(here.loops[0].exitReason, 'converged');
});

test('a search over a mesh with computed grids gives the bytes of the native command', async () => {
  const native = runNatively('examples/bfs.json', { outputs: ['distance'] });
  const here = await run(textOf('examples/bfs.json'), { device, files: filesOf('examples', ['bfs.kir', 'maze.graph']) });
  assert.deepEqual(bytesOf(here.outputs.distance), native.outputs.distance);
  assert.deepEqual(here.loops.map(({ trips }) => trips), native.loops.map(({ trips }) => trips));
});

test("the page's program gives the bytes of the native command", async () => {
  const program = heatProgram(16);
  const options = { outputs: ['u'], set: { tolerance: 1 } };
  const contents = new Float32Array(256).map((_, i) => (i % 7) * 10);
  const given = structuredClone(program);
  given.buffers.u.initial = [...contents];
  const native = runNatively(given, options);
  const here = await run(program, { device, ...options, inputs: { u: contents } });
  assert.deepEqual(bytesOf(here.outputs.u), native.outputs.u);
});

test('an executable runs again from where it was, and from the beginning after a reset', async () => {
  const executable = await compile(heat, { device, files: heatFiles });
  const first = await executable.run({ set: { tolerance: 0.5 } });
  const second = await executable.run({ set: { tolerance: 0.25 } });
  const more = executable.read('u');
  executable.reset();
  const again = await executable.run({ set: { tolerance: 0.5 } });
  assert.equal(again.loops[0].trips, first.loops[0].trips);
  assert.ok(second.loops[0].trips > 0);
  assert.notDeepEqual(executable.read('u'), more);
  executable.destroy();
  await assert.rejects(executable.run(), /was destroyed/);
});

test('what is destroyed says so, and lets a run that goes on end', async () => {
  const executable = await compile(heat, { device, files: heatFiles });
  const running = executable.run({ set: { tolerance: 0.5 } });
  executable.destroy();
  assert.equal((await running).loops[0].exitReason, 'converged');
  assert.throws(() => executable.read('u'), /was destroyed/);

  const gone = await openDevice(device);
  gone.destroy();
  assert.throws(() => gone.costs, /was destroyed/);
  await assert.rejects(compile(heat, { device: gone, files: heatFiles }), /was destroyed/);
});

test('elements are written where they are meant to be', async () => {
  const program = {
    wavegate: 1, name: 'copy',
    buffers: { a: { type: 'i32', count: 4, initial: 7 }, b: { type: 'i32', count: 4, output: true } },
    run: [{ copy: { from: 'a', to: 'b' } }],
  };
  const executable = await compile(program, { device });
  executable.write('a', new Int32Array([-1, 2]), 1);
  await executable.run();
  assert.deepEqual(executable.read('b'), new Int32Array([7, -1, 2, 7]));
  assert.throws(() => executable.write('a', new Float32Array(1)), { kind: 'invalid-input' });
  assert.throws(() => executable.write('a', new Int32Array(2), 3), { kind: 'invalid-input' });
  assert.throws(() => executable.write('c', [1]), /no buffer "c"/);
  for (const first of [-1, 0.5, NaN]) assert.throws(() => executable.write('a', new Int32Array(1), first), { kind: 'invalid-input' });
});

test('a system is solved, from a compressed file as well', async () => {
  const content = filesOf('examples', ['maze.graph'])['maze.graph'];
  const plain = await solve({ name: 'maze.graph', content }, { device, tolerance: 1e-8 });
  assert.equal(plain.exitReason, 'converged');
  assert.ok(plain.relativeResidual <= 1e-8);
  const packed = await solve({ name: 'maze.graph.gz', content: gzipSync(content) }, { device, tolerance: 1e-8 });
  assert.deepEqual(packed.x, plain.x);
});

test('a program is fetched with the files that it names', async () => {
  const server = createServer((request, response) => {
    const name = request.url.slice(1);
    if (!['heat.json', 'heat.kir', 'bfs.json'].includes(name)) return response.writeHead(404).end();
    return response.end(textOf(`examples/${name}`));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  try {
    const fetched = await run(new URL('heat.json', url), { device, set: { tolerance: 0.5 } });
    const given = await run(heat, { device, files: heatFiles, set: { tolerance: 0.5 } });
    assert.deepEqual(fetched.outputs.u, given.outputs.u);
    await assert.rejects(run(new URL('bfs.json', url), { device }), /bfs\.kir: cannot be fetched: 404|maze\.graph: cannot be fetched: 404/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('mistakes are told with their kind and place', async () => {
  const rejected = (promise, kind, pattern) => assert.rejects(promise, (error) => {
    assert.ok(error instanceof WavegateError, String(error));
    assert.equal(error.kind, kind);
    assert.match(error.message, pattern);
    return true;
  });
  await rejected(compile('{', { device, name: 'cut.json' }), 'invalid-input', /^cut\.json: not JSON/);
  await rejected(compile(heat, { device }), 'invalid-input', /heat\.kir.*not among the files/);
  await rejected(compile(heat, { device, files: heatFiles, strategy: 'earlyout' }), 'invalid-input', /did you mean "early-out"/);
  await rejected(compile(heat, { device, files: heatFiles, outputs: ['w'] }), 'invalid-input', /no buffer "w"/);
  await rejected(run(heat, { device, files: heatFiles, set: { tolerence: 1 } }), 'invalid-input', /did you mean "tolerance"/);
  await rejected(openDevice('vulkan'), 'invalid-input', /"webgpu"/);
  await rejected(solve({ name: 'a.txt', content: new Uint8Array() }, { device }), 'invalid-input', /\.mtx/);
  await rejected(solve({ name: 'a.mtx.gz', content: new Uint8Array([0x1f, 0x8b, 1]) }, { device }), 'invalid-input', /damaged/);
});

test('an endless program ends at its time limit', async () => {
  const program = {
    wavegate: 1, name: 'endless', scalars: { n: { type: 'uint32', initial: 1 } },
    run: [{ while: 'n', label: 'for ever', body: [{ assign: 'n', value: 1 }] }],
  };
  await assert.rejects(run(program, { device, timeLimit: 0.1 }), /for ever.*0\.1 seconds/);
});
