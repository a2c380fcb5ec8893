package loop

import (
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// Cost is the right-hand column, which shows the cost of the step shown.
type Cost struct {
	Empty   bool
	Bytes   string
	Map     stage.Map
	Heads   stage.KVGrid // the cache, with a row for each key/value head
	PerHead bool         // a layer has more than one head, so Heads differs from the map
	Say     stage.Rich   // the contents of the cache, and "3,072 B = 2 × 6 layers × …"
	Work    stage.Compare
	Total   stage.Compare
	Tokens  string // "19 of 512"
	InW     string
	OutX    string
	OutW    string
	In, Out string
	Room    string
}

// counts returns a step's work so far, with the cache and without one.
func counts(s *session.State, step *infer.Step) (run, without int64) {
	shape := s.Model.Shape()
	parts := shape.Blocks(0, step.Positions())
	if step.Ran >= infer.KindLogits {
		parts = parts.Plus(shape.Output())
	}
	return step.Blocks.Plus(step.Output).Total(), parts.Total()
}

func newCost(w stage.Words, s *session.State) Cost {
	cfg := s.Model.Config()
	if !s.Started() {
		return Cost{
			Empty: true, Tokens: w.T("loop.tokens.of", "n", 0, "most", cfg.Context), In: "0", Out: "0",
			Room: terms.Count(cfg.Context),
			InW:  "0%", OutX: "0%", OutW: "0%", Map: w.NewMap(s, stage.MapOptions{}),
		}
	}
	step, shape := s.Step(), s.Model.Shape()
	n, grew := step.Positions(), len(step.Input)
	v := Cost{
		Bytes: w.Bytes(shape.KVBytes(n, stage.BytesPerValue)),
		Map:   w.NewMap(s, stage.MapOptions{Zoom: true, Say: true}),
		Heads: w.NewKVHeadsGrid("kv-h", shape, n, grew, n < cfg.Context, 260), PerHead: shape.KVHeads > 1,
		Say: w.CacheText(shape),
	}
	run, without := counts(s, step)
	v.Work = w.NewCompare(run, without, step.Took[infer.KindForward]+step.Took[infer.KindLogits])
	total, totalWithout := run, without
	if step.N > 1 {
		before := s.Steps[step.N-2]
		total, totalWithout = total+before.TotalCached, totalWithout+before.TotalRecomputed
	}
	v.Total = w.NewCompare(total, totalWithout, 0)

	in, out := len(s.PromptTokens), step.N-1
	if step.Ran >= infer.KindAppend && s.Cursor.Stage >= infer.KindAppend {
		out++
	}
	room := float64(cfg.Context)
	v.Tokens = w.T("loop.tokens.of", "n", min(in+out, cfg.Context), "most", cfg.Context)
	v.In, v.Out, v.Room = terms.Count(in), terms.Count(out), terms.Count(max(cfg.Context-in-out, 0))
	v.InW, v.OutX, v.OutW = stage.Share(float64(in)/room), stage.Share(float64(in)/room), stage.Share(float64(out)/room)
	return v
}

// keyOf returns the element for a word that names a line of the chart.
func keyOf(class string) stage.Element {
	return stage.Element{Name: "span", Attrs: templ.Attributes{"class": class}}
}
