package loop

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/session"
)

// BenchmarkPushDeep runs whole turns of a model with 28 blocks and 151,936 tokens, 60 tokens into a
// text. For each stage, it reports the server's work without the stage itself, which is measured
// separately: carrying out the command, building the page's model and rendering all panels. It
// reports medians, since on a shared machine the means would include the load from other programs.
func BenchmarkPushDeep(b *testing.B) {
	dir := b.TempDir()
	if err := fixture.Write(dir, fixture.Deep); err != nil {
		b.Fatal(err)
	}
	c, err := checkpoint.OpenPath(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		b.Fatal(err)
	}
	s := session.New(m, session.DefaultLimits())
	run := func(c session.Command) *session.State {
		st, err := s.Apply(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	run(session.SetKnob("max_tokens", 1_000_000))
	run(session.Start{Prompt: "the cat"})
	for range 60 {
		run(session.StepToken{})
	}
	var besides [infer.KindCache + 1][]time.Duration
	var buf bytes.Buffer
	for b.Loop() {
		if len(s.State().Steps) > fixture.Deep.Context-10 { // start over before the window is full
			run(session.Reset{})
		}
		for range infer.Kinds {
			start := time.Now()
			st := run(session.StepStage{})
			loop := NewPage(lang, st)
			buf.Reset()
			for _, p := range Panels {
				if err := p.Render(lang, loop).Render(context.Background(), &buf); err != nil {
					b.Fatal(err)
				}
			}
			took := st.Step().Took
			if st.Cursor.Stage == infer.KindSoftmax { // the softmax stage also computed the filter
				took[infer.KindSoftmax] += took[infer.KindFilter]
			}
			if st.Cursor.Stage == infer.KindFilter {
				took[infer.KindFilter] = 0
			}
			k := st.Cursor.Stage
			besides[k] = append(besides[k], time.Since(start)-took[k])
		}
	}
	for _, k := range infer.Kinds {
		slices.Sort(besides[k])
		b.ReportMetric(float64(besides[k][len(besides[k])/2].Microseconds()), k.String()+"-µs")
	}
}
