package lessons

import "testing"

// BenchmarkLoad is the course's share of the program's start.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(English); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch is the cost of one key press in the search field.
func BenchmarkSearch(b *testing.B) {
	c, err := Load(English)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c.Search("kv cache mem", 10)
	}
}
