package kernel

// hugePage is the size of a small page, since a browser has no huge pages and little memory. Slabs
// of megabytes would waste as much memory as the bundled model's weights take.
const hugePage = 4 << 10
