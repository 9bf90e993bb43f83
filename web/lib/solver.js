import { Executable } from './executable.js';

/** The executable that solves a linear system. */
export class Solver extends Executable {
  #engine;

  constructor(engine, device, number, matrix) {
    super(engine, device, number);
    this.#engine = engine;
    /** The matrix in compressed rows, without its values. */
    this.matrix = matrix;
  }

  /** The matrix of a program that the engine made of one. */
  static matrixOf(engine, program) {
    const indices = (name) => {
      const pointer = engine.demand('initial_contents', program, name);
      return new Uint32Array(engine.bytes(pointer, engine.answer()).slice().buffer);
    };
    const rowOffsets = indices('A.row_offsets');
    return { rows: rowOffsets.length - 1, rowOffsets, columnIndices: indices('A.column_indices') };
  }

  /** The solution as the last run left it. */
  solution() {
    const { rows } = this.matrix;
    return this.#engine.withMemory(rows * 8, (pointer) => {
      this.#engine.demand('solution', this.number, pointer, rows);
      const x = new Float64Array(this.#engine.bytes(pointer, rows * 8).slice().buffer);
      return { ...this.#engine.answer(), x };
    });
  }
}
