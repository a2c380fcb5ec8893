package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// shortLabs lists the labs that take a long time by default, each with flags that shorten its run.
var shortLabs = map[string][]string{
	"strategies":   {"-tokens", "6", "-runs", "2", "-lanes", "greedy,t=2 k=5", "-horizon", "2"},
	"draw":         {"-draws", "100", "-repeats", "2"},
	"cache":        {"-tokens", "5", "-repeats", "1"},
	"memory":       {"-tokens", "4", "-preset", "llama-2-7b"},
	"prefill":      {"-lengths", "1,8", "-tokens", "4", "-repeats", "1"},
	"bill":         {"-max-tokens", "8", "-try-max-tokens", "3", "-stop", `\n\n`},
	"speculation":  {"-tokens", "8", "-gamma", "2", "-gammas", "1,2", "-repeats", "1", "-rounds", "100"},
	"stops":        {"-tokens", "12", "-max-tokens", "8"},
	"quantization": {"-tokens", "6", "-repeats", "1"},
	"induction":    {"-rows", "1", "-length", "8", "-off", "2"},
}

func TestLabHelpListsLabsAndOptions(t *testing.T) {
	for _, args := range [][]string{{"lab"}, {"lab", "-h"}, {"lab", "help"}} {
		out := ok(t, args...)
		for _, l := range lab.All() {
			if !strings.Contains(out, "\n  "+l.Info(terms.English).Name+" ") {
				t.Errorf("viz %v lacks %s", args, l.Info(terms.English).Name)
			}
		}
	}
	out := ok(t, "lab", "cache", "-h")
	for _, want := range []string{
		"-tokens N", "-top-p X", "a whole number from 1 to 2048 tokens", "(default 32)", "-json", "-csv TABLE",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("viz lab cache -h lacks %q", want)
		}
	}
}

// TestEveryLabPrintsJSONAndCSV: every lab runs without a browser and prints
// JSON and CSV on standard output, and progress on standard error.
func TestEveryLabPrintsJSONAndCSV(t *testing.T) {
	t.Parallel()
	for i, l := range lab.All() {
		if !fixture.LongTier() && i%3 > 0 {
			continue // one lab in three is enough, since all labs share this code
		}
		name := l.Info(terms.English).Name
		args := append([]string{"lab", name}, shortLabs[name]...)
		f := try(t, nil, "", append(args, "-json")...)
		var r struct {
			Lab, Model string
			Values     terms.Values
			Result     map[string]any
			Tables     []lab.Table
			Canceled   bool
		}
		if err := json.Unmarshal([]byte(f.out), &r); f.code != exitDone || err != nil {
			t.Errorf("viz lab %s: exit %d, %v, %s; want %d, <nil>", name, f.code, err, f.errors, exitDone)
			continue
		}
		taken := len(shortLabs[name]) == 0 ||
			r.Values[strings.ReplaceAll(shortLabs[name][0][1:], "-", "_")] == shortLabs[name][1]
		if r.Lab != name || len(r.Result) == 0 || len(r.Tables) == 0 || r.Canceled || !taken {
			t.Errorf(
				"viz lab %s: got %s with %v, %d tables; want r.Lab = %s, len(r.Result) not 0, "+
					"len(r.Tables) not 0, r.Canceled = false, taken = true",
				name, r.Lab, r.Values, len(r.Tables), name,
			)
		}
		if !strings.Contains(f.errors, "viz lab "+name+": ") || !strings.Contains(f.errors, "100%") {
			t.Errorf(
				"viz lab %s: progress %q, want it to contain %q and %q", name, f.errors, "viz lab "+name+": ", "100%",
			)
		}
		table := r.Tables[0]
		f = try(t, nil, "", append(args, "-csv", table.Name)...)
		rows, err := csv.NewReader(strings.NewReader(f.out)).ReadAll()
		if err != nil || len(rows) != len(table.Rows)+1 || len(rows[0]) != len(table.Columns) {
			t.Errorf(
				"viz lab %s -csv %s: %d rows, want %d and a header (%v)", name, table.Name, len(rows), len(table.Rows),
				err,
			)
		}
		f = try(t, nil, "", args...)
		for _, want := range []string{l.Info(terms.English).Title, table.Title.String(), "(" + table.Name + ")"} {
			if !strings.Contains(f.out, want) {
				t.Errorf("viz lab %s: the tables lack %q", name, want)
			}
		}
	}
}

func TestLabBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"none"}, []string{`"none"`, "strategies, draw, cache, memory, prefill, bill, speculation, stops"}},
		{[]string{"speculation", "-gamma", "0"}, []string{"-gamma is 0", "1 to 16 tokens"}},
		{[]string{"speculation", "-gammas", "1,x"}, []string{"-gammas", "separated by commas"}},
		{[]string{"draw", "-draws", "1000000"}, []string{"-draws is 1000000", "10 to 100000 draws"}},
		{[]string{"bill", "-input-price", "-3"}, []string{"-input-price is -3", "$ per million tokens"}},
		{[]string{"bill", "-top-p", "0"}, []string{"-top-p is 0", "above 0"}},
		{[]string{"prefill", "-lengths", "9999"}, []string{"-lengths", "at most 512 tokens"}},
		{[]string{"cache", "-colour"}, []string{"-colour", "not defined"}},
		{[]string{"cache", "more"}, []string{`"more"`, "only flags"}},
		{[]string{"cache", "-model", "no/such"}, []string{"-model", "no such file or folder"}},
	} {
		f := try(t, nil, "", append([]string{"lab"}, c.args...)...)
		if f.code != exitUsage || f.out != "" {
			t.Errorf(`viz lab %q: exit %d, stdout %q; want %d, ""`, c.args, f.code, f.out, exitUsage)
		}
		for _, want := range c.want {
			if !strings.Contains(f.errors, want) {
				t.Errorf("viz lab %q: message %q lacks %q", c.args, f.errors, want)
			}
		}
	}
	f := try(t, nil, "", "lab", "memory", "-tokens", "1", "-csv", "rows")
	if f.code != exitUsage || !strings.Contains(f.errors, `"rows"`) ||
		!strings.Contains(f.errors, "variants, models, windows, engine") {
		t.Errorf(
			"exit %d, %q; want %d with %q and %q", f.code, f.errors, exitUsage, `"rows"`,
			"variants, models, windows, engine",
		)
	}
	// VIZ_MEMORY, which sets the server's memory limit, does not affect the memory calculator.
	if f := try(
		t, map[string]string{"VIZ_MEMORY": "2GiB", "VIZ_TOKENS": "x"}, "", "lab", "memory", "-tokens", "1",
	); f.code != exitDone {
		t.Errorf("exit %d, want %d, %q", f.code, exitDone, f.errors)
	}
}

// TestInterruptedLabPrintsPartialResults: an interrupt ends a run early and prints the results so
// far.
func TestInterruptedLabPrintsPartialResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errors bytes.Buffer
	stop := writerFunc(func(p []byte) (int, error) { // at the first progress output after the start
		if strings.Contains(string(p), "30%") || strings.Contains(string(p), "40%") {
			cancel()
		}
		return errors.Write(p)
	})
	code := run(
		ctx, []string{"lab", "cache", "-tokens", "50", "-repeats", "1", "-json"}, func(string) string { return "" },
		strings.NewReader(""), &out, stop,
	)
	var r struct {
		Canceled bool `json:"cancelled"`
		Result   lab.Cache
	}
	if err := json.Unmarshal(out.Bytes(), &r); code != exitInterrupted || err != nil || !r.Canceled ||
		len(r.Result.Steps) == 0 || len(r.Result.Steps) >= 50 {
		t.Errorf(
			"exit %d, canceled %v, %d steps, %v, %s; want %d, true, not 0, less than 50, <nil>", code, r.Canceled,
			len(r.Result.Steps), err, errors.String(), exitInterrupted,
		)
	}
}
