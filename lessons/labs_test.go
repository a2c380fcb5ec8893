package lessons

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// labSections lists each lab with the section whose claim it measures.
var labSections = map[string]string{
	"bill":         "calling-an-api#price",
	"cache":        "kv-cache#what-stays",
	"draw":         "choosing-a-token#pure",
	"induction":    "where-paris-comes-from#limits",
	"memory":       "kv-cache#memory",
	"prefill":      "kv-cache#prefill",
	"quantization": "longer-chapter#efficiency",
	"speculation":  "speculative-decoding#how-much",
	"stops":        "stopping#three-ways",
	"strategies":   "choosing-a-token#when-to-use",
}

// TestEveryLabIsLinked: the section that makes a lab's claim links to the lab.
func TestEveryLabIsLinked(t *testing.T) {
	c := course(t)
	for _, l := range lab.All() {
		name := l.Info(terms.English).Name
		key := labSections[name]
		if key == "" {
			t.Errorf("labSections does not name a section for the lab %q: link it from a lesson", name)
			continue
		}
		section, linked := c.Section(key), false
		if section == nil {
			t.Errorf("%s: the section %q does not exist", name, key)
			continue
		}
		for _, b := range section.Blocks {
			p, ok := b.(Prose)
			linked = linked || ok && strings.Contains(p.HTML, `href="/labs/`+name+`"`)
		}
		if !linked {
			t.Errorf("%s does not link to the lab %q", key, name)
		}
	}
}
