//go:build !linux

package kernel

// preferHugePages does nothing: other systems decide by themselves.
func preferHugePages([]byte) {}
