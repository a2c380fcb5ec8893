package site_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestSameAsTheTrace: the stages that the tab sends match the stages that the engine computes in
// the test process. The tokens, counts and texts are the same, and numbers differ by at most a
// thousandth. (In the long tier, cmd/viz compares many runs with the output of viz trace.)
func TestSameAsTheTrace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const tokens, seed = 16, 1
	prompt := webtest.TracePrompts[0]
	tab := browser.Open(t, browser.Laptop, serve(t, nil))
	tab.Wait("the program", runs)
	s := infer.DefaultSettings()
	s.Stop.MaxTokens = tokens
	set := map[string]any{"cmd": "set", "n": 1, "seed": seed}
	s.Set("seed", seed)
	for key, x := range webtest.TraceSettings[0] {
		set[key] = x
		s.Set(key, x)
	}
	compare(t, testmodel.Target(t), prompt, s, webtest.Stages(t, tab, set, prompt, tokens))
}

// compare runs the prompt on the model in the test process, and compares the result with the tab's
// stages.
func compare(t *testing.T, m *infer.Model, prompt string, s infer.Settings, got []map[string]any) {
	t.Helper()
	loop, err := infer.NewLoop(m, prompt, s)
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(s map[string]any) bool { return s["stage"] == "prompt" })
	for i := 0; loop.Stopped() == infer.StopNone; i++ {
		stage, err := loop.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(stage)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if i >= len(got) {
			t.Fatalf("%q: the tab sent only %d stages; the engine's next stage is %s", prompt, len(got), text)
		}
		if diff := webtest.Differ(want, got[i]); diff != "" {
			t.Fatalf("%q, stage %d: %s", prompt, i, diff)
		}
	}
}
