// What wasi-libc asks of its host, as far as the engine needs it: the time, random numbers, a place for messages.
// There are no files and no arguments; every other function says that it is not there.

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;
const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/**
 * The imports of module "wasi_snapshot_preview1" that a module has.
 *
 * @param {WebAssembly.Module} module
 * @param {() => ArrayBuffer} memory asked anew each time
 * @param {(line: string) => void} print gets what the engine writes to its standard error
 */
export function wasiImports(module, memory, print) {
  const view = () => new DataView(memory());
  const decoder = new TextDecoder();
  const known = {
    clock_time_get(id, precision, into) {
      const milliseconds = id === 0 ? Date.now() : performance.now();
      view().setBigUint64(into, BigInt(Math.round(milliseconds * 1e6)), true);
      return SUCCESS;
    },
    random_get(into, bytes) {
      globalThis.crypto.getRandomValues(new Uint8Array(memory(), into >>> 0, bytes >>> 0));
      return SUCCESS;
    },
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    fd_write(descriptor, vectors, count, written) {
      if (descriptor !== STANDARD_OUTPUT && descriptor !== STANDARD_ERROR) return BAD_DESCRIPTOR;
      let total = 0;
      let text = '';
      for (let i = 0; i < count; ++i) {
        const start = view().getUint32(vectors + 8 * i, true);
        const bytes = view().getUint32(vectors + 8 * i + 4, true);
        text += decoder.decode(new Uint8Array(memory(), start, bytes));
        total += bytes;
      }
      print(text);
      view().setUint32(written, total, true);
      return SUCCESS;
    },
    fd_prestat_get: () => BAD_DESCRIPTOR,
    proc_exit(code) {
      throw new Error(`the engine ended with code ${code}`);
    },
  };
  const wanted = WebAssembly.Module.imports(module).filter((each) => each.module === 'wasi_snapshot_preview1');
  return Object.fromEntries(wanted.map(({ name }) => [name, known[name] ?? (() => NOT_SUPPORTED)]));
}
