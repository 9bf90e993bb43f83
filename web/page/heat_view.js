import { compile } from 'wavegate';
import { COLD, HOT, SCENES, STEPS_PER_TRIP, heatProgram, makePlate } from './heat.js';

/** The plate: its controls, its program, and the pen. */
export class HeatView {
  ready = true;
  legend = { low: `${COLD}°`, high: `${HOT}°` };
  #plate;
  #executable;
  #side;

  constructor(byId, run) {
    this.byId = byId;
    byId('scene').replaceChildren(...Object.keys(SCENES).map((name) => new Option(name)));
    byId('heat-form').addEventListener('submit', (event) => {
      event.preventDefault();
      run();
    });
    for (const id of ['scene', 'side']) {
      byId(id).addEventListener('change', () => {
        this.#plate = undefined;
        run();
      });
    }
    this.#listenToPen(byId('canvas'), run);
  }

  /** What a software device can do in a moment. */
  askForLess() {
    this.byId('side').value = '96';
    this.byId('tolerance').value = '0.5';
  }

  get runOptions() {
    return { set: { tolerance: Number(this.byId('tolerance').value) } };
  }

  /** The program is compiled once for each size; other plates are written into it. */
  async compile(device) {
    const side = Number(this.byId('side').value);
    this.#plate ??= makePlate(side, this.byId('scene').value);
    if (this.#side !== side) {
      this.#executable?.destroy();
      this.#executable = await compile(heatProgram(side), { device, name: 'heat flow' });
      this.#side = side;
    }
    this.#executable.reset();
    this.#executable.write('u', this.#plate.u);
    this.#executable.write('held', this.#plate.held);
    return this.#executable;
  }

  show(picture) {
    picture.showPlate(this.#executable.place('u'), { width: this.#side, height: this.#side, low: COLD, high: HOT });
  }

  explain({ loops: [{ trips, exitReason }] }) {
    const steps = (trips * STEPS_PER_TRIP).toLocaleString('en');
    const converged = exitReason === 'converged';
    return {
      converged,
      sentence: converged ? `Steady after ${steps} steps.` : `Not steady after ${steps} steps.`,
      figures: { 'Exit reason': exitReason, 'Trips of the loop': trips.toLocaleString('en'), Steps: steps },
    };
  }

  #listenToPen(canvas, run) {
    let last;
    const draw = (event) => {
      const box = canvas.getBoundingClientRect();
      const at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      const [x, y] = at.map((part) => part * this.#side);
      const cold = document.querySelector('input[name="pen"]:checked').value === 'cold' || event.shiftKey;
      this.#plate.line(...(last ?? [x, y]), x, y, this.#side * 0.018, cold ? COLD : HOT);
      last = [x, y];
    };
    canvas.addEventListener('pointerdown', (event) => {
      const state = document.body.dataset;
      if (state.view !== 'heat' || state.state === 'running' || !this.#plate || !this.#executable) return;
      canvas.setPointerCapture(event.pointerId);
      draw(event);
    });
    canvas.addEventListener('pointermove', (event) => last && draw(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, () => {
        if (last) run();
        last = undefined;
      });
    }
  }
}
