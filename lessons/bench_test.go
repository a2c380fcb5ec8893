package lessons

import "testing"

// BenchmarkLoad measures how long the program takes to load the course when it starts.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch measures the cost of one key press in the search field.
func BenchmarkSearch(b *testing.B) {
	c, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c.Search("kv cache mem", 10)
	}
}
