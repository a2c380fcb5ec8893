//go:build !darwin && !windows

package memory

// physical returns the machine's memory, if the system has a file for it.
func physical() (int64, bool) { return meminfo("MemTotal") }
