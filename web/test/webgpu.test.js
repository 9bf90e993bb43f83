// The package in Node with Dawn (npm "webgpu"), on whatever Vulkan driver is there; SwiftShader comes with Chromium.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { create, globals } from 'webgpu';
import * as wavegate from 'wavegate';
import * as cases from './cases.js';
import { expectations, given } from './expectations.js';

const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SWIFTSHADER)) process.env.VK_ICD_FILENAMES = SWIFTSHADER;
process.env.XDG_RUNTIME_DIR ??= mkdtempSync(join(tmpdir(), 'wavegate-'));

Object.assign(globalThis, globals);
const gpu = create([]);
Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'Node.js/20' }, configurable: true });
const device = (await gpu.requestAdapter()) ? await wavegate.openDevice() : undefined;
const skip = device ? false : 'there is no WebGPU adapter';

for (const [name, examine] of Object.entries(expectations)) {
  test(`in Node: ${name}`, { skip }, async () => examine(await cases[name]({ wavegate, device, gpu, given })));
}

test('in Node: what is destroyed leaves nothing behind', { skip }, async () => {
  const { Engine } = await import('../lib/engine.js');
  const engine = await Engine.load();
  await cases.search({ wavegate, device, given });
  const before = engine.objects.count;
  for (let i = 0; i < 3; ++i) await cases.search({ wavegate, device, given });
  assert.equal(engine.objects.count, before);
});

test('in Node: a fault in a callback ends the run that it belongs to, and no other', { skip }, async () => {
  const counting = (name) => ({
    wavegate: 1,
    name,
    scalars: { n: { type: 'uint32', initial: 0 } },
    run: [{ while: ['<', 'n', 2000], label: 'up', body: [{ assign: 'n', value: ['+', 'n', 1] }] }],
  });
  const { gpuDevice } = device;
  const { createCommandEncoder } = gpuDevice;
  let encoders = 0;
  gpuDevice.createCommandEncoder = (descriptor) => {
    if (descriptor?.label === 'faulty' && ++encoders === 3) throw new Error('the encoder is out of order');
    return createCommandEncoder.call(gpuDevice, descriptor);
  };
  try {
    const options = { device, strategy: 'chunked' };
    const [faulty, sound] = await Promise.allSettled(['faulty', 'sound'].map((name) => wavegate.run(counting(name), options)));
    assert.equal(encoders >= 3, true, 'the fault did not happen');
    assert.equal(faulty.status, 'rejected');
    assert.match(faulty.reason.message, /create_encoder: the encoder is out of order/);
    assert.equal(sound.status, 'fulfilled', sound.reason);
    assert.equal(sound.value.scalars.n, 2000);
  } finally {
    delete gpuDevice.createCommandEncoder;
  }
});

after(() => {
  device?.destroy();
  // Dawn's threads would keep the process.
  setTimeout(() => process.exit(), 500).unref();
});
