package classroom

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
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

// TestDocumentedCommands: WIRE.md lists exactly the commands of the instructor's page, each with its
// fields in parentheses.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "\n**The instructor's commands** ")
	list, _, _ = strings.Cut(list, "\n\n")
	var want []string
	for _, c := range class.Commands {
		text := c.Name
		if keys := c.Inputs.Keys(); len(keys) > 0 && c.Name != "set" {
			text += " (" + strings.Join(keys, ", ") + ")"
		}
		want = append(want, text)
	}
	slices.Sort(want)
	if text := strings.Join(want, ", "); !ok || !strings.Contains(list, text) {
		t.Errorf("WIRE.md lists\n%s\nwant it to contain\n%s", list, text)
	}
}
