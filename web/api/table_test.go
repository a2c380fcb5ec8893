package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestEveryFieldOfTheTable: a label accepts any value, and other fields accept only values that
// turn them off. Each refusal states the reason, and the /api page names every field.
func TestEveryFieldOfTheTable(t *testing.T) {
	var page strings.Builder
	if err := pageHTML(view{}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	for name, o := range others {
		within, field := "", name
		if i := strings.LastIndex(name, "[]."); i >= 0 {
			within, field = name[:i+3], name[i+3:]
		} else if after, ok := strings.CutPrefix(name, "stream_options."); ok {
			within, field = "stream_options.", after
		}
		const odd = `{"odd": [1]}`
		for _, value := range append([]string{odd}, o.off...) {
			all := map[string]json.RawMessage{field: json.RawMessage(value)}
			setAside(within, all)
			if got, want := len(all) == 0, o.label || value != odd; got != want {
				t.Errorf("%s with %s is accepted without effect: %v, want %v", name, value, got, want)
			}
		}
		if o.label && (o.off != nil || o.why != "" || o.without != nil) || !o.label && o.off == nil && o.why == "" {
			t.Errorf("%s is neither a label nor refused with a reason: %+v", name, o)
		}
		if !strings.Contains(page.String(), "<code>"+name+"</code>") {
			t.Errorf("the page does not name %s", name)
		}
		if o.label && actsAt(name) > 0 || slices.Contains(o.off, "") {
			t.Errorf("%s acts at a stage and is a label, or has an empty value: %+v", name, o)
		}
	}
}
