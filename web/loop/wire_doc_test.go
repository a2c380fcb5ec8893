package loop

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// TestDocumentedCommands: WIRE.md describes exactly the commands of a run and their fields.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n## Commands\n")
	part, _, _ = strings.Cut(part, "\n## ")
	name := regexp.MustCompile("`([a-z_]+)`")
	said := map[string][]string{} // the names in the fields column, by command
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) ?\| `).FindAllStringSubmatch(part, -1) {
		var fields []string
		for _, m := range name.FindAllStringSubmatch(row[2], -1) {
			fields = append(fields, m[1])
		}
		for _, m := range name.FindAllStringSubmatch(row[1], -1) {
			said[m[1]] = fields
		}
	}
	delete(said, "cmd") // the table's header row
	all := map[string]terms.Inputs{}
	for _, c := range session.Commands {
		all[c.Name] = c.Inputs
	}
	for _, c := range commands {
		all[c.Name] = c.Inputs
	}
	for command, inputs := range all {
		fields, ok := said[command]
		delete(said, command)
		for _, key := range inputs.Keys() {
			// STAGES.md lists the settings.
			ok = ok && (slices.Contains(fields, key) || command == "set")
		}
		if !ok {
			t.Errorf("WIRE.md has the command %s with the fields %q; want %q", command, fields, inputs.Keys())
		}
	}
	for command := range said {
		t.Errorf("WIRE.md describes the command %s, which does not exist", command)
	}
}
