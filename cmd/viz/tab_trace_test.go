package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestTabMatchesTheTrace: the program in a tab sends the same runs that VIZ_KERNEL=portable viz
// trace -json prints. Tokens, counts and texts are equal; logits and all other numbers are equal to
// within a thousandth. The first subtest tries one value of each setting.
// Promise: A model in a browser tab generates the same tokens as on a server.
func TestTabMatchesTheTrace(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const tokens = 64
	tab := browser.Open(t, browser.Laptop, webtest.ServeTab(t, ""))
	for i, prompt := range webtest.TracePrompts {
		t.Run(fmt.Sprintf("prompt %d", i+1), func(t *testing.T) {
			for _, knobs := range webtest.TraceSettings {
				seed := i + 1
				args := []string{
					"trace", "-json", "-prompt", prompt, "-n", strconv.Itoa(tokens), "-seed", strconv.Itoa(seed),
				}
				set := map[string]any{"cmd": "set", "n": 1, "seed": seed}
				for _, k := range terms.Knobs() {
					if x, ok := knobs[k.Key]; ok {
						set[k.Key] = x
						args = append(args, "-"+k.Flag, terms.Plain(x))
					}
				}
				if want := 8 + 2*len(knobs); len(args) != want {
					t.Fatalf("%q lacks a flag for one of %v", args, slices.Collect(maps.Keys(knobs)))
				}
				sameStages(t, args, printed(t, args), webtest.Stages(t, tab.As(t), set, prompt, tokens))
			}
		})
	}
}

// printed returns the JSON objects that viz prints on a processor without vector instructions.
func printed(t *testing.T, args []string) (list []map[string]any) {
	t.Helper()
	viz, out, errors := processIn(t, []string{"VIZ_KERNEL=portable"}, args...)
	for from := json.NewDecoder(out); ; {
		var one map[string]any
		err := from.Decode(&one)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := viz.Wait(); err != nil {
		t.Fatalf("viz %q: %v: %s", args, err, errors)
	}
	return list
}

// sameStages compares the printed stages with the stages that a tab sent. Only the socket sends the
// prompt's stage.
func sameStages(t *testing.T, args []string, want, got []map[string]any) {
	t.Helper()
	got = slices.DeleteFunc(got, func(s map[string]any) bool { return s["stage"] == "prompt" })
	want = slices.DeleteFunc(want, func(s map[string]any) bool { return s["stage"] == "prompt" })
	if len(want) < 7 || len(want) != len(got) {
		t.Fatalf("viz %q prints %d stages, the tab sends %d; want at least 7, %d", args, len(want), len(got), len(got))
	}
	for i := range want {
		if diff := webtest.Differ(want[i], got[i]); diff != "" {
			t.Fatalf("viz %q, stage %d: %s", args, i, diff)
		}
	}
}
