package loop

import (
	"bytes"
	"context"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/web/session"
)

// BenchmarkPush measures the server's work for pushing one stage, without the forward pass:
// building the page's model and rendering all panels, 60 tokens into a text.
func BenchmarkPush(b *testing.B) {
	c, err := bundled.Target()
	if err != nil {
		b.Fatal(err)
	}
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
	run(session.Start{Prompt: "Once upon a time there was a"})
	for range 60 {
		run(session.StepToken{})
	}
	for _, k := range infer.Kinds {
		st := run(session.StepStage{})
		b.Run(k.String(), func(b *testing.B) {
			var buf bytes.Buffer
			for b.Loop() {
				v := NewPage(lang, st)
				buf.Reset()
				for _, p := range Panels {
					if err := p.Render(lang, v).Render(context.Background(), &buf); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(buf.Len()), "bytes-of-all-panels")
		})
	}
}
