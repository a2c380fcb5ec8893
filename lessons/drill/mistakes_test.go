package drill

import (
	"os"
	"regexp"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestEveryMistakeHasAName: each mistake that can occur in a verdict has a name for instructors.
func TestEveryMistakeHasAName(t *testing.T) {
	source, err := os.ReadFile("verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`Mistake = "([a-z0-9-]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, m := range all {
		if Mistake(m[1]).Name(terms.English) == "" {
			t.Errorf("%q has no name", m[1])
		}
	}
	if len(all) != len(slipNames) {
		t.Errorf("got %d mistakes and %d names, want one name each", len(all), len(slipNames))
	}
}
