package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// finished is the outcome of a command line.
type finished struct {
	code        int
	out, errors string
}

// try runs a command line like main, with its own environment and standard input.
func try(t *testing.T, env map[string]string, stdin string, args ...string) finished {
	t.Helper()
	var out, errors bytes.Buffer
	code := run(t.Context(), args, func(k string) string { return env[k] }, strings.NewReader(stdin), &out, &errors)
	return finished{code, out.String(), errors.String()}
}

// ok is like try, but the command line must succeed. It returns the output.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	f := try(t, nil, "", args...)
	if f.code != exitDone || f.errors != "" {
		t.Fatalf(`viz %q: exit %d, stderr %q; want %d, ""`, args, f.code, f.errors, exitDone)
	}
	return f.out
}

const capital = "The capital of France is"

// object is a line of the JSON output.
type object = map[string]any

func objects(t *testing.T, text string) []object {
	t.Helper()
	var list []object
	for line := range strings.Lines(text) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, o)
	}
	return list
}

// stages returns all objects of one stage, in step order.
func stages(list []object, name string) (found []object) {
	for _, o := range list {
		if o["stage"] == name {
			found = append(found, o)
		}
	}
	return found
}

func rowsOf(o object) []object {
	var rows []object
	for _, r := range o["rows"].([]any) {
		rows = append(rows, r.(object))
	}
	return rows
}

func TestTraceJSONOrder(t *testing.T) {
	list := objects(t, ok(t, "trace", "-prompt", capital, "-n", "2", "-seed", "9", "-json"))
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = fmt.Sprint(o["step"], " ", o["stage"])
	}
	want := []string{"<nil> prompt"}
	for step := 1; step <= 2; step++ {
		for _, s := range []string{"forward", "logits", "softmax", "filter", "sample", "append", "cache"} {
			want = append(want, fmt.Sprint(step, " ", s))
		}
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("stages %q, want %q", names, want)
	}
	p := list[0]
	if tokens := p["tokens"].([]any); len(tokens) != 6 || tokens[1].(object)["text"] != "The" {
		t.Errorf("prompt tokens %v, want the start token and 5 others", tokens)
	}
	if p["seed"] != 9.0 || p["model"].(object)["name"] != "tiny-5M" {
		t.Errorf("got seed %v, model %v; want 9, tiny-5M", p["seed"], p["model"])
	}
	for _, o := range list[1:] {
		if rows, listed := o["rows"].([]any); listed && len(rows) != 20 {
			t.Errorf("step %v %v lists %d rows, want 20", o["step"], o["stage"], len(rows))
		}
	}
}

func TestTraceCoversWholeVocabulary(t *testing.T) {
	list := objects(
		t,
		ok(
			t, "trace", "-prompt", "Once upon a time", "-n", "1", "-rows", "0", "-temp", "1", "-top-k", "50", "-top-p",
			"0.8", "-json",
		),
	)
	for _, name := range []string{"logits", "softmax", "filter"} {
		o := stages(list, name)[0]
		rows := rowsOf(o)
		if len(rows) != 4096 {
			t.Fatalf("%s: %d rows, want 4096", name, len(rows))
		}
		for i := 1; i < len(rows); i++ {
			if rows[i]["z"].(float64) > rows[i-1]["z"].(float64) {
				t.Fatalf("%s: row %d has a higher z than the one before", name, i+1)
			}
		}
		rest := o["rest"].(object)
		if p, known := rest["p"]; rest["n"] != 0.0 || known != (name != "logits") || known && p != 0.0 {
			t.Errorf("%s: rest %v, want none", name, rest)
		}
	}
	var p float64
	for _, r := range rowsOf(stages(list, "softmax")[0]) {
		p += r["p"].(float64)
	}
	if !(math.Abs(p-1) <= 1e-9) {
		t.Errorf("p sums to %v, want about 1", p)
	}
}

// TestTraceFilterFollowsFromProbabilities: the rows of the filter stage can be computed from their
// p and the settings, and the probabilities of the rows and of the rest sum to 1.
func TestTraceFilterFollowsFromProbabilities(t *testing.T) {
	t.Parallel()
	for _, rows := range []string{"0", "1", "12"} {
		list := objects(t, ok(t, "trace", "-prompt", "Once upon a time there was a", "-n", "4", "-rows", rows,
			"-temp", "1.3", "-top-k", "30", "-top-p", "0.95", "-min-p", "0.05", "-json"))
		for i, o := range stages(list, "filter") {
			checkFilter(t, o, stages(list, "sample")[i])
		}
	}
}

func checkFilter(t *testing.T, o, sample object) {
	t.Helper()
	rest, mass := o["rest"].(object), o["mass"].(float64)
	p, q, n, kept := rest["p"].(float64), rest["q"].(float64), rest["n"].(float64), rest["kept"].(float64)
	chosen := sample["chosen"].(object)["id"]
	var found bool
	for _, r := range rowsOf(o) {
		p, q, n = p+r["p"].(float64), q+r["q"].(float64), n+1
		found = found || r["id"] == chosen
		switch before := r["cum"].(float64) - r["p"].(float64); r["cut_by"] {
		case nil:
			kept++
			if want := r["p"].(float64) / mass; r["kept"] != true || !(math.Abs(r["q"].(float64)-want) <= 1e-12) {
				t.Errorf("kept row %v: q should be %v", r, want)
			}
		case "top_k":
			if r["rank"].(float64) <= 30 {
				t.Errorf("got row %v cut by top-k 30, want only ranks above 30", r)
			}
		case "top_p":
			if before < 0.95-1e-9 || r["rank"].(float64) > 30 {
				t.Errorf("row %v cut by top-p 0.95 with %v before it", r, before)
			}
		case "min_p":
			if before >= 0.95+1e-9 || r["rank"].(float64) > 30 {
				t.Errorf("row %v cut by min-p, though another rule comes first", r)
			}
		default:
			t.Errorf("row %v: unknown rule, want one of the filters", r)
		}
		if r["cut_by"] != nil && (r["kept"] != false || r["q"] != 0.0) {
			t.Errorf("got cut row %v, want it not kept, and q 0", r)
		}
	}
	if !(math.Abs(p-1) <= 1e-9) || !(math.Abs(q-1) <= 1e-9) || n != 4096 || kept != o["kept"] || !found {
		t.Errorf(
			"step %v: Σp %v, Σq %v, %v tokens, %v kept of %v, chosen listed: %v; want 1, 1, 4096, %v, true",
			o["step"], p, q, n, kept, o["kept"], found, o["kept"],
		)
	}
}

func TestTraceDrawFollowsFromU(t *testing.T) {
	list := objects(
		t,
		ok(
			t, "trace", "-prompt", "Once upon a time there was a", "-n", "5", "-seed", "3", "-temp", "2", "-top-p", "1",
			"-json",
		),
	)
	for i, s := range stages(list, "sample") {
		u := s["u"].(float64)
		if want := sampling.U(3, i+1); u != want {
			t.Errorf("step %d: u = %v, want %v", i+1, u, want)
		}
		if from, to := s["from"].(float64), s["to"].(float64); u < from || u >= to {
			t.Errorf("step %d: u = %v outside the chosen segment %v to %v", i+1, u, from, to)
		}
	}
}

func TestTraceGreedyHasNoU(t *testing.T) {
	list := objects(t, ok(t, "trace", "-prompt", capital, "-n", "3", "-temp", "0", "-seed", "1", "-json"))
	for i, s := range stages(list, "sample") {
		u, present := s["u"]
		if u != nil || !present {
			t.Errorf("step %d: u is %v, want null", i+1, u)
		}
		f := stages(list, "filter")[i]
		if second := rowsOf(f)[1]; f["kept"] != 1.0 || second["cut_by"] != "greedy" {
			t.Errorf(
				"step %d: got %v kept, second row %v; want 1 kept, the second cut by greedy", i+1, f["kept"], second,
			)
		}
		if rank := s["chosen"].(object)["rank"]; rank != 1.0 {
			t.Errorf("step %d: got rank %v chosen, want 1", i+1, rank)
		}
	}
}

func TestTraceStopConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		stop string
		text string // the generated text, or "" for any
	}{
		{"max_tokens", []string{"-n", "2", "-prompt", capital}, "max_tokens", " Paris,"},
		// " Paris" is one token; the stop string begins inside it.
		{"string", []string{"-stop", "aris", "-prompt", capital}, "stop_string", " P"},
		{"eos", []string{"-temp", "0", "-n", "200", "-prompt", "Once upon a time there was a little"}, "eos", ""},
		{"context", []string{"-n", "9", "-prompt", strings.Repeat(" the", 510)}, "context", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			appends := stages(
				objects(t, ok(t, append([]string{"trace", "-json", "-rows", "1"}, c.args...)...)), "append",
			)
			var text string
			for i, a := range appends {
				text += a["text"].(string)
				if stop, ended := a["stop"]; ended != (i == len(appends)-1) || ended && stop != c.stop {
					t.Errorf("step %d of %d: stop %v, want %s only at the end", i+1, len(appends), stop, c.stop)
				}
			}
			if c.text != "" && text != c.text {
				t.Errorf("text %q, want %q", text, c.text)
			}
		})
	}
}

func TestPromptFromStandardInput(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines\n": "two\nlines", "no newline": "no newline", "windows\r\n": "windows", "more\n\n": "more\n",
		"\xef\xbb\xbfmarked\r\n": "marked", "\xff\xfeh\x00i\x00\n\x00": "hi",
	} {
		f := try(t, nil, in, "trace", "-prompt", "-", "-n", "1", "-json")
		if f.code != exitDone {
			t.Fatalf("%q: exit %d, want %d, %s", in, f.code, exitDone, f.errors)
		}
		var got string
		for _, tok := range objects(t, f.out)[0]["tokens"].([]any)[1:] {
			got += tok.(object)["text"].(string)
		}
		if got != want {
			t.Errorf("%q was read as %q, want %q", in, got, want)
		}
	}
}

// TestSpaceAtEndOfPrompt: the commands that continue a prompt report that it ends with a
// space.
func TestSpaceAtEndOfPrompt(t *testing.T) {
	for _, args := range [][]string{{"trace", "-n", "1", "-rows", "1"}, {"why"}} {
		const want = "The prompt ends with a space. "
		with := try(t, nil, "The capital of France is \n", append(args, "-prompt", "-")...)
		if with.code != exitDone || !strings.HasPrefix(with.errors, want) ||
			!strings.HasSuffix(with.errors, " Remove the space.\n") {
			t.Errorf("%s: got %d, %q; want %d, prefix %q", args[0], with.code, with.errors, exitDone, want)
		}
		if f := try(t, nil, "", append(args, "-prompt", capital)...); f.code != exitDone || f.errors != "" {
			t.Errorf("%s without a space: got %d, %q; want %d, no output", args[0], f.code, f.errors, exitDone)
		}
	}
}

// Promise: Flags can also be set in the environment; the command line takes precedence.
func TestEnvironmentTwins(t *testing.T) {
	env := map[string]string{
		"VIZ_PROMPT": capital, "VIZ_N": "3", "VIZ_TEMP": "1.5", "VIZ_TOP_K": "7", "VIZ_TOP_P": "0.5",
		"VIZ_MIN_P": "0.1",
		"VIZ_SEED":  "11", "VIZ_STOP": `a\nb`, "VIZ_ROWS": "2", "VIZ_JSON": "true",
		"VIZ_MODEL": filepath.Join("..", "..", "infer", "bundled", "target"),
	}
	f := try(t, env, "", "trace", "-top-k", "9", "-stop", "x", "-stop", "y")
	if f.code != exitDone {
		t.Fatalf("exit %d, want %d, %s", f.code, exitDone, f.errors)
	}
	list := objects(t, f.out)
	p := list[0]
	for field, want := range map[string]any{
		"temperature": 1.5, "top_k": 9.0, "top_p": 0.5, "min_p": 0.1, "seed": 11.0,
	} {
		if p[field] != want {
			t.Errorf("%s is %v, want %v", field, p[field], want)
		}
	}
	if got := p["stop"]; !reflect.DeepEqual(got, object{"max_tokens": 3.0, "strings": []any{"x", "y"}}) {
		t.Errorf("got stop %v, want the flags' 3 tokens and x, y instead of the variable's values", got)
	}
	if name := p["model"].(object)["name"]; name != "target" {
		t.Errorf("model %v, want the folder's name", name)
	}
	if n := len(rowsOf(stages(list, "filter")[0])); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	delete(env, "VIZ_STOP")
	env["VIZ_JSON"] = "0"
	if f := try(t, env, "", "trace"); f.code != exitDone || strings.HasPrefix(f.out, "{") ||
		strings.Contains(f.out, "stop string") {
		t.Errorf("got exit code %d, output %.80s; want 0, and text without a stop string", f.code, f.out)
	}
}

func TestTraceIgnoresBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errors bytes.Buffer
	code := run(t.Context(), []string{"trace", "-prompt", capital}, func(string) string { return "" }, nil, w, &errors)
	if code != exitBrokenPipe || errors.Len() > 0 {
		t.Errorf("exit %d, stderr %q; want %d and no output", code, errors.String(), exitBrokenPipe)
	}
}

// TestTraceInterrupted: an interrupt ends a run after its current turn, and ends a wait for a
// prompt immediately.
func TestTraceInterrupted(t *testing.T) {
	for name, prompt := range map[string]string{"running": capital, "waiting": "-"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stdin, never, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer never.Close()
			out := writerFunc(func(p []byte) (int, error) {
				cancel(interruption{os.Interrupt})
				return len(p), nil
			})
			if prompt == "-" {
				cancel(interruption{os.Interrupt})
			}
			var errors bytes.Buffer
			code := run(
				ctx, []string{"trace", "-prompt", prompt, "-n", "500"}, func(string) string { return "" }, stdin, out,
				&errors,
			)
			if code != 130 || errors.Len() > 0 {
				t.Errorf("exit %d, stderr %q; want 130 and no output", code, errors.String())
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
