package loop

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

var update = flag.Bool("update", false, "write the golden files again")

// handmade returns a run whose numbers do not come from an engine, so that they are the same on
// every machine. The score of token i is −(i mod 97)/8, plus 9 for one token, the favorite. Stage n
// takes n microseconds.
func handmade(t testing.TB, ran infer.Kind) *session.State {
	m := testmodel.Target(t)
	s := &session.State{
		Version: 9, Model: m, Prompt: "Once upon", Settings: infer.DefaultSettings(),
		Speed: session.SpeedNormal, Cursor: session.Cursor{Step: 2, Stage: ran},
	}
	ids := m.Encode(s.Prompt)
	for _, id := range ids {
		s.PromptTokens = append(s.PromptTokens, m.Token(id))
	}
	first := &infer.Step{N: 1, Input: ids, Settings: s.Settings}
	advance(m, first, 300, infer.KindCache)
	second := &infer.Step{N: 2, Input: []int{first.Chosen}, Start: len(ids), Settings: s.Settings}
	advance(m, second, 500, ran)
	s.Steps = []*infer.Step{first, second}
	s.Dist = second.Distribution()
	return s
}

// advance fills in the results of a step up to stage ran.
func advance(m *infer.Model, s *infer.Step, favorite int, ran infer.Kind) {
	pass := m.Shape().Pass(len(s.Input))
	s.Ran, s.Blocks, s.Output = ran, pass, pass
	for k := infer.KindForward; k <= ran; k++ {
		s.Took[k] = time.Duration(k) * time.Microsecond
	}
	if ran >= infer.KindLogits {
		s.Logits = make([]float32, m.Config().Vocab)
		for i := range s.Logits {
			s.Logits[i] = -float32(i%97) / 8
		}
		s.Logits[favorite] += 9
	}
	if ran >= infer.KindSoftmax {
		s.Entropy = sampling.Entropy(s.Distribution().P)
	}
	if ran >= infer.KindSample {
		d := s.Distribution()
		s.U = sampling.U(s.Settings.Seed, s.N)
		rank := d.Draw(s.U)
		s.Chosen, s.Rank = int(d.Order[rank]), rank+1
		s.P, s.Q = d.P[s.Chosen], d.Q(rank)
	}
	if ran >= infer.KindAppend {
		s.Text = m.Token(s.Chosen).Text
		s.Conditions = []infer.Condition{
			{Kind: infer.StopMaxTokens, Have: s.N, Limit: 64},
			{Kind: infer.StopContext, Have: s.Positions(), Limit: m.Config().Context},
		}
	}
	if ran >= infer.KindCache {
		s.TotalCached, s.TotalRecomputed = 1_000_000, 2_000_000
	}
}

// TestGoldenJSON checks the messages of viz.json.v1 for a state and the next one.
func TestGoldenJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	e := &jsonEncoder{}
	for _, ran := range []infer.Kind{infer.KindFilter, infer.KindSample} {
		m := &wire.Message{Seq: 9, Ack: 3}
		st := handmade(t, ran)
		if err := encodeAll(e, m, st); err != nil {
			t.Fatal(err)
		}
		b, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		// Like the hash, the link changes with the model's weights.
		out.WriteString(strings.ReplaceAll(rounded(t, b), session.LinkOf(st), "LINK"))
	}
	golden(t, "loop.json.golden", strings.ReplaceAll(out.String(), testmodel.Target(t).Hash(), "HASH"))
}

// TestGoldenHTML checks the messages of viz.html.v1 for the same two states.
func TestGoldenHTML(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	e := &htmlEncoder{words: lang}
	for _, ran := range []infer.Kind{infer.KindFilter, infer.KindSample} {
		m := &wire.Message{Seq: 9, Ack: 3}
		if err := encodeAll(e, m, handmade(t, ran)); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			fmt.Fprintf(&out, "== %s %s\n%s\n", p.Op, p.ID, strings.ReplaceAll(p.HTML, "><", ">\n<"))
		}
		data, _ := json.Marshal(m.Data)
		fmt.Fprintf(&out, "== data\n%s\n", data)
	}
	golden(t, "loop.html.golden", out.String())
}

// rounded indents JSON and rounds its numbers to nine digits, since machines differ in the
// last bits of an exponential.
func rounded(t *testing.T, b []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case json.Number:
			if x, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".e") {
				return json.Number(strconv.FormatFloat(x, 'g', 9, 64))
			}
		}
		return v
	}
	out, err := json.MarshalIndent(walk(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(b), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf(
				"%s:%d: got\n\t%s\nand more; if that is right, run go test ./web/loop -update and read the difference",
				path, i+1, line,
			)
		}
	}
	if len(got) != len(b) {
		t.Errorf("the golden file %s has more lines than were sent", path)
	}
}

// TestUnchangedPanelsAreNotResent: panels that have not changed are not resent.
func TestUnchangedPanelsAreNotResent(t *testing.T) {
	t.Parallel()
	s := handmade(t, infer.KindFilter)
	for protocol, make := range encoders {
		e := make(lang, numbersView)
		first, again := &wire.Message{}, &wire.Message{}
		if err := encodeAll(e, first, s); err != nil {
			t.Fatal(err)
		}
		if err := encodeAll(e, again, s); err != nil {
			t.Fatal(err)
		}
		if len(again.Panels) != 0 || again.Fields != nil && len(again.Fields.(*runData).Stages) != 0 {
			t.Errorf("%s: sending the same state again sends %d panels", protocol, len(again.Panels))
		}
	}
	m := &wire.Message{}
	if err := encodeAll((&htmlEncoder{words: lang}), m, s); err != nil {
		t.Fatal(err)
	}
	if want := len(Panels) + 1; len(m.Panels) != want {
		t.Errorf("the first message has %d panels, want all %d and the tokens", len(m.Panels), want-1)
	}
}

// TestStripOperations compares lists of tokens written by hand: "abc" becomes "aXc" by one morph,
// "ab" by one removal, and "abcd" by one append.
func TestStripOperations(t *testing.T) {
	t.Parallel()
	s := handmade(t, infer.KindFilter)
	steps := func(chosen ...int) *session.State {
		next := *s
		next.Steps = nil
		for i, id := range chosen {
			step := *s.Steps[0]
			step.N, step.Chosen = i+1, id
			next.Steps = append(next.Steps, &step)
		}
		next.Cursor = session.Cursor{Step: 1, Stage: infer.KindCache}
		next.Dist = next.Steps[0].Distribution()
		return &next
	}
	e := &htmlEncoder{words: lang}
	for _, tc := range []struct {
		chosen []int
		want   []string
	}{
		{[]int{300, 301, 302}, []string{"morph strip-gen"}},
		{[]int{300, 305, 302}, []string{"morph t-2"}},
		{[]int{300, 305}, []string{"remove t-3"}},
		{[]int{300, 305, 306, 307}, []string{"append strip-gen", "append strip-gen"}},
		{[]int{301}, []string{"morph t-1", "remove t-4", "remove t-3", "remove t-2"}},
	} {
		m := &wire.Message{}
		if err := encodeAll(e, m, steps(tc.chosen...)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range m.Panels {
			if p.ID == genID || strings.HasPrefix(p.ID, "t-") {
				got = append(got, p.Op+" "+p.ID)
			}
		}
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("to %v: %q, want %q", tc.chosen, got, tc.want)
		}
	}
}

// BenchmarkEncode measures the server's work for one state, with all panels rendered.
func BenchmarkEncode(b *testing.B) {
	states := []*session.State{handmade(b, infer.KindFilter), handmade(b, infer.KindSample)}
	for protocol, make := range encoders {
		b.Run(protocol, func(b *testing.B) {
			e := make(lang, numbersView)
			var n int
			for i := 0; b.Loop(); i++ {
				m := &wire.Message{}
				if err := encodeAll(e, m, states[i%2]); err != nil {
					b.Fatal(err)
				}
				out, err := m.Bytes()
				if err != nil {
					b.Fatal(err)
				}
				n += len(out)
			}
			b.ReportMetric(float64(n)/float64(b.N), "B/message")
		})
	}
}

// TestPenaltyChangeResendsLogits: if the repetition penalty is changed before the draw, the scores
// of stage 2 also change and are sent to clients again.
func TestPenaltyChangeResendsLogits(t *testing.T) {
	t.Parallel()
	run := session.New(testmodel.Target(t), session.DefaultLimits())
	e := &jsonEncoder{}
	send := func(c session.Command) *runData {
		t.Helper()
		st, err := run.Apply(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		m := &wire.Message{}
		if err := encodeAll(e, m, st); err != nil {
			t.Fatal(err)
		}
		return m.Fields.(*runData)
	}
	send(session.Start{Prompt: "Once upon a time"})
	send(session.StepStage{})
	d := send(session.SetKnob("repetition_penalty", 1.5))
	if d.Cut == nil || d.Cut.Step != 1 || len(d.Stages) != int(infer.KindLogits) ||
		!strings.Contains(string(d.Stages[1]), `"z_raw"`) {
		t.Errorf(
			"cut %+v, %d stages: %.200s; want d.Cut not nil, Step = 1, %d elements, string(d.Stages[1]) with %q", d.Cut,
			len(d.Stages), d.Stages, int(infer.KindLogits), `"z_raw"`,
		)
	}
	if d := send(session.SetKnob("temperature", 1.5)); d.Cut != nil || len(d.Stages) != 0 {
		t.Errorf("a change of the temperature, which does not affect stage 2, sends %d stages", len(d.Stages))
	}
}
