//go:build !unix

package main

import "math"

// mostFiles returns how many files this process may have open: this system has no
// limit.
func mostFiles() int { return math.MaxInt32 }
