package kernel

// hugePage is the size of an ordinary page here, since a browser has no huge pages and little
// memory. Slabs of several megabytes would waste as much memory as the weights of the bundled model
// take.
const hugePage = 4 << 10
