package terms

import "testing"

func TestReadBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"512MiB": 512 << 20, "1.5 GiB": 3 << 29, "64K": 64 << 10, "2G": 2 << 30, "1TiB": 1 << 40, "8M": 8 << 20,
		"": 0, "512": 0, "MiB": 0, "-1GiB": 0, "0GiB": 0, "1e30GiB": 0, "nanMiB": 0, "infGiB": 0, "1 GB": 0,
		"1,5GiB": 0,
	} {
		if got, ok := ReadBytes(text); got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}
