import { compile } from 'wavegate';
import { takeFiles } from './drop.js';

const DRAWN = ['f32', 'i32'];

/** A program file of the user's. */
export class ProgramView {
  ready = false;
  invitation = 'Drop a program file and what it names.';
  legend;
  #files = {};
  #name;
  #executable;
  #range;

  constructor(byId, run) {
    this.byId = byId;
    byId('program-form').addEventListener('submit', (event) => {
      event.preventDefault();
      run();
    });
    byId('output').addEventListener('change', () => run());
    takeFiles(byId('program-drop'), byId('program-files'), async (files) => {
      const contents = await Promise.all(files.map(async (file) => [file.name, await file.arrayBuffer()]));
      const program = files.find((file) => file.name.endsWith('.json'));
      this.#files = program ? Object.fromEntries(contents) : { ...this.#files, ...Object.fromEntries(contents) };
      this.#name = program?.name ?? this.#name;
      this.ready = this.#name !== undefined;
      byId('program-name').textContent = this.ready ? Object.keys(this.#files).join(', ') : this.invitation;
      byId('output').replaceChildren();
      if (this.ready) run();
    });
  }

  async compile(device) {
    const text = new TextDecoder().decode(this.#files[this.#name]);
    const executable = await compile(text, { device, files: this.#files, name: this.#name });
    this.#executable?.destroy();
    this.#executable = executable;
    this.#range = { low: 0, high: 1 };
    this.legend = undefined;
    const choices = executable.buffers.filter(({ output, type }) => output && DRAWN.includes(type));
    const select = this.byId('output');
    if (select.options.length === 0) select.replaceChildren(...choices.map(({ name }) => new Option(name)));
    select.disabled = choices.length === 0;
    return executable;
  }

  /** Outputs are in the page anyhow, so that their range is known after the run; the picture is of the buffer itself. */
  show(picture) {
    const name = this.byId('output').value;
    if (!name) return picture.clear();
    const { count, type } = this.#executable.buffers.find((buffer) => buffer.name === name);
    const width = Math.ceil(Math.sqrt(count));
    const height = Math.ceil(count / width);
    return picture.showPlate(this.#executable.place(name), { width, height, type, ...this.#range });
  }

  explain({ loops, scalars }) {
    const name = this.byId('output').value;
    if (name) {
      const values = this.#executable.read(name).filter(Number.isFinite);
      this.#range = {
        low: values.reduce((least, value) => Math.min(least, value), Infinity),
        high: values.reduce((most, value) => Math.max(most, value), -Infinity),
      };
      this.legend = { low: this.#range.low.toPrecision(4), high: this.#range.high.toPrecision(4) };
    }
    const converged = loops.every(({ exitReason }) => exitReason === 'converged');
    const figures = {};
    for (const { label, trips, exitReason } of loops) figures[`Loop ${label}`] = `${trips.toLocaleString('en')}, ${exitReason}`;
    for (const [scalar, value] of Object.entries(scalars)) figures[scalar] = value === null ? 'not finite' : String(Number(value.toPrecision(6)));
    return {
      converged,
      sentence: `Ran "${this.#executable.program}"${converged ? '.' : '; a loop ended at its bound.'}`,
      figures,
    };
  }
}
