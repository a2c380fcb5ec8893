//go:build !js

package infer

import "runtime"

// breathe lets other goroutines run.
func breathe() { runtime.Gosched() }
