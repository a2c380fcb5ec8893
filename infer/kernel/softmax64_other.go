//go:build !amd64

package kernel

func largest(_ Path, z []float32) float32 { return largestPortable(z) }

func expSum64(_ Path, dst []float64, z []float32, max, t float64) float64 {
	return expSumPortable(dst, z, max, t, 0)
}

func between(_ Path, dst []int32, z []float32, from, below float32) int {
	return betweenPortable(dst, 0, z, 0, from, below)
}

func divide64(_ Path, x []float64, by float64) { dividePortable(x, by) }
