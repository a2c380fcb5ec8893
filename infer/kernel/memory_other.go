//go:build !linux

package kernel

// preferHugePages does nothing, since other systems choose the size of pages themselves.
func preferHugePages([]byte) {}
