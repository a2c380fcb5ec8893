package lessons

import "testing"

// BenchmarkLoad is part of what starting the program takes.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(English); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch is what one key press in the search field costs the server.
func BenchmarkSearch(b *testing.B) {
	c, err := Load(English)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c.Search("kv cache mem", 10)
	}
}
