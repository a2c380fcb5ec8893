package terms

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units that [ParseBytes] reads: powers of 1,024 from K on.
const sizeUnits = "KMGT"

// ParseBytes reads a size as people give one to a program: a number and a unit, such
// as "512MiB", "1.5 GiB" or "2G". The error says what it must be.
func ParseBytes(s string) (int64, error) {
	number := strings.TrimSuffix(s, "iB")
	if number != "" {
		power := strings.IndexByte(sizeUnits, number[len(number)-1]) + 1
		n, err := strconv.ParseFloat(strings.TrimSpace(number[:len(number)-1]), 64)
		bytes := n * math.Pow(1024, float64(power))
		if power > 0 && err == nil && bytes >= 1 && bytes < math.MaxInt64/2 {
			return int64(bytes), nil
		}
	}
	return 0, errors.New("it must be a number and a unit, such as 512MiB or 2GiB")
}
