package infer

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

var (
	nanoseconds = regexp.MustCompile(`"ns":\d+`)
	longNumbers = regexp.MustCompile(`-?\d+\.\d{6,}(e[-+]?\d+)?`)
)

// canonical returns an object's JSON with its times set to 0 and its numbers rounded to nine
// digits, so it is the same on every machine.
func canonical(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	text = nanoseconds.ReplaceAll(text, []byte(`"ns":0`))
	return longNumbers.ReplaceAllFunc(text, func(n []byte) []byte {
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			tb.Fatal(err)
		}
		return strconv.AppendFloat(nil, f, 'g', 9, 64)
	})
}

// TestJSONGolden: the objects that a trace prints and a socket sends equal the golden file, line by
// line. They come from the drill, sampled up to the token limit, and then from one greedy step.
func TestJSONGolden(t *testing.T) {
	var got bytes.Buffer
	for _, greedy := range []bool{false, true} {
		l := drillLoop(t, func(s *Settings) {
			s.TopP = 0.999
			if greedy {
				s.Temperature, s.Stop.MaxTokens, s.Stop.Strings = 0, 1, nil
			}
		})
		l.Rows = 3
		prompt := Prompt{Model: l.Model(), Settings: l.Settings()}
		for _, id := range l.Prompt() {
			prompt.Tokens = append(prompt.Tokens, l.Model().Token(id))
		}
		got.Write(append(canonical(t, prompt), '\n'))
		for _, stage := range finish(t, l) {
			got.Write(append(canonical(t, stage), '\n'))
		}
	}
	name := filepath.Join("testdata", "stages.jsonl")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	gotLines, wantLines := bytes.Split(got.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w []byte
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if !bytes.Equal(g, w) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, g, w)
		}
	}
}

// object parses a stage's JSON.
func object(tb testing.TB, v any) map[string]any {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		tb.Fatal(err)
	}
	return o
}

// TestJSONKeepsDocumentedFields: every stage has the fields promised to other programs.
func TestJSONKeepsDocumentedFields(t *testing.T) {
	m := bundledModel(t)
	s := pure(4)
	s.TopK, s.Stop.MaxTokens = 50, 2
	l := newLoop(t, m, "The cat", s)
	stages := finish(t, l)
	fields := map[string][]string{
		"forward": {"tokens", "mult_adds", "ns", "shapes"},
		"logits":  {"rows", "rest", "mult_adds", "ns"},
		"softmax": {"rows", "rest", "ns"},
		"filter":  {"rows", "rest", "ns"},
		"sample":  {"u", "chosen", "ns"},
		"append":  {"text", "token", "ns"},
		"cache":   {"positions", "bytes", "mult_adds"},
	}
	rowFields := map[string][]string{
		"logits": {"id", "text", "z"}, "softmax": {
			"id", "text", "z", "p",
		}, "filter": {"id", "text", "z", "p", "kept", "q"},
	}
	for i, stage := range stages {
		o := object(t, stage)
		name, _ := o["stage"].(string)
		if name != Kinds[i%7].String() || o["step"] != float64(1+i/7) {
			t.Fatalf(
				"object %d is of step %v, stage %v; want step %d, stage %s", i, o["step"], o["stage"], 1+i/7,
				Kinds[i%7],
			)
		}
		for _, f := range fields[name] {
			if _, ok := o[f]; !ok {
				t.Errorf("%s has no %q", name, f)
			}
		}
		if wanted := rowFields[name]; wanted != nil {
			rows := o["rows"].([]any)
			if len(rows) != DefaultRows || o["rest"].(map[string]any)["n"] != float64(4096-DefaultRows) {
				t.Errorf(
					"%s has %d rows and a rest of %v tokens, want %d rows and the rest of 4,096", name, len(rows),
					o["rest"], DefaultRows,
				)
			}
			for _, f := range wanted {
				if _, ok := rows[0].(map[string]any)[f]; !ok {
					t.Errorf("a row of %s has no %q", name, f)
				}
			}
		}
		if stop, ok := o["stop"]; name == "append" && (ok != (i > 7) || ok && stop != "max_tokens") {
			t.Errorf(
				"append of step %v has the stop %v, want max_tokens in the last step and none before", o["step"], stop,
			)
		}
		if name == "cache" {
			work := o["mult_adds"].(map[string]any)
			if work["cached"] == nil || work["recomputed"] == nil {
				t.Errorf("mult_adds of the cache stage: got %v, want cached and recomputed", work)
			}
		}
	}
	prompt := object(t, Prompt{Model: m, Tokens: []Token{m.Token(0)}, Settings: s})
	for _, f := range []string{"stage", "tokens", "model", "seed", "temperature", "top_k", "top_p", "min_p", "stop"} {
		if _, ok := prompt[f]; !ok {
			t.Errorf("the prompt object has no %q", f)
		}
	}
}

// TestJSONTokenBytesAndNulls: a token that is not complete UTF-8 has a field with its bytes in hex;
// other tokens do not. u is null under greedy decoding, and the row of a cut token names the rule
// that cut it.
func TestJSONTokenBytesAndNulls(t *testing.T) {
	m := smallModel(t)
	want := map[string]any{"id": float64(firstExtra + 7), "text": "\uFFFD!", "bytes": "ac21"}
	if got := object(t, m.Token(firstExtra+7)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v for an incomplete token, want %v", got, want)
	}
	want = map[string]any{"id": float64('a'), "text": "a"}
	if got := object(t, m.Token('a')); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v for a whole token, want %v", got, want)
	}
	l := newLoop(t, m, "Hi", Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 1}})
	for _, stage := range finish(t, l) {
		o := object(t, stage)
		switch stage.(type) {
		case Sample:
			if u, ok := o["u"]; !ok || u != nil {
				t.Errorf("under greedy decoding, u is %v, want ok = true, u = nil", u)
			}
		case Filter:
			rows := o["rows"].([]any)
			first, second := rows[0].(map[string]any), rows[1].(map[string]any)
			if _, cut := first["cut_by"]; cut || first["kept"] != true || second["cut_by"] != "greedy" ||
				second["kept"] != false {
				t.Errorf("got rows %v and %v, want the first kept and the second cut by greedy", first, second)
			}
		}
	}
}

// TestJSONKeepsEveryDigit: numbers in the JSON parse back to the same bits.
func TestJSONKeepsEveryDigit(t *testing.T) {
	l := newLoop(t, bundledModel(t), "The cat", pure(4))
	runTo(t, l, 1, KindFilter)
	l.Rows = 0
	st := l.Model().Stage(l.Steps()[0], KindFilter, nil, 0).(Filter)
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Rows []struct {
			ID   int
			Z    float32
			P, Q float64
		}
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	same := slices.EqualFunc(back.Rows, st.Rows.Rows, func(a struct {
		ID   int
		Z    float32
		P, Q float64
	}, b Row,
	) bool {
		return a.ID == b.ID && a.Z == b.Z && a.P == b.P && a.Q == b.Q
	})
	if !same || len(back.Rows) != 4096 {
		t.Errorf("the %d rows parsed back differ from the original rows", len(back.Rows))
	}
}
