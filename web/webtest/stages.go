package webtest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
)

// TracePrompts and TraceSettings are the inputs for runs in a tab that tests compare with runs
// elsewhere.
var (
	TracePrompts = []string{
		"Once upon a time there was a", "The wizard lived in a", "The capital of France is", "7 + 5 =",
		"She opened the door and",
		"\"Why?\" asked the", "In the old house lived a", "A B C D", "The cat sat on the", "user: hello\n",
		"It was raining, so", "The king and the queen", "One day a small dog", "print(", "The sum of two and three is",
		"Ünïcödé 🙂", "There were three", "He said that", "   ", "The end.",
	}
	TraceSettings = []map[string]float64{
		{"temperature": 0.7, "top_p": 0.9}, {"temperature": 0}, {"temperature": 1.3, "top_k": 40},
	}
)

// Traced is a script that makes the page run the program over a port, as another program would. It
// stores the stages of a run in window.stages, as JSON. %s is replaced with the commands.
const Traced = `const { port1, port2 } = new MessageChannel();
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

// Stages sends the given set command to the program in a site's tab, runs a prompt there until the
// run ends, and returns the stages as a list of JSON objects.
func Stages(t testing.TB, tab *browser.Tab, set map[string]any, prompt string, tokens int) (stages []map[string]any) {
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
	tab.Await(fmt.Sprintf(Traced, commands))
	if err := json.Unmarshal([]byte(browser.Value[string](tab, `window.stages`)), &stages); err != nil {
		t.Fatal(err)
	}
	return stages
}

// apart lists the fields that may differ: times, and lists whose length depends on the screen's
// size.
var apart = []string{"ns", "rows", "rest", "lanes", "lanes_rest", "penalty"}

// Differ describes where two values differ by more than a thousandth.
func Differ(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		for key, v := range want {
			if slices.Contains(apart, key) {
				continue
			}
			if diff := Differ(v, have[key]); diff != "" {
				return key + ": " + diff
			}
		}
		return rowsDiffer(want["rows"], have["rows"])
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		for i := range want {
			if diff := Differ(want[i], have[i]); diff != "" {
				return diff
			}
		}
	case float64:
		have, ok := got.(float64)
		whole := want == math.Trunc(want) && math.Abs(want) < 1<<53
		if !ok || whole && have != want || !whole && math.Abs(have-want) > 1e-3*max(1, math.Abs(want)) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
	default:
		if want != got {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
	}
	return ""
}

// rowsDiffer compares the numbers of the tokens that occur in both lists.
func rowsDiffer(want, got any) string {
	rows, _ := want.([]any)
	others, _ := got.([]any)
	for _, r := range rows {
		row := r.(map[string]any)
		at := slices.IndexFunc(others, func(o any) bool { return o.(map[string]any)["id"] == row["id"] })
		if at < 0 {
			continue
		}
		if diff := Differ(row, others[at]); diff != "" && !strings.HasPrefix(diff, "rank") {
			return "a row: " + diff
		}
	}
	return ""
}
