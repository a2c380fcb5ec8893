package terms

import (
	"math"
	"strings"
	"time"
)

// BytesShort is [Language.BytesShort] for English.
func BytesShort[N ~int | ~int64 | ~float64](n N) string { return English.BytesShort(float64(n)) }

// BytesShort is like [Language.Bytes], but for sentences and the marks on a chart: "2 GiB" instead
// of "2.0 GiB".
func (l *Language) BytesShort(n float64) string {
	number, unit := sizeOf(n)
	return l.unit(strings.TrimSuffix(number, ".0"), unit)
}

// Bytes is [Language.Bytes] for English.
func Bytes[N ~int | ~int64 | ~float64](n N) string { return English.bytes(float64(n)) }

// Bytes formats a size: exactly below 10,000 bytes, and otherwise in KiB, MiB and so on, always
// with one decimal, so a changing number keeps its width.
func (l *Language) Bytes(n int64) string { return l.bytes(float64(n)) }

func (l *Language) bytes(n float64) string { return l.unit(sizeOf(n)) }

// sizeOf returns the number and the unit that [Language.Bytes] uses for a size.
func sizeOf(n float64) (number, unit string) {
	if math.Abs(n) < 10_000 {
		return Grouped(n, 0), byteUnits[0]
	}
	x, unit := inUnit(n)
	return Grouped(x, 1), unit
}

// BytesFull is [Language.BytesFull] for English.
func BytesFull(n int64) string { return English.BytesFull(n) }

// BytesFull formats a size in the largest unit that does not exceed it, with up to two decimals:
// "512 B", "1.5 KiB", "12.55 GiB".
func (l *Language) BytesFull(n int64) string {
	x, unit := inUnit(float64(n))
	return l.unit(strings.TrimSuffix(strings.TrimRight(Grouped(math.Round(100*x)/100, 2), "0"), "."), unit)
}

// byteUnits holds the keys of the byte units.
var byteUnits = [...]string{"bytes", "kib", "mib", "gib", "tib", "pib"}

// inUnit converts bytes to the largest unit that does not exceed them.
func inUnit(x float64) (float64, string) {
	i := 0
	for ; i < len(byteUnits)-1 && math.Abs(x) >= 1024; i++ {
		x /= 1024
	}
	return x, byteUnits[i]
}

// unit formats a number with a unit.
func (l *Language) unit(number, unit string) string { return l.T("unit."+unit, "n", number) }

// MultAdds formats a count of multiply-adds: exactly below 10,000, and otherwise in millions (M) or
// billions (G) with two decimals.
func (l *Language) MultAdds(n int64) string {
	switch {
	case n < 10_000:
		return Count(n)
	case n < 1e9:
		return l.unit(Decimals(float64(n)/1e6, 2), "mega")
	}
	return l.unit(Decimals(float64(n)/1e9, 2), "giga")
}

// Took formats a measured time with two or three digits.
func (l *Language) Took(d time.Duration) string {
	us := float64(d) / float64(time.Microsecond)
	switch {
	case us < 9.95:
		return l.unit(Decimals(us, 1), "us")
	case us < 99.5:
		return l.unit(Decimals(us, 0), "us")
	case us < 995:
		return l.unit(Decimals(us/1e3, 2), "ms")
	case us < 99_950:
		return l.unit(Decimals(us/1e3, 1), "ms")
	case us < 999_500:
		return l.unit(Decimals(us/1e3, 0), "ms")
	}
	return l.unit(Decimals(us/1e6, 1), "s")
}

const day = 24 * time.Hour

// Wait formats the time until an event, in the largest unit that fits: "10 min", "3 days", "2.4
// months".
func (l *Language) Wait(d time.Duration) string {
	switch {
	case d < time.Hour:
		return l.unit(Grouped(max(1, math.Round(d.Minutes())), 0), "min")
	case d < day:
		return l.Counted(int(math.Round(d.Hours())), "hour")
	case d < 60*day:
		return l.Counted(int(math.Round(d.Hours()/24)), "day")
	case d < 730*day:
		return l.unit(Grouped(d.Hours()/24/30.44, 1), "months")
	}
	return l.unit(Grouped(d.Hours()/24/365.25, 1), "years")
}

// Dollars formats a price. From ten cents up, it uses dollars and cents; below that, as many
// decimals as the price has, up to eight.
func Dollars(x float64) string {
	sign := ""
	if x < 0 {
		sign, x = Minus, -x
	}
	switch {
	case x == 0:
		return "$0"
	case x >= 0.095:
		return sign + "$" + Grouped(x, 2)
	}
	return sign + "$" + strings.TrimRight(strings.TrimRight(Grouped(x, 8), "0"), ".")
}
