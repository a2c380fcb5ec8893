//go:build !js

package kernel

// hugePage is the size of a huge page.
const hugePage = 2 << 20
