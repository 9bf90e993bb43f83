import { bytesOf, elementsOf } from './elements.js';
import { WavegateError } from './error.js';

/** A program compiled for a device. */
export class Executable {
  #engine;
  #number;
  #running;
  #destroyed = false;
  #byName;

  constructor(engine, device, number) {
    this.#engine = engine;
    this.#number = number;
    this.device = device;
    engine.call('describe', number);
    const { program, buffers, scalars, loops, regions, commands, hostFree } = engine.answer();
    Object.assign(this, { program, buffers, scalars, loops, regions, commands, hostFree });
    this.#byName = new Map(buffers.map((buffer) => [buffer.name, buffer]));
  }

  /** What the engine knows it by. */
  get number() {
    if (this.#destroyed) throw new WavegateError('invalid-input', 'was destroyed', `program "${this.program}"`);
    return this.#number;
  }

  /** Sets a launch parameter from the next run on. */
  set(name, value) {
    this.#demand('set_parameter', name, String(value));
  }

  /** Replaces elements of a buffer before the next run. */
  write(name, data, first = 0) {
    const buffer = this.#buffer(name);
    if (!Number.isSafeInteger(first) || first < 0) {
      throw new WavegateError('invalid-input', `elements are written from a whole number on, not from ${first}`);
    }
    const bytes = bytesOf(buffer, data);
    this.#demand('write', name, first * buffer.bytesPerElement, bytes);
  }

  /** Puts every value that has an initial value back to it before the next run. */
  reset() {
    this.#demand('reset');
  }

  /** Lends a GPUBuffer to an external buffer. */
  bind(name, buffer) {
    if (typeof buffer?.size !== 'number' || typeof buffer.usage !== 'number') {
      throw new WavegateError('invalid-input', `takes a GPUBuffer, not ${buffer}`, `buffer "${name}"`);
    }
    this.#withObject(buffer, (number) => this.#demand('bind', name, number, buffer.size));
  }

  /** Where a buffer of the program lies on the GPU. */
  place(name) {
    const number = this.#demand('place', name);
    return { buffer: this.#engine.objects.get(number), ...this.#engine.answer() };
  }

  /** Records a run into an encoder. */
  encode(encoder) {
    let encoding = this.#withObject(encoder, (number) => this.#demand('encode', number));
    return {
      submitted: () => {
        if (encoding !== 0) this.#engine.call('release_encoding', encoding);
        encoding = 0;
      },
    };
  }

  /** Runs the program and resolves to what it did. */
  async run({ set = {}, timeLimit } = {}) {
    if (this.#running) throw new WavegateError('invalid-input', 'is running; wait for the run before', `program "${this.program}"`);
    for (const [name, value] of Object.entries(set)) this.set(name, value);
    this.#call('set_time_limit', timeLimit ?? 0);
    const start = performance.now();
    this.#running = this.#engine.start('submit', this.#number);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
    const seconds = (performance.now() - start) / 1000;
    // Also where it was destroyed meanwhile: its memory goes after this.
    this.#engine.demand('finish', this.#number);
    return { ...this.#engine.answer(), seconds };
  }

  /** The elements of an output as the last run left them. */
  read(name) {
    const buffer = this.#buffer(name);
    const bytes = buffer.count * buffer.bytesPerElement;
    return this.#engine.withMemory(bytes, (pointer) => {
      this.#demand('read', name, pointer, bytes);
      return elementsOf(buffer, this.#engine.bytes(pointer, bytes));
    });
  }

  /** Gives its memory back, after the run that goes on. */
  destroy() {
    if (this.#destroyed) return;
    this.#destroyed = true;
    const release = () => this.#engine.call('release_executable', this.#number);
    if (this.#running) this.#running.then(release, release);
    else release();
  }

  #buffer(name) {
    const buffer = this.#byName.get(name);
    if (!buffer) throw new WavegateError('invalid-input', `the program has no buffer "${name}"`);
    return buffer;
  }

  /** Gives a GPU object a number while `use` needs it; C++ keeps one of its own. */
  #withObject(object, use) {
    const number = this.#engine.objects.add(object);
    try {
      return use(number);
    } finally {
      this.#engine.objects.remove(number);
    }
  }

  #call(name, ...values) {
    return this.#engine.call(name, this.number, ...values);
  }

  #demand(name, ...values) {
    return this.#engine.demand(name, this.number, ...values);
  }
}
