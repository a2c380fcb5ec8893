package kernel

// hugePage is the size of an ordinary page here, because a browser has no huge pages and little
// memory. Slabs of several megabytes would waste as much memory as the bundled model's weights use.
const hugePage = 4 << 10
