package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bench"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/stage"
)

// stringsIn adds the strings in a JSON value to list, as the commands print them.
func stringsIn(value any, list []string) []string {
	switch v := value.(type) {
	case string:
		marked := stage.Marked(v).String()
		list = append(list, v, marked, terms.Shortened(marked, whyColumn-2))
	case []any:
		for _, x := range v {
			list = stringsIn(x, list)
		}
	case map[string]any:
		for _, x := range v {
			list = stringsIn(x, list)
		}
	}
	return list
}

// TestCommandsUseTheCatalog runs commands in a test language that marks every word of the catalogs.
// A word without a mark is hard-coded, unless it is also in the command's JSON output: a token, for
// example, or the type of a tensor.
func TestCommandsUseTheCatalog(t *testing.T) {
	t.Parallel()
	ctx := terms.With(t.Context(), pseudo.Language(t))
	dir := t.TempDir()
	text, data, backup := filepath.Join(dir, "a.txt"), filepath.Join(dir, "data"), filepath.Join(dir, "copy.db")
	if err := os.WriteFile(text, []byte("Once upon a time there was a dog."), 0o600); err != nil {
		t.Fatal(err)
	}
	server := serveFolder(t, data)
	code := server.class(t)
	server.end()
	for _, args := range [][]string{
		{"why", "-prompt", "Once upon a time", "-heads"},
		{"why", "-prompt", "Once upon a time", "-over", "#5", "-lens"},
		{"why", "-prompt", "Once upon a time", "-off", "L2.H1,L1", "-mean", "-lens", "-patch", "Once upon a dog"},
		{"why", "-prompt", "Once upon a time", "-patch", "Once upon a time"},
		{"score", "-tokens", "-rules", "top_k=3", text},
		{"score", "-temperature", "2", text},
		{"inspect", "-tensors"},
		{"check", "-data", data},
		{"rooms", "-data", data},
		{"rooms", "close", "-data", data, code},
		{"backup", "-data", data, backup},
	} {
		texts := []string{dir, data, code, "bfloat16", "SHA", backup}
		if args[0] != "backup" && args[1] != "close" {
			d := json.NewDecoder(strings.NewReader(ok(t, append([]string{args[0], "-json"}, args[1:]...)...)))
			for d.More() {
				var value any
				if err := d.Decode(&value); err != nil {
					t.Fatal(err)
				}
				texts = stringsIn(value, texts)
			}
		}
		var out, errs bytes.Buffer
		unset := func(string) string { return "" }
		if code := command(ctx, args, unset, nil, &out, &errs); code != exitDone || errs.Len() > 0 || out.Len() == 0 {
			t.Errorf("%q: got exit code %d, %q, %q; want %d, output and no errors", args, code, &out, &errs, exitDone)
		}
		if left := pseudo.NewData(texts).Unmarked(out.String()); len(left) > 0 {
			t.Errorf("%q: %q is in no catalog, want none:\n%s", args, left, out.String())
		}
	}
}

// TestPrintersUseTheCatalog is like [TestCommandsUseTheCatalog], for output that needs a cluster, a
// large model, or time.
func TestPrintersUseTheCatalog(t *testing.T) {
	ctx := terms.With(t.Context(), pseudo.Language(t))
	w := terms.In(ctx)
	var b strings.Builder
	for _, r := range []records.Saved{
		{}, {Ended: true}, {Locked: true, Members: 1, Polls: 2, Votes: 1, Texts: 2}, {Fault: "FAULT"},
	} {
		describeRoom(w, &b, r)
	}
	row := bench.Row{Case: bench.Case{Phase: bench.Kernel, Quant: infer.QuantInt8, Threads: 1, Texts: 2}}
	decode := bench.Row{Case: bench.Case{Phase: bench.Decode, Quant: infer.QuantInt8}}
	prefill := bench.Row{Case: bench.Case{Phase: bench.Prefill, Quant: infer.QuantInt8}}
	b.WriteString(benchReport{CPUs: 2, Speed: []bench.Row{row, decode, prefill}}.text(w))
	b.WriteString(benchReport{Accuracy: []bench.Accuracy{
		{Quant: infer.QuantInt8, Texts: "written"}, {Quant: infer.QuantInt8, Texts: "generated"},
	}}.text(w))
	b.WriteString(caseText(w, row.Case) + scoreProgress(w, 1, 2, time.Second))
	times := load.Quantiles{N: 1}
	b.WriteString((&load.Report{CPUs: 1}).Text(w))
	b.WriteString((&load.Report{CPUs: 2, Deaf: 1, Larger: times, Publish: times}).Text(w))
	for _, c := range []*carry{
		{learners: 1, added: 1},
		{folder: "FOLDER", rooms: 2, aside: 1, out: []string{"FAULT"}},
		{folder: "FOLDER", added: 1},
	} {
		c.words = w
		b.WriteString(c.summary())
		if err := c.left(); err != nil {
			b.WriteString(err.Error())
		}
	}
	everywhere := address{host: "0.0.0.0", port: "1"}
	for _, c := range []struct {
		o serveOptions
		a address
		x classroom.Access
	}{
		{
			serveOptions{},
			address{host: "127.0.0.1"},
			classroom.Access{Local: true, Command: "COMMAND", Secure: "COMMAND"},
		},
		{serveOptions{data: "FOLDER"}, everywhere, classroom.Access{URL: "URL", Clear: true}},
		{serveOptions{cluster: clusterFlags{url: "URL"}}, everywhere, classroom.Access{}},
	} {
		cfg := web.Config{AllowedHosts: []string{"HOST"}}
		cfg.Classes.Access, cfg.Classes.Phones = c.x, &classroom.Phones{}
		c.o.greet(w, &b, c.a, cfg, "URL")
	}
	checkpoint, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer checkpoint.Close()
	announce(w, &b, checkpoint, infer.QuantNone, 0)
	announce(w, &b, checkpoint, infer.QuantInt8, 0)
	s := &sheet{words: w}
	s.verdict("", "", []string{"FAULT"})
	s.verdict("", "", []string{"FAULT", "FAULT"})
	b.WriteString(s.String())
	data := []string{
		"FAULT", "FOLDER", "COMMAND", "URL", "HOST", "http", "int8", checkpoint.Config.Name,
		time.Second.String(),
	}
	if left := pseudo.NewData(data).Unmarked(b.String()); len(left) > 0 {
		t.Errorf("%q is in no catalog, want none:\n%s", left, b.String())
	}
}

// TestLabsUseTheCatalog is like [TestCommandsUseTheCatalog], for the labs.
func TestLabsUseTheCatalog(t *testing.T) {
	w := pseudo.Language(t)
	target, err := openModel(t.Context(), modelPath{}, "", infer.QuantNone, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"draw", "stops", "cache"} {
		l, ok := lab.Find(name)
		if !ok {
			t.Fatalf("there is no lab %s", name)
		}
		info := l.Info(w)
		var o labOptions
		o.values = terms.Values{}
		f := o.flags(info)
		if err := f.parse(shortLabs[name], func(string) string { return "" }, nil); err != nil {
			t.Fatal(err)
		}
		values, err := info.Inputs.Read(o.values)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Run(t.Context(), lab.Env{Target: target}, values, func(lab.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		result, err := json.Marshal(r.Result)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(result, &value); err != nil {
			t.Fatal(err)
		}
		data := stringsIn(value, []string{r.Model})
		for _, table := range r.Tables {
			data = append(data, table.Name)
			for _, row := range table.Rows {
				for _, cell := range row {
					if text, ok := cell.(string); ok {
						data = append(data, labCell(w, text))
					}
				}
			}
		}
		if left := pseudo.NewData(data).Unmarked(labText(w, r, info)); len(left) > 0 {
			t.Errorf("%s: %q is in no catalog, want none:\n%s", name, left, labText(w, r, info))
		}
	}
}
