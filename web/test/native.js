// The native command, whose bytes are what the package's are compared with.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

function command() {
  const places = [process.env.WAVEGATE_COMMAND, ...['release', 'dev'].map((kind) => join(root, 'build', kind, 'src/cli/wavegate'))];
  const found = places.find((path) => path && existsSync(path));
  if (!found) throw new Error('the native command is not built: `make run` builds it, or name it in WAVEGATE_COMMAND');
  return found;
}

/** The bytes of an array in a .npy file, as little-endian words. */
function contentsOf(npy) {
  const header = npy.readUInt16LE(8);
  return new Uint8Array(npy.subarray(10 + header));
}

/** Calls `use` with a folder that is gone afterwards. */
function inScratch(use) {
  const folder = mkdtempSync(join(tmpdir(), 'wavegate-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function call(...words) {
  return JSON.parse(execFileSync(command(), [...words, '--device', 'reference', '--json'], { encoding: 'utf8' }));
}

/** Runs a program on the reference device. `program` is an object, or a path in the repository. */
export function runNatively(program, { outputs, set = {} }) {
  return inScratch((folder) => {
    let path = typeof program === 'string' ? join(root, program) : undefined;
    if (path === undefined) {
      path = join(folder, 'program.json');
      writeFileSync(path, JSON.stringify(program));
    }
    const file = (name) => join(folder, `${name}.npy`);
    const flags = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const report = call('run', path, ...flags, ...outputs.flatMap((name) => ['--out', `${name}=${file(name)}`]));
    const bytes = outputs.map((name) => [name, contentsOf(readFileSync(file(name)))]);
    return { ...report, outputs: Object.fromEntries(bytes) };
  });
}

/** Solves a system on the reference device. */
export function solveNatively(matrix, tolerance) {
  return inScratch((folder) => {
    const file = join(folder, 'x.npy');
    const report = call('solve', join(root, matrix), '--tolerance', String(tolerance), '--out', file);
    const bytes = contentsOf(readFileSync(file));
    return { ...report, x: new Float64Array(bytes.slice().buffer) };
  });
}

/** The files of a folder of the repository, by the names that programs in it use. */
export function filesOf(folder, names) {
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, folder, name))]));
}

export function textOf(path) {
  return readFileSync(join(root, path), 'utf8');
}

export function bytesOf(elements) {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}
