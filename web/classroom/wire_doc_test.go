package classroom

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentedClassData: WIRE.md describes exactly the fields of the shared data of a
// class.
func TestDocumentedClassData(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "### Class data")
	if !ok {
		t.Fatal("WIRE.md does not describe the data of a class")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	var said, sent []string
	for line := range strings.Lines(table) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(name, "`") {
			for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(name, -1) {
				said = append(said, m[1])
			}
		}
	}
	for field := range reflect.TypeFor[shared]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		sent = append(sent, name)
	}
	slices.Sort(said)
	slices.Sort(sent)
	if !slices.Equal(said, sent) {
		t.Errorf("WIRE.md describes %v, want the fields that are sent: %v", said, sent)
	}
}
