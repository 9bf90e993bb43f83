import { WavegateError } from './error.js';

const encoder = new TextEncoder();

/** A path as the engine spells it: relative, without "./". */
function plain(path) {
  return path.replace(/^(\.\/)+/, '');
}

function asBytes(content, path) {
  if (typeof content === 'string') return encoder.encode(content);
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  throw new WavegateError('invalid-input', 'is given as text or as bytes', path);
}

/** What a gzip file holds, and any other bytes as they are. */
export async function unpacked(bytes, path = '') {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw new WavegateError('invalid-input', `the gzip data is damaged: ${error.message}`, path);
  }
}

/** Files by path, as bytes. */
export async function readFiles(files = {}) {
  const entries = files instanceof Map ? [...files] : Object.entries(files);
  const read = entries.map(async ([path, content]) => [plain(path), await unpacked(asBytes(content, path), path)]);
  return new Map(await Promise.all(read));
}

/** The paths that a program file names. */
function pathsIn(program) {
  const kernels = Object.values(program.kernels ?? {});
  const named = [...Object.values(program.buffers ?? {}), ...Object.values(program.matrices ?? {})];
  const paths = [
    ...named.map((each) => each?.file),
    ...kernels.flatMap((each) => [each?.kir_file, each?.spirv_file, each?.wgsl_file]),
  ];
  return [...new Set(paths.filter((path) => typeof path === 'string'))];
}

async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new WavegateError('invalid-input', `cannot be fetched: ${response.status} ${response.statusText}`, url.href);
  return new Uint8Array(await response.arrayBuffer());
}

/** Fetches a program file and the files that it names, which lie relative to it. */
export async function fetchProgram(url) {
  const text = new TextDecoder().decode(await fetchBytes(url));
  let paths = [];
  try {
    paths = pathsIn(JSON.parse(text));
  } catch {
    // The engine says better what is wrong with the text.
  }
  const files = await Promise.all(paths.map(async (path) => [path, await fetchBytes(new URL(path, url))]));
  return { text, files: Object.fromEntries(files) };
}
