package terms

import "testing"

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"512MiB": 512 << 20, "1.5 GiB": 3 << 29, "64K": 64 << 10, "2G": 2 << 30, "1TiB": 1 << 40,
		"": 0, "512": 0, "MiB": 0, "iB": 0, "-1GiB": 0, "0GiB": 0, "1e30GiB": 0, "nanMiB": 0, "infGiB": 0, "1 GB": 0,
	} {
		if got, err := ParseBytes(s); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
}
