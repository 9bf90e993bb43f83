import { WavegateError } from './error.js';
import { gpuImports } from './gpu.js';
import { wasiImports } from './wasi.js';

// The wasm and what crosses its border: text, bytes, objects by number, and callbacks by id.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function fetchModule(url) {
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new WavegateError('device', `cannot be fetched: ${response.status} ${response.statusText}`, url.href);
  return WebAssembly.compile(await response.arrayBuffer());
}

export class Engine {
  static #loading;

  /** The one engine of this page; loaded when it is first asked for. */
  static load(url = new URL('./wavegate.wasm', import.meta.url)) {
    Engine.#loading ??= Engine.#start(url);
    Engine.#loading.catch(() => {
      Engine.#loading = undefined;
    });
    return Engine.#loading;
  }

  static async #start(url) {
    const engine = new Engine();
    await engine.#instantiate(await fetchModule(url));
    return engine;
  }

  #exports;
  #broken;
  #fault;
  #requested;
  #waiting = new Map();
  #lastId = 0;
  /** The id of what goes on: was just started, or goes on in a callback. 0: nothing that anyone waits for. */
  #owner = 0;
  /** The files of the program that is being read, by path. */
  files = new Map();
  /** GPU objects by number. */
  objects;

  async #instantiate(module) {
    const memory = () => this.#exports.memory.buffer;
    const gpu = gpuImports({
      gpu: () => globalThis.navigator?.gpu,
      memory,
      caller: (id) => {
        const owner = this.#owner;
        return (status, text = '') => this.#callBack(owner, id, status, text);
      },
    });
    this.objects = gpu.objects;
    this.#requested = gpu.requested;
    const fileAt = (path, length) => this.files.get(this.#text(path, length));
    const host = {
      file_size: (path, length) => fileAt(path, length)?.byteLength ?? -1,
      file_content: (path, length, into) => new Uint8Array(memory(), into >>> 0).set(fileAt(path, length)),
      done: (id, status) => this.#done(id, status),
      kept_size: (name, length) => kept(this.#text(name, length))?.length ?? -1,
      kept_content: (name, length, into) => new Uint8Array(memory(), into >>> 0).set(kept(this.#text(name, length))),
      keep: (name, length, data, bytes) => keep(this.#text(name, length), new Uint8Array(memory(), data >>> 0, bytes)),
    };
    const { exports } = await WebAssembly.instantiate(module, {
      gpu: this.#guarded(gpu.imports),
      host: this.#guarded(host),
      wasi_snapshot_preview1: wasiImports(module, memory, (text) => console.error(text)),
    });
    this.#exports = exports;
    exports._initialize?.();
  }

  /** The bytes of the engine's memory from an address on. They move when it grows: use them at once. */
  bytes(pointer, length) {
    return new Uint8Array(this.#exports.memory.buffer, pointer >>> 0, length);
  }

  #text(pointer, length) {
    return decoder.decode(this.bytes(pointer, length));
  }

  /** The answer of the last call, from JSON. */
  answer() {
    return JSON.parse(this.#text(this.#exports.answer(), this.#exports.answer_bytes()));
  }

  /** Calls an export. Strings and bytes become an address and a length. */
  call(name, ...values) {
    return this.#enter(() => this.#invoke(name, values));
  }

  /** The same of one that returns 0 where it fails. */
  demand(name, ...values) {
    const result = this.call(name, ...values);
    if (result === 0) throw this.#error();
    return result;
  }

  /** Starts what ends later: calls an export with an id before its arguments; resolves to what it ends with. */
  start(name, ...values) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      try {
        this.#as(id, () => this.demand(name, id, ...values));
      } catch (error) {
        this.#waiting.delete(id);
        reject(error);
      }
    });
  }

  /** Asks the browser for a device: the engine's number of it, and the GPUDevice. */
  async openWebGpu() {
    const opening = this.start('open_webgpu');
    const requested = this.#requested();
    const number = await opening;
    return { number, gpuDevice: requested.device };
  }

  /** The engine's number of a GPUDevice of the page's own. */
  async adoptWebGpu(gpuDevice) {
    const object = this.objects.add(gpuDevice);
    try {
      return await this.start('adopt_webgpu', object);
    } finally {
      this.objects.remove(object);
    }
  }

  /** Calls `use` with the address of so many bytes, which it may keep no longer. */
  withMemory(length, use) {
    const pointer = this.#allocate(length);
    try {
      return use(pointer);
    } finally {
      this.#exports.free(pointer);
    }
  }

  #allocate(length) {
    const pointer = this.#exports.malloc(Math.max(length, 1));
    if (pointer === 0) throw new WavegateError('device', `${length} bytes do not fit into the memory that a page has`);
    return pointer;
  }

  #invoke(name, values) {
    const taken = [];
    try {
      const passed = values.flatMap((value) => {
        const bytes = typeof value === 'string' ? encoder.encode(value) : value;
        if (!(bytes instanceof Uint8Array)) return [bytes];
        const pointer = this.#allocate(bytes.length);
        taken.push(pointer);
        this.bytes(pointer, bytes.length).set(bytes);
        return [pointer, bytes.length];
      });
      return this.#exports[name](...passed);
    } finally {
      if (!this.#broken) taken.forEach((pointer) => this.#exports.free(pointer));
    }
  }

  /** What every way into the wasm has in common: it is not entered once it broke, and what broke it is told. */
  #enter(call) {
    if (this.#broken) throw this.#broken;
    try {
      const result = call();
      if (this.#fault === undefined) return result;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        this.#break(new WavegateError('device',
          `the engine stopped, most likely because the page's memory is full; reload the page (${error.message})`));
        throw this.#broken;
      }
      throw error;
    }
    const fault = this.#fault;
    this.#fault = undefined;
    throw fault;
  }

  /** Does something on behalf of what was started with this id. */
  #as(owner, act) {
    const before = this.#owner;
    this.#owner = owner;
    try {
      return act();
    } finally {
      this.#owner = before;
    }
  }

  /**
   * Nobody above a callback could catch what goes wrong in it: whoever waits for what it belongs to is told, or if nobody
   * does the console. What broke the engine was told to all.
   */
  #callBack(owner, id, status, text) {
    try {
      this.#as(owner, () => this.#enter(() => this.#invoke('called_back', [id, status, text])));
    } catch (error) {
      if (error === this.#broken) return;
      const waiting = this.#waiting.get(owner);
      this.#waiting.delete(owner);
      if (waiting) waiting.reject(error);
      else console.error(error);
    }
  }

  /** A trap leaves the wasm's memory as it was amid something: nothing in it can be believed, and everything ends. */
  #break(error) {
    this.#broken = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** Imports that never throw through C++: what they throw is thrown when the wasm has returned. */
  #guarded(imports) {
    return Object.fromEntries(Object.entries(imports).map(([name, body]) => [name, (...values) => {
      try {
        return body(...values);
      } catch (error) {
        this.#fault ??= new WavegateError('internal', `${name}: ${error?.message ?? error}`);
        return 0;
      }
    }]));
  }

  #error() {
    const { kind, message, where } = this.answer();
    return new WavegateError(kind, message, where);
  }

  #done(id, status) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!waiting) return;
    if (status === 0) waiting.reject(this.#error());
    else waiting.resolve(status);
  }
}

/** What is kept for this page's life; its local storage, if it has one and allows its use, keeps it for longer. */
const inMemory = new Map();

function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

function kept(name) {
  if (inMemory.has(name)) return inMemory.get(name);
  try {
    const text = storage()?.getItem(`wavegate:${name}`);
    return text ? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

function keep(name, bytes) {
  inMemory.set(name, bytes.slice());
  try {
    storage()?.setItem(`wavegate:${name}`, btoa(String.fromCharCode(...bytes)));
  } catch {
    // It only saves time.
  }
}
