//go:build !darwin && !windows

package memory

// physical is the machine's memory, as far as there is a file that says.
func physical() (int64, bool) { return meminfo("MemTotal") }
