//go:build !unix

package main

import "math"

// mostFiles returns the number of files that this process may have open. This system has no limit.
func mostFiles() int { return math.MaxInt32 }
