import { Engine } from './engine.js';
import { WavegateError } from './error.js';

/** Something that runs programs. */
export class Device {
  #engine;
  #number;
  #destroyed = false;

  constructor(engine, number, gpuDevice) {
    this.#engine = engine;
    this.#number = number;
    this.gpuDevice = gpuDevice;
    engine.call('describe_device', number);
    Object.assign(this, engine.answer());
    this.lost = new Promise((resolve) => {
      gpuDevice?.lost.then(({ reason, message }) => {
        if (reason !== 'destroyed') resolve(message || 'the browser does not say why');
      });
    });
  }

  /** What the engine knows it by. */
  get number() {
    if (this.#destroyed) throw new WavegateError('invalid-input', 'was destroyed', `device "${this.name}"`);
    return this.#number;
  }

  /** Measures what commands cost. */
  async calibrate() {
    if (this.backend !== 'webgpu') {
      throw new WavegateError('unsupported', 'only what WebGPU costs is measured', `device "${this.name}"`);
    }
    await this.#engine.start('calibrate', this.number);
    return this.costs;
  }

  /** What was measured, if anything. */
  get costs() {
    return this.#engine.call('measured_costs', this.number) === 0 ? undefined : this.#engine.answer();
  }

  destroy() {
    if (!this.#destroyed) this.#engine.call('release_device', this.#number);
    this.#destroyed = true;
  }
}

export async function openDevice(choice = 'webgpu') {
  const engine = await Engine.load();
  if (choice === 'reference') return new Device(engine, engine.call('open_reference'));
  if (choice === 'webgpu') {
    const { number, gpuDevice } = await engine.openWebGpu();
    return new Device(engine, number, gpuDevice);
  }
  if (typeof choice?.createCommandEncoder === 'function') {
    return new Device(engine, await engine.adoptWebGpu(choice), choice);
  }
  throw new WavegateError('invalid-input', 'a device is "webgpu", "reference", a GPUDevice, or one that openDevice gave');
}
