// Heat flow on an insulated square plate, part of which is held at a temperature: the opening view.

export const AMBIENT = 50;
export const HOT = 100;
export const COLD = 0;

/** Steps between two questions whether the plate is steady. */
export const STEPS_PER_TRIP = 8;

// A cell takes the mean of its neighbours; a held one stays. A cell at the rim is its own neighbour beyond it.
const STEP = `
kernel step {
  workgroup_size 8 8 1
  buffer old f32 read
  buffer held i32 read
  buffer new f32 write
  parameter side i32

  %x: i32 = builtin global_id 0
  %y: i32 = builtin global_id 1
  %side: i32 = parameter side
  %row: i32 = mul %y, %side
  %here: i32 = add %row, %x
  %zero: i32 = constant 0
  %one: i32 = constant 1
  %last: i32 = sub %side, %one
  %has_left: bool = not_equal %x, %zero
  %has_right: bool = not_equal %x, %last
  %has_above: bool = not_equal %y, %zero
  %has_below: bool = not_equal %y, %last
  %dl: i32 = select %has_left, %one, %zero
  %dr: i32 = select %has_right, %one, %zero
  %da: i32 = select %has_above, %side, %zero
  %db: i32 = select %has_below, %side, %zero
  %left: i32 = sub %here, %dl
  %right: i32 = add %here, %dr
  %above: i32 = sub %here, %da
  %below: i32 = add %here, %db
  %a: f32 = load old[%left]
  %b: f32 = load old[%right]
  %c: f32 = load old[%above]
  %d: f32 = load old[%below]
  %ab: f32 = add_f %a, %b
  %cd: f32 = add_f %c, %d
  %sum: f32 = add_f %ab, %cd
  %quarter: f32 = constant 0.25
  %mean: f32 = mul_f %sum, %quarter
  %mine: f32 = load old[%here]
  %is_held: i32 = load held[%here]
  %held: bool = not_equal %is_held, %zero
  %next: f32 = select %held, %mine, %mean
  store new[%here], %next
}`;

/** The program: steps until the last one changes less than the tolerance, however many that takes. */
export function heatProgram(side) {
  const count = side * side;
  const step = (from, to) => ({
    dispatch: 'step', bindings: [from, 'held', to], parameters: [side], threads: [side, side],
  });
  const steps = [];
  for (let i = 0; i < STEPS_PER_TRIP / 2; ++i) steps.push(step('u', 'v'), step('v', 'u'));
  return {
    wavegate: 1,
    name: 'heat flow',
    buffers: {
      u: { type: 'f32', count, initial: AMBIENT },
      v: { type: 'f32', count },
      held: { type: 'i32', count, initial: 0 },
      change: { type: 'f32', count },
    },
    scalars: { square: { type: 'float32' } },
    parameters: { tolerance: { type: 'float32', value: 0.05 } },
    kernels: { step: { kir: STEP } },
    run: [
      {
        while: ['>', ['sqrt', 'square'], 'tolerance'], min: 1, label: 'until steady',
        body: [
          ...steps,
          { operation: 'madd', operands: [-1, 'v', 'u', 'change'] },
          { operation: 'dot', operands: ['change', 'change', 'square'] },
        ],
      },
    ],
  };
}

/** The plate as arrays: temperatures, and which cells are held. */
export class Plate {
  constructor(side) {
    this.side = side;
    this.u = new Float32Array(side * side).fill(AMBIENT);
    this.held = new Int32Array(side * side);
  }

  /** Holds the cells within a radius of a place, both in cells, at a temperature. */
  hold(x, y, radius, temperature) {
    for (let row = Math.ceil(y - radius); row <= y + radius; ++row) {
      for (let column = Math.ceil(x - radius); column <= x + radius; ++column) {
        const outside = row < 0 || column < 0 || row >= this.side || column >= this.side;
        if (outside || (row - y) ** 2 + (column - x) ** 2 > radius ** 2) continue;
        this.u[row * this.side + column] = temperature;
        this.held[row * this.side + column] = 1;
      }
    }
  }

  /** Holds a line of such discs. */
  line(x0, y0, x1, y1, radius, temperature) {
    const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0)));
    for (let i = 0; i <= steps; ++i) {
      this.hold(x0 + ((x1 - x0) * i) / steps, y0 + ((y1 - y0) * i) / steps, radius, temperature);
    }
  }
}

/** Plates to begin with, by name. Lengths are fractions of the side. */
export const SCENES = {
  'Two poles': (plate) => {
    const s = plate.side;
    plate.hold(0.27 * s, 0.35 * s, 0.09 * s, HOT);
    plate.hold(0.73 * s, 0.65 * s, 0.09 * s, COLD);
  },
  'Hot rim, cold bars': (plate) => {
    const s = plate.side;
    for (const at of [0, s - 1]) {
      plate.line(0, at, s - 1, at, 1, HOT);
      plate.line(at, 0, at, s - 1, 1, HOT);
    }
    for (const at of [0.3, 0.5, 0.7]) plate.line(at * s, 0.25 * s, at * s, 0.75 * s, 0.015 * s, COLD);
  },
  'Spiral': (plate) => {
    const s = plate.side;
    for (let i = 0; i < 400; ++i) {
      const angle = i / 25;
      const radius = 0.04 + 0.0255 * angle;
      const x = (0.5 + radius * Math.cos(angle)) * s;
      const y = (0.5 + radius * Math.sin(angle)) * s;
      plate.hold(x, y, 0.008 * s, HOT);
      plate.hold(s - x, s - y, 0.008 * s, COLD);
    }
  },
};

export function makePlate(side, scene) {
  const plate = new Plate(side);
  SCENES[scene](plate);
  return plate;
}
