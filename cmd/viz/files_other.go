//go:build !unix

package main

import "math"

// mostFiles is how many files this process may have open: here there is no such limit.
func mostFiles() int { return math.MaxInt32 }
