//go:build !js

package pool

import "runtime"

// breathe lets other goroutines run.
func breathe() { runtime.Gosched() }
