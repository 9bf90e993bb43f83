import { Device, openDevice } from './device.js';
import { WavegateError } from './error.js';
import { Executable } from './executable.js';
import { Solver } from './solver.js';
import { Engine } from './engine.js';
import { fetchProgram, readFiles, unpacked } from './files.js';
import { bytesOf } from './elements.js';

export { Device, Executable, Solver, WavegateError, openDevice };

async function deviceOf(wanted) {
  return wanted instanceof Device ? wanted : openDevice(wanted);
}

/** Reads the program with its files, inputs and outputs; gives the engine's number of it to `use`. */
async function withProgram(engine, program, options, use) {
  const fetched = program instanceof URL ? await fetchProgram(program) : { files: {} };
  const text = fetched.text ?? (typeof program === 'string' ? program : JSON.stringify(program));
  const name = options.name ?? (program instanceof URL ? program.pathname.split('/').pop() : 'program');
  const files = await readFiles({ ...fetched.files, ...options.files });
  engine.files = files;
  const number = engine.demand('parse_program', name, text);
  try {
    for (const output of options.outputs ?? []) engine.demand('add_output', number, output);
    return use(number);
  } finally {
    engine.files = new Map();
    engine.call('release_program', number);
  }
}

function optionsText({ strategy, strategies, hostFree }) {
  return JSON.stringify({ strategy, strategies, hostFree });
}

/** Compiles a program for a device. */
export async function compile(program, options = {}) {
  const engine = await Engine.load();
  const device = await deviceOf(options.device);
  return withProgram(engine, program, options, (number) => {
    engine.call('describe_program', number);
    const buffers = new Map(engine.answer().buffers.map((each) => [each.name, each]));
    for (const [name, data] of Object.entries(options.inputs ?? {})) {
      const buffer = buffers.get(name) ?? { name, type: 'i8' };
      engine.demand('set_input', number, name, bytesOf(buffer, data));
    }
    return new Executable(engine, device, engine.demand('compile', number, device.number, optionsText(options)));
  });
}

/** Compiles and runs a program once, and reads its outputs. */
export async function run(program, options = {}) {
  const executable = await compile(program, options);
  try {
    const report = await executable.run({ set: options.set, timeLimit: options.timeLimit });
    const outputs = executable.buffers.filter((buffer) => buffer.output);
    return { ...report, outputs: Object.fromEntries(outputs.map(({ name }) => [name, executable.read(name)])) };
  } finally {
    executable.destroy();
    if (!(options.device instanceof Device)) executable.device.destroy();
  }
}

/** Compiles the conjugate gradients of a system. */
export async function compileSolver(matrix, options = {}) {
  const engine = await Engine.load();
  const device = await deviceOf(options.device);
  const file = await unpacked(new Uint8Array(matrix.content), matrix.name);
  const b = options.b ? bytesOf({ name: 'b', type: 'f32' }, options.b) : new Uint8Array();
  const program = engine.demand('parse_system', device.number, matrix.name, file, b,
    options.tolerance ?? 1e-6, options.maxIterations ?? 1000, Number(options.jacobi ?? false));
  try {
    const parts = Solver.matrixOf(engine, program);
    return new Solver(engine, device, engine.demand('compile', program, device.number, optionsText(options)), parts);
  } finally {
    engine.call('release_program', program);
  }
}

/** Solves a system once. */
export async function solve(matrix, options = {}) {
  const solver = await compileSolver(matrix, options);
  try {
    const report = await solver.run({ timeLimit: options.timeLimit });
    return { ...report, ...solver.solution() };
  } finally {
    solver.destroy();
    if (!(options.device instanceof Device)) solver.device.destroy();
  }
}
