package stage

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Rail is the list of stages, which is also the loop.
type Rail struct {
	Head   string // "Token 20"
	Pass   string // "pass 13 of at most 64"
	Stages []RailStage
	Again  string
}

// RailStage is one stage on the rail.
type RailStage struct {
	N           int
	Name, Short string
	Say         string
	State       string // "is-done", "is-now" or ""
	Ran         bool
	Seek        string // the command that looks at it; "" while it has not run
	Link        string // where it leads on a page that has links; set by that page
	Key         string // the key that does the same
}

// railSay is each stage's sentence on the rail.
func railSay(s *session.State, k infer.Kind) string {
	c := s.Model.Config()
	switch k {
	case infer.KindForward:
		if s.Started() && s.Cursor.Step == 1 {
			return fmt.Sprintf("%s read the whole prompt at once.", blocks(c.Layers))
		}
		return fmt.Sprintf("%s read the newest token in its context.", blocks(c.Layers))
	case infer.KindLogits:
		return fmt.Sprintf("All %s tokens get a raw score.", terms.Count(c.Vocab))
	case infer.KindSoftmax:
		return "Scores become probabilities that sum to 1."
	case infer.KindFilter:
		switch knobs := shownSettings(s); {
		case knobs.Greedy(), s.Dist != nil && s.Dist.Fallback:
			return "All but the most probable token are cut."
		case knobs.Uncut():
			return "No filter is on: every token stays."
		case knobs.TypicalP > 0:
			return "Atypical tokens are cut; the rest share their probability."
		}
		return "Unlikely tokens are cut; the rest share their probability."
	case infer.KindSample:
		if shownSettings(s).Greedy() {
			return "The most probable token is taken."
		}
		return "One seeded random number picks a token."
	case infer.KindAppend:
		return "The pick joins the text, or a stop condition fires."
	}
	return "This pass’s keys and values are kept for reuse."
}

// shownSettings are those of the step shown, which may be older than the ones
// set now, or the ones set where nothing is shown yet.
func shownSettings(s *session.State) infer.Settings {
	if step := s.Step(); step != nil {
		return step.Settings
	}
	return s.Settings
}

// blocks is "Six blocks", in words up to twelve.
func blocks(n int) string {
	words := [...]string{
		"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
	}
	switch {
	case n == 1:
		return "One block"
	case n < len(words):
		return words[n] + " blocks"
	}
	return terms.Count(n) + " blocks"
}

func NewRail(s *session.State) Rail {
	r := Rail{Head: "Token 1", Pass: "no prompt yet", Again: "then again, for the next token"}
	if s.Started() {
		n := Position(s, s.Cursor.Step)
		r.Head = "Token " + terms.Count(n)
		r.Pass = fmt.Sprintf(
			"pass %s of at most %s", terms.Count(s.Cursor.Step), terms.Count(s.Settings.Stop.MaxTokens),
		)
		r.Again = "then again, for token " + terms.Count(n+1)
		if s.Stopped != infer.StopNone && s.Cursor.Step == len(s.Steps) {
			r.Again = "no more: " + StopReason(s)
		}
	}
	for _, k := range infer.Kinds {
		names := terms.StageAt(int(k))
		st := RailStage{N: int(k), Name: names.Name, Short: names.Short, Say: railSay(s, k), Key: terms.Count(int(k))}
		if s.Started() && k <= s.Step().Ran {
			st.State, st.Ran = "is-done", true
			st.Seek = fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"%s"}`, s.Cursor.Step, k)
		}
		if s.Started() && k == s.Cursor.Stage {
			st.State = "is-now"
		}
		r.Stages = append(r.Stages, st)
	}
	return r
}

// NextSay names the stage that comes after the one shown: "Next: Sample".
func NextSay(s *session.State) string {
	return "Next: " + terms.StageAt(int(s.Cursor.Stage%infer.KindCache+1)).Short
}

// NewSteps are the stages as they stand when one of them has just run: those
// before it are done, whatever the run has come to since. 0 is before the first.
func NewSteps(now infer.Kind) []RailStage {
	var list []RailStage
	for _, k := range infer.Kinds {
		names := terms.StageAt(int(k))
		st := RailStage{N: int(k), Name: names.Name, Short: names.Short}
		switch {
		case k == now:
			st.State = "is-now"
		case k < now:
			st.State = "is-done"
		}
		list = append(list, st)
	}
	return list
}
