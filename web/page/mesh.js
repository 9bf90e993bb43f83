// Meshes: one to begin with, and where to draw the vertices of any.

const encoder = new TextEncoder();

/** A disc with three holes, as a METIS graph: a triangular lattice, so many vertices across. */
export function sampleMesh(across = 72) {
  const holes = [[-0.38, 0.24, 0.24], [0.42, 0.2, 0.18], [0.05, -0.45, 0.28]];
  const inside = (x, y) => x * x + y * y < 1 && holes.every(([hx, hy, r]) => (x - hx) ** 2 + (y - hy) ** 2 > r * r);
  const numbers = new Map();
  const half = across / 2;
  const spots = [];
  for (let row = -across; row <= across; ++row) {
    for (let column = -across; column <= across; ++column) {
      const x = (column + row / 2) / half;
      const y = (row * Math.sqrt(0.75)) / half;
      if (!inside(x, y)) continue;
      numbers.set(`${row},${column}`, spots.length + 1);
      spots.push([row, column]);
    }
  }
  const around = [[0, 1], [0, -1], [1, 0], [-1, 0], [1, -1], [-1, 1]];
  const lists = spots.map(([row, column]) => around
    .map(([dr, dc]) => numbers.get(`${row + dr},${column + dc}`))
    .filter((number) => number !== undefined));
  const edges = lists.reduce((sum, list) => sum + list.length, 0) / 2;
  const text = [`${spots.length} ${edges}`, ...lists.map((list) => list.join(' '))].join('\n');
  return { name: 'disc with three holes.graph', content: encoder.encode(`${text}\n`) };
}

/** Edges of a matrix, each once and none from a row to itself, as pairs of rows. */
export function edgesOf({ rows, rowOffsets, columnIndices }) {
  const pairs = [];
  for (let row = 0; row < rows; ++row) {
    for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; ++k) {
      if (columnIndices[k] > row) pairs.push(row, columnIndices[k]);
    }
  }
  return Uint32Array.from(pairs);
}

/** Steps from a vertex to each other one; unreachable ones are as far as the farthest. */
function distances({ rows, rowOffsets, columnIndices }, start) {
  const distance = new Float32Array(rows).fill(-1);
  const queue = new Uint32Array(rows);
  distance[start] = 0;
  queue[0] = start;
  let end = 1;
  for (let begin = 0; begin < end; ++begin) {
    const vertex = queue[begin];
    for (let k = rowOffsets[vertex]; k < rowOffsets[vertex + 1]; ++k) {
      const next = columnIndices[k];
      if (next >= rows || distance[next] >= 0) continue;
      distance[next] = distance[vertex] + 1;
      queue[end++] = next;
    }
  }
  const farthest = distance[queue[end - 1]];
  return distance.map((value) => (value < 0 ? farthest : value));
}

/** The direction in which vectors differ most, by power iteration, apart from the directions that are given. */
function principal(axes, others) {
  const size = axes.length;
  const product = axes.map((a) => axes.map((b) => a.reduce((sum, value, i) => sum + value * b[i], 0)));
  let vector = axes.map((_, i) => Math.cos(i + 1));
  for (let round = 0; round < 200; ++round) {
    let next = product.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
    for (const other of others) {
      const along = next.reduce((sum, value, i) => sum + value * other[i], 0);
      next = next.map((value, i) => value - along * other[i]);
    }
    const length = Math.hypot(...next) || 1;
    vector = next.map((value) => value / length);
  }
  return size === 0 ? [] : vector;
}

/**
 * A place in [-1, 1] x [-1, 1] for each vertex, x and y alternating. A vertex is described by its distances from a few
 * vertices that lie far apart; the two directions in which these differ most are the picture.
 */
export function layOut(matrix, landmarks = 16) {
  const { rows } = matrix;
  const axes = [];
  const nearest = new Float32Array(rows).fill(Infinity);
  let start = 0;
  for (let i = 0; i < Math.min(landmarks, rows); ++i) {
    const distance = distances(matrix, start);
    const mean = distance.reduce((sum, value) => sum + value, 0) / rows;
    axes.push(distance.map((value) => value - mean));
    for (let v = 0; v < rows; ++v) nearest[v] = Math.min(nearest[v], distance[v]);
    start = nearest.reduce((best, value, v) => (value > nearest[best] ? v : best), 0);
  }
  const first = principal(axes, []);
  const second = principal(axes, [first]);
  const places = new Float32Array(2 * rows);
  let reach = 1e-6;
  for (let v = 0; v < rows; ++v) {
    [first, second].forEach((direction, d) => {
      places[2 * v + d] = axes.reduce((sum, axis, i) => sum + axis[v] * direction[i], 0);
      reach = Math.max(reach, Math.abs(places[2 * v + d]));
    });
  }
  return places.map((value) => value / reach);
}
