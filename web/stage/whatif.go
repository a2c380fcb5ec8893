package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// WhatIf is the question of which token another u would have drawn.
type WhatIf struct {
	Shown bool   // the draw is shown, and decoding is not greedy
	U     string // the slider's initial position
	Say   Rich   // a sentence about that u; until a u is tried, it explains the actual draw
	Take  string // the command that chooses that token; "" if the token has already been chosen
	Named string // "Take ·saw"
}

func (w Words) NewWhatIf(s *session.State) WhatIf {
	step := s.Step()
	if step == nil || s.Cursor.Stage != infer.KindSample || step.Settings.Greedy() || s.Dist == nil {
		return WhatIf{U: "0.5"}
	}
	v := WhatIf{Shown: true, U: terms.Plain(min(step.U, 0.9999))}
	if s.WhatIf == nil {
		v.Say = w.Rich("whatif.drag")
		if !step.Forced {
			v.Say = w.whyNot(s)
		}
		return v
	}
	u := *s.WhatIf
	v.U = terms.Plain(u)
	r := s.Dist.Draw(u)
	id := int(s.Dist.Order[r])
	from, to := s.Dist.Segment(r)
	text := TokenText(s.Model.Token(id))
	v.Say = w.Rich(
		"whatif", "u", terms.Is("u", u), "token", text, "from", terms.Prob(from), "to", terms.Prob(to),
		"place", w.Ordinal(place(s, r+1)), "q", terms.Is("p′", s.Dist.Q(r)),
	)
	if id == step.Chosen {
		v.Say = w.Rich("whatif.same", "say", v.Say)
		return v
	}
	v.Take, v.Named = chooseCmd(step.N, id), w.T("take", "token", text)
	return v
}
