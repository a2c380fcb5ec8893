//go:build !darwin && !windows

package memory

// physical returns the size of the machine's memory if the system has a file that contains
// it.
func physical() (int64, bool) { return meminfo("MemTotal") }
