package kernel

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
)

// Path is an implementation of all operations in this package.
type Path int32

// The paths, from the portable one to the fastest.
const (
	Portable Path = iota // plain Go
	AVX2                 // AVX2 and FMA
	AVX512               // AVX-512 F, BW, DQ, VL and VNNI
)

var pathNames = [...]string{"portable", "avx2", "avx512"}

func (p Path) String() string { return pathNames[p] }

// ParsePath parses a path's name: portable, avx2 or avx512. A program should call it at startup
// with the value of the environment variable, in order to reject misspelled names.
func ParsePath(name string) (Path, error) {
	if i := slices.Index(pathNames[:], name); i >= 0 {
		return Path(i), nil
	}
	return 0, fmt.Errorf("unknown kernel path %q; want portable, avx2 or avx512", name)
}

var best = detect()

// Environment is the name of the environment variable that selects a path.
const Environment = "VIZ_KERNEL"

// current is the path in use.
var current atomic.Int32

func init() {
	current.Store(int32(best))
	if p, err := ParsePath(os.Getenv(Environment)); err == nil && p < best {
		current.Store(int32(p))
	}
}

// Current returns the path in use: the fastest path that the processor supports, unless VIZ_KERNEL
// names another path.
func Current() Path { return Path(current.Load()) }

// Paths lists the paths that this machine can run.
func Paths() []Path {
	var all []Path
	for p := Portable; p <= best; p++ {
		all = append(all, p)
	}
	return all
}

// Use changes the path, for tests and measurements, and returns the previous path. Matrices stay
// valid, since all paths use the same layout. Do not call Use during a computation: a pass that
// uses two paths produces different bits than a pass on one path. Use returns an error if the
// machine does not support the path.
func Use(p Path) (before Path, err error) {
	if p < Portable || p > best {
		return Current(), fmt.Errorf("this machine does not support kernel path %v", p)
	}
	return Path(current.Swap(int32(p))), nil
}
