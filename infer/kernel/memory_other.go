//go:build !linux

package kernel

// preferHugePages does nothing: other systems decide for themselves.
func preferHugePages([]byte) {}
