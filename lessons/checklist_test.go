package lessons

import (
	"os"
	"strings"
	"testing"
)

// A point is a topic that the course must teach, with the places where it is taught.
type point struct {
	number, text string
	places       []string
}

// checklist reads the rows of testdata/checklist.md: number, point, places.
func checklist(t *testing.T) (list []point) {
	t.Helper()
	data, err := os.ReadFile("testdata/checklist.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == 1 || strings.HasPrefix(line, "| point |") || strings.HasPrefix(line, "|---") {
			continue
		}
		if len(cells) != 3 {
			t.Fatalf("checklist.md: %d columns in %q, want 3", len(cells), line)
		}
		p := point{number: strings.TrimSpace(cells[0]), text: strings.TrimSpace(cells[1])}
		for place := range strings.SplitSeq(cells[2], ",") {
			p.places = append(p.places, strings.Trim(strings.TrimSpace(place), "`"))
		}
		list = append(list, p)
	}
	return list
}

// TestChecklistCoversTheSources: every point of the five sources has a row, and all places that the
// rows name exist.
func TestChecklistCoversTheSources(t *testing.T) {
	c := course(t)
	sources, seen := map[string]int{}, map[string]bool{}
	for _, p := range checklist(t) {
		source, _, _ := strings.Cut(p.number, ".")
		sources[source]++
		if p.number == "" || p.text == "" || seen[p.number] {
			t.Errorf("%+v has no number or text of its own", p)
		}
		seen[p.number] = true
		for _, href := range p.places {
			if !exists(c, href) {
				t.Errorf("%s (%s) should be taught at %q, which does not exist", p.number, p.text, href)
			}
		}
	}
	for source, least := range map[string]int{"000": 15, "001": 40, "002": 25, "003": 20, "004": 40} {
		if sources[source] < least {
			t.Errorf("source %s has %d points, want at least %d", source, sources[source], least)
		}
	}
}
