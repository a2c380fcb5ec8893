package kernel

// hugePage is the size of a small page: a browser has no huge ones, and its memory is scarce.
// Slabs of megabytes would waste as much memory as the bundled model's weights take.
const hugePage = 4 << 10
