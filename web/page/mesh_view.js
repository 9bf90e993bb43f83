import { compileSolver } from 'wavegate';
import { takeFiles } from './drop.js';
import { edgesOf, layOut, sampleMesh } from './mesh.js';

/** A mesh or a matrix, and the system that is solved on it. */
export class MeshView {
  ready = true;
  legend = { low: 'negative', high: 'positive' };
  #matrix = sampleMesh();
  #solver;
  #picture;

  constructor(byId, run) {
    this.byId = byId;
    byId('mesh-name').textContent = `${this.#matrix.name}: drop another, or choose one`;
    byId('mesh-form').addEventListener('submit', (event) => {
      event.preventDefault();
      run();
    });
    takeFiles(byId('mesh-drop'), byId('mesh-file'), async ([file]) => {
      this.#matrix = { name: file.name, content: await file.arrayBuffer() };
      this.#picture = undefined;
      byId('mesh-name').textContent = file.name;
      run();
    });
  }

  async compile(device) {
    const solver = await compileSolver(this.#matrix, {
      device, tolerance: Number(this.byId('mesh-tolerance').value), maxIterations: 10000,
    });
    this.#solver?.destroy();
    this.#solver = solver;
    this.#picture ??= { places: layOut(solver.matrix), edges: edgesOf(solver.matrix) };
    return solver;
  }

  show(picture) {
    const solution = this.#solver.place('cg.x_high');
    picture.showMesh(solution, this.#solver.place('cg.d'), this.#picture.places, this.#picture.edges);
  }

  explain() {
    const { iterations, exitReason, relativeResidual } = this.#solver.solution();
    const converged = exitReason === 'converged';
    return {
      converged,
      sentence: {
        converged: `Solved after ${iterations} iterations.`,
        bound: `Not solved after ${iterations} iterations.`,
        breakdown: 'The matrix is not positive definite.',
      }[exitReason],
      figures: {
        'Exit reason': exitReason,
        Iterations: iterations.toLocaleString('en'),
        'Relative residual': relativeResidual.toExponential(2),
        Rows: this.#solver.matrix.rows.toLocaleString('en'),
        Entries: this.#solver.matrix.columnIndices.length.toLocaleString('en'),
      },
    };
  }
}
