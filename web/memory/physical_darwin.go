package memory

import "golang.org/x/sys/unix"

// physical returns the size of the machine's memory.
func physical() (int64, bool) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err == nil
}
