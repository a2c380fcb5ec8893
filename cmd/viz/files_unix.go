//go:build unix

package main

import (
	"math"
	"syscall"
)

// mostFiles returns the number of files that this process may have open. When a program starts, Go
// raises the limit to the maximum that the system allows.
func mostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
