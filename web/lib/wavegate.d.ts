/**
 * Wavegate in a page: iterative GPU work with its loops and branches on the GPU.
 *
 * ```js
 * import { run } from 'wavegate';
 * const { outputs, loops } = await run(new URL('heat.json', import.meta.url), { set: { tolerance: 0.001 } });
 * console.log(loops[0].trips, loops[0].exitReason, outputs.u);
 * ```
 */

/** Whose fault an error is. */
export type ErrorKind =
  /** The program, a file or an argument is wrong; the message says what to change. */
  | 'invalid-input'
  /** Known, named, and not offered by this device. */
  | 'unsupported'
  /** No WebGPU, out of memory, device lost. */
  | 'device'
  /** A bug of Wavegate. */
  | 'internal';

/** What everything here throws or rejects with. */
export class WavegateError extends Error {
  readonly kind: ErrorKind;
  /** The file, value or command that it belongs to; may be empty. */
  readonly where: string;
}

/** How regions of control flow can run; see docs/control-flow.md. */
export type Strategy =
  | 'gate'
  | 'fused-gate'
  | 'chained-gate'
  | 'producer'
  | 'early-out'
  | 'chunked'
  | 'resident'
  | 'unroll';

/** A typed array with the size of a buffer's elements: `i32` is an Int32Array, `f16` a Uint16Array of bits. */
export type Elements =
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** Contents of a buffer: elements, a list of numbers, or raw bytes. */
export type Contents = Elements | Uint8Array | ArrayBuffer | readonly number[];

/** A program: an object as docs/program-file.md describes, its JSON text, or where to fetch both it and its files. */
export type Program = object | string | URL;

/** Opens a device of its own, or uses yours: a GPUDevice is borrowed, never destroyed. */
export type DeviceChoice = 'webgpu' | 'reference' | GPUDevice;

/**
 * Opens a device. "webgpu" asks the browser for the best adapter with all its limits; "reference" is an interpreter
 * on the CPU, slow and exact, that needs no WebGPU.
 */
export function openDevice(choice?: DeviceChoice): Promise<Device>;

export interface DeviceLimits {
  /** Workgroups of a dispatch, in each dimension. */
  readonly workgroups: number;
  /** Invocations of a workgroup. */
  readonly workgroupInvocations: number;
  /** Bytes that a workgroup shares. */
  readonly workgroupMemory: number;
  readonly storageBuffers: number;
  readonly bindingBytes: number;
  readonly bufferBytes: number;
}

export class Device {
  private constructor();
  /** As the browser tells it; some tell only the vendor. */
  readonly name: string;
  readonly backend: 'webgpu' | 'reference';
  readonly driver: string;
  /** A software implementation. */
  readonly isCpu: boolean;
  /** Invocations in a subgroup; 1 without subgroups. */
  readonly subgroupSize: number;
  readonly features: readonly string[];
  readonly limits: DeviceLimits;
  /** For rendering from a program's buffers. Undefined for the reference device. */
  readonly gpuDevice: GPUDevice | undefined;
  /** Resolves when the device is gone without having been destroyed, to the browser's reason. */
  readonly lost: Promise<string>;
  /**
   * Measures in some seconds what commands cost, which decides by which strategies programs run from then on. It is kept
   * in the page's local storage, for this adapter and browser. Nothing else should run meanwhile.
   */
  calibrate(): Promise<Readonly<Record<string, number>>>;
  /** What was measured, in microseconds; undefined if nothing was, and typical costs are taken. */
  readonly costs: Readonly<Record<string, number>> | undefined;
  /** Lets the device go. Executables that were compiled for it keep it until they are destroyed. */
  destroy(): void;
}

export interface CompileOptions {
  /** A Device can be shared by many programs; without one, compile opens "webgpu". */
  device?: Device | DeviceChoice;
  /** What the program names by path: kir, SPIR-V and WGSL sources, .npy arrays, .mtx and .graph matrices; .gz too. */
  files?: Record<string, string | Uint8Array | ArrayBuffer> | Map<string, string | Uint8Array | ArrayBuffer>;
  /** What buffers hold at creation and after reset(), instead of what the program says. */
  inputs?: Record<string, Contents>;
  /** Buffers that can be read after a run, besides those that the program says. */
  outputs?: readonly string[];
  /** For every region that it applies to; without, the cheapest. */
  strategy?: Strategy;
  /** For the regions of a label. */
  strategies?: Record<string, Strategy>;
  /** Only strategies with no host between submission and result; encode() needs it. */
  hostFree?: boolean;
  /** Names the program in errors. */
  name?: string;
}

/** Compiles a program. Rejects with a WavegateError that names what is wrong, before the device is touched if it can. */
export function compile(program: Program, options?: CompileOptions): Promise<Executable>;

export interface RunOptions {
  /** Launch parameters, from this run on; nothing is compiled anew. */
  set?: Record<string, number>;
  /** Seconds after which a loop that is not done ends in an error. It ends no single command. */
  timeLimit?: number;
}

/** Compiles and runs a program once, and reads its outputs. */
export function run(program: Program, options?: CompileOptions & RunOptions): Promise<RunResult>;

export interface LoopReport {
  readonly label: string;
  /** Iterations begun, of its last entry. */
  readonly trips: number;
  /** "converged" if its predicate is false after the last iteration, else "bound". */
  readonly exitReason: 'converged' | 'bound';
}

/** What the host did in a run, counted where the API is called. */
export interface Counters {
  readonly submissions: number;
  readonly hostWaits: number;
  /** Copies of device data for the host. */
  readonly readbacks: number;
  /** Looks at whether a loop is done, during a run. */
  readonly observations: number;
}

export interface RunReport {
  readonly loops: readonly LoopReport[];
  /** Values of scalars and launch parameters; null for NaN and infinities. */
  readonly scalars: Readonly<Record<string, number | null>>;
  /** From the first submission until the page heard that it is done. */
  readonly seconds: number;
  /** Of the device; null without timestamps. */
  readonly deviceSeconds: number | null;
  readonly counters: Counters;
}

export interface RunResult extends RunReport {
  readonly outputs: Readonly<Record<string, Elements>>;
}

/** How a region of control flow is lowered, and why. Times are estimates. */
export interface Region {
  readonly depth: number;
  readonly label: string;
  readonly strategy: Strategy;
  readonly reason: string;
  /** Of an iteration, or of a branch that is taken. */
  readonly microseconds: number;
  /** Of an iteration after the loop is done, or of a branch that is not taken. */
  readonly deadMicroseconds: number;
}

export interface BufferInfo {
  readonly name: string;
  readonly type: 'i8' | 'i16' | 'i32' | 'i64' | 'f16' | 'f32' | 'f64';
  readonly bytesPerElement: number;
  readonly count: number;
  readonly output: boolean;
  readonly external: boolean;
}

export interface ScalarInfo {
  readonly name: string;
  readonly type: 'uint32' | 'sint32' | 'float32';
  /** A launch parameter, which set() takes. */
  readonly parameter: boolean;
}

export class Executable {
  protected constructor();
  readonly device: Device;
  /** The program's name. */
  readonly program: string;
  readonly buffers: readonly BufferInfo[];
  readonly scalars: readonly ScalarInfo[];
  /** Labels of the loops. */
  readonly loops: readonly string[];
  readonly regions: readonly Region[];
  /** Commands of the lowered program. */
  readonly commands: number;
  /** Whether one submission runs it all, so that encode() can. */
  readonly hostFree: boolean;

  /** Sets a launch parameter from the next run on. */
  set(name: string, value: number): void;
  /** Replaces elements of a buffer, from element `first` on, before the next run. */
  write(name: string, data: Contents, first?: number): void;
  /** Puts every value that has an initial value back to it before the next run. */
  reset(): void;
  /**
   * Lends a GPUBuffer to an external buffer of the program, before the first run. It is at least as large, has the usages
   * STORAGE, COPY_SRC and COPY_DST (INDIRECT, too, if grids are read from it), and while a run goes on it is neither
   * mapped nor destroyed.
   */
  bind(name: string, buffer: GPUBuffer): void;
  /** Runs the program. One run at a time. */
  run(options?: RunOptions): Promise<RunReport>;
  /** The elements of an output as the last run left them. Costs no wait. */
  read(name: string): Elements;
  /** Where a buffer of the program lies on the GPU, for commands of yours such as drawing. Valid until destroy(). */
  place(name: string): { buffer: GPUBuffer; offset: number; size: number };
  /**
   * Records a run into your encoder, outside a pass, and neither submits nor waits. Needs a program that is hostFree.
   * Call `submitted()` of what it returns when you have submitted the commands, so that what they refer to can go.
   * Results stay on the GPU: use them through place().
   */
  encode(encoder: GPUCommandEncoder): { submitted(): void };
  /** Gives the memory back; a run that goes on ends first. */
  destroy(): void;
}

/** A sparse matrix as a file: Matrix Market (.mtx) as it stands, METIS (.graph) as its Laplacian plus identity; .gz, too. */
export interface MatrixFile {
  /** The ending of the name says what it is. */
  readonly name: string;
  readonly content: Uint8Array | ArrayBuffer;
}

export interface SolveOptions extends Pick<CompileOptions, 'device' | 'strategy' | 'strategies' | 'hostFree'> {
  /** One float a row; without, numbers in [-1, 1) that depend on the row alone, as `wavegate solve` takes. */
  b?: Float32Array | readonly number[];
  /** On the true relative residual, from 1e-12 to 1; 1e-6 if not given. */
  tolerance?: number;
  /** 1000 if not given. */
  maxIterations?: number;
  /** Preconditions with the inverse of the diagonal. */
  jacobi?: boolean;
}

export interface Solution {
  readonly x: Float64Array;
  readonly iterations: number;
  /** "breakdown": the matrix proved not positive definite, or the numbers overflowed. */
  readonly exitReason: 'converged' | 'bound' | 'breakdown';
  /** ‖b - A x‖ / ‖b‖ in double, from x. */
  readonly relativeResidual: number;
}

/** An executable whose program solves a system by conjugate gradients. */
export class Solver extends Executable {
  private constructor();
  readonly matrix: { readonly rows: number; readonly rowOffsets: Uint32Array; readonly columnIndices: Uint32Array };
  /** The solution as the last run left it. */
  solution(): Solution;
}

/** Compiles the conjugate gradients of a symmetric positive definite system, with the loop on the GPU. */
export function compileSolver(matrix: MatrixFile, options?: SolveOptions): Promise<Solver>;

/** Solves a system once. */
export function solve(
  matrix: MatrixFile,
  options?: SolveOptions & { timeLimit?: number },
): Promise<RunReport & Solution>;
