package site_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
)

// prompts are begun in the tab and here; the short tier takes the first.
var prompts = []string{
	"Once upon a time there was a", "The wizard lived in a", "The capital of France is", "7 + 5 =",
	"She opened the door and",
	"\"Why?\" asked the", "In the old house lived a", "A B C D", "The cat sat on the", "user: hello\n",
	"It was raining, so", "The king and the queen", "One day a small dog", "print(", "The sum of two and three is",
	"Ünïcödé 🙂", "There were three", "He said that", "   ", "The end.",
}

// settings are what each prompt is continued with; the short tier takes the first.
var settings = []map[string]float64{
	{"temperature": 0.7, "top_p": 0.9}, {"temperature": 0}, {"temperature": 1.3, "top_k": 40},
}

// traced has the page run the program over a port, as another program would, and
// returns the stages of a run. knobs is the command set.
const traced = `const { port1, port2 } = new MessageChannel();
const commands = %s;
const stages = [];
return new Promise((resolve, reject) => {
	port1.onmessage = ({ data }) => {
		if (typeof data !== 'string') { if (data.code) reject(new Error(data.reason)); return; }
		const message = JSON.parse(data);
		if (message.error) reject(new Error(message.error.message));
		stages.push(...message.stages ?? []);
		if (message.run) for (const c of commands) port1.postMessage(JSON.stringify(c));
		if (message.stopped) { port1.postMessage(null); window.stages = JSON.stringify(stages); resolve(); }
	};
	navigator.serviceWorker.controller.postMessage({ viz: 'connect', query: '', protocol: 'viz.json.v1' }, [port2]);
});`

// TestSameAsTheTrace: the stages that the tab sends are those that the engine has here:
// the same tokens, counts and texts, and numbers to a thousandth.
func TestSameAsTheTrace(t *testing.T) {
	t.Parallel()
	n, tokens := 1, 16
	if fixture.LongTier() {
		n, tokens = len(prompts), 64
	}
	tab := browser.Open(t, browser.Laptop, serve(t, nil))
	tab.Wait("the program", runs)
	for i, prompt := range prompts[:n] {
		for _, knobs := range settings[:min(n, len(settings))] {
			s := infer.DefaultSettings()
			s.Stop.MaxTokens = tokens
			set := map[string]any{"cmd": "set", "n": 1, "seed": i + 1}
			s.Set("seed", float64(i+1))
			for key, x := range knobs {
				set[key] = x
				s.Set(key, x)
			}
			compare(t, testmodel.Target(t), prompt, s, stagesOf(t, tab, set, prompt, tokens))
		}
	}
}

// stagesOf has the tab run a prompt to its end, after the command set, and returns the stages.
func stagesOf(t *testing.T, tab *browser.Tab, set map[string]any, prompt string, tokens int) string {
	t.Helper()
	commands, err := json.Marshal([]map[string]any{
		set,
		{"cmd": "stop", "n": 2, "max_tokens": tokens},
		{"cmd": "start", "n": 3, "prompt": prompt},
		{"cmd": "finish", "n": 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	tab.Await(fmt.Sprintf(traced, commands))
	return browser.Value[string](tab, `window.stages`)
}

// compare runs the prompt here, on the model, and compares what the tab has sent with it.
func compare(t *testing.T, m *infer.Model, prompt string, s infer.Settings, sent string) {
	t.Helper()
	var got []map[string]any
	if err := json.Unmarshal([]byte(sent), &got); err != nil {
		t.Fatal(err)
	}
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
			t.Fatalf("%q: the tab sent %d stages, and here comes another: %s", prompt, len(got), text)
		}
		if diff := differ(want, got[i]); diff != "" {
			t.Fatalf("%q, stage %d: %s", prompt, i, diff)
		}
	}
}

// apart are fields that may differ: times, and lists that are as long as a screen.
var apart = []string{"ns", "rows", "rest", "lanes", "lanes_rest", "penalty"}

// differ says where two values differ by more than a thousandth.
func differ(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%v is %v", want, got)
		}
		for key, v := range want {
			if slices.Contains(apart, key) {
				continue
			}
			if diff := differ(v, have[key]); diff != "" {
				return key + ": " + diff
			}
		}
		return rowsDiffer(want["rows"], have["rows"])
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			return fmt.Sprintf("%v is %v", want, got)
		}
		for i := range want {
			if diff := differ(want[i], have[i]); diff != "" {
				return diff
			}
		}
	case float64:
		have, ok := got.(float64)
		whole := want == math.Trunc(want) && math.Abs(want) < 1<<53
		if !ok || whole && have != want || !whole && math.Abs(have-want) > 1e-3*max(1, math.Abs(want)) {
			return fmt.Sprintf("%v is %v", want, got)
		}
	default:
		if want != got {
			return fmt.Sprintf("%v is %v", want, got)
		}
	}
	return ""
}

// rowsDiffer compares the numbers of the tokens that two lists share.
func rowsDiffer(want, got any) string {
	rows, _ := want.([]any)
	others, _ := got.([]any)
	for _, r := range rows {
		row := r.(map[string]any)
		at := slices.IndexFunc(others, func(o any) bool { return o.(map[string]any)["id"] == row["id"] })
		if at < 0 {
			continue
		}
		if diff := differ(row, others[at]); diff != "" && !strings.HasPrefix(diff, "rank") {
			return "a row: " + diff
		}
	}
	return ""
}
