import { WavegateError } from './error.js';

/** The typed array of each element type. Integers are signed here; f16 is given as its bits. */
const ARRAYS = {
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  f16: Uint16Array,
  f32: Float32Array,
  f64: Float64Array,
};

/** A new array of a buffer's elements from their bytes, which are copied. */
export function elementsOf(buffer, bytes) {
  return new ARRAYS[buffer.type](bytes.slice().buffer);
}

/** The bytes of a typed array, or of a list of numbers, as the buffer holds them. */
export function bytesOf(buffer, data) {
  const Elements = ARRAYS[buffer.type];
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (Array.isArray(data)) return new Uint8Array(Elements.from(data).buffer);
  if (!ArrayBuffer.isView(data)) {
    throw new WavegateError('invalid-input', 'takes a typed array or a list of numbers', `buffer "${buffer.name}"`);
  }
  const isRaw = data instanceof Uint8Array || data instanceof DataView;
  const isFloat = data instanceof Float32Array || data instanceof Float64Array;
  const fits = isRaw || (data.BYTES_PER_ELEMENT === Elements.BYTES_PER_ELEMENT &&
    isFloat === (buffer.type === 'f32' || buffer.type === 'f64'));
  if (!fits) {
    throw new WavegateError('invalid-input', `holds ${buffer.type}; give it a ${Elements.name}, not a ${data.constructor.name}`,
      `buffer "${buffer.name}"`);
  }
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
