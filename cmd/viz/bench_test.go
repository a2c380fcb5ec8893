package main

import (
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// BenchmarkStage measures each of the seven stages, from the step command to the bytes of the JSON
// object. This is the work that the terminal and the JSON subprotocol share. The ns/op of a stage
// counts only that stage.
func BenchmarkStage(b *testing.B) {
	m, err := openModel(b.Context(), modelPath{}, "", infer.QuantNone, io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range infer.Kinds {
		b.Run(kind.String(), func(b *testing.B) {
			var took time.Duration
			var size int
			s := session.New(m, session.DefaultLimits())
			begin := func() {
				if _, err := s.Apply(b.Context(), session.Start{Prompt: "Once upon a time there was a"}); err != nil {
					b.Fatal(err)
				}
			}
			begin()
			for range b.N {
				for stepped := false; !stepped; {
					if st := s.State(); st.Stopped != infer.StopNone && st.Cursor.Stage == infer.KindCache {
						begin()
					}
					from := time.Now()
					state, err := s.Apply(b.Context(), session.StepStage{})
					if err != nil {
						b.Fatal(err)
					}
					text, err := json.Marshal(state.Stage(infer.DefaultRows))
					if err != nil {
						b.Fatal(err)
					}
					if stepped = state.Cursor.Stage == kind; stepped {
						took, size = took+time.Since(from), size+len(text)
					}
				}
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(size)/float64(b.N), "JSON-B/op")
		})
	}
}

// BenchmarkStart measures the time from the command to the first line printed, at which point the
// server is listening. The server uses the embedded model and a data folder. The measurement
// excludes the time that the system needs to start a process.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s := start(b, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
		b.StopTimer()
		s.end()
		b.StartTimer()
	}
}
