// The weights of the model are downloaded separately from the program's memory, as steps on a grid
// (Matrix in web/tab/pack.go). This script writes them to the places where the program expects
// them, as bfloat16 in panels of 32 rows (infer/kernel).

const panelRows = 32;
const block = 64; // the weights of a row that share a scale
const most = 127; // the largest step

// addWeights writes the packed matrices into the memory's bytes.
function addWeights(memory, packed, matrices) {
  const halves = new Uint16Array(memory.buffer, memory.byteOffset, memory.byteLength >> 1);
  const view = new DataView(packed.buffer, packed.byteOffset);
  let from = 0;
  for (const { at, rows, cols } of matrices) {
    const place = (r, c) => at / 2 + panelRows * ((r >> 5) * cols + c) + 2 * (r & 15) + ((r >> 4) & 1);
    const off = view.getUint32(from, true);
    const scales = from + 4 + 6 * off;
    const blocks = rows * Math.ceil(cols / block);
    const steps = scales + 2 * blocks;
    for (let r = 0, b = 0; r < rows; r++) {
      for (let c = 0; c < cols; c += block, b++) {
        const end = Math.min(c + block, cols);
        const grid = gridOf(packed[scales + b] | (packed[scales + blocks + b] << 8));
        for (let k = c; k < end; k++) halves[place(r, k)] = grid[packed[steps + r * cols + k]];
      }
    }
    for (let i = 0; i < off; i++) {
      const one = from + 4 + 6 * i;
      const n = view.getUint32(one, true);
      halves[place(Math.floor(n / cols), n % cols)] = view.getUint16(one + 4, true);
    }
    from = steps + rows * cols;
  }
  grids.clear();
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

const bfloat = (half) => {
  bits[0] = half << 16;
  return float[0];
};

// gridOf returns, for a block's scale, the weights of all steps, indexed by the step's byte. A
// weight is rounded to the nearest bfloat16, or toward zero if the nearest one would be larger than
// the largest step.
const grids = new Map();
function gridOf(scale) {
  let grid = grids.get(scale);
  if (grid) return grid;
  grid = new Uint16Array(256);
  const s = bfloat(scale);
  const limit = Math.fround(most * s);
  for (let step = 0; step < 256; step++) {
    float[0] = ((step << 24) >> 24) * s;
    const [whole] = bits;
    const near = (whole + 0x7fff + ((whole >>> 16) & 1)) >>> 16;
    grid[step] = Math.abs(bfloat(near)) > limit ? whole >>> 16 : near;
  }
  grids.set(scale, grid);
  return grid;
}
