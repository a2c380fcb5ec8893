package stage

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Rail is the list of stages, drawn as the loop.
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
	Verb        string // its name in the Story
	Say         string
	State       string // "is-done", "is-now" or ""
	Ran         bool
	Seek        string // the command that shows it; "" before it has run
	Link        string // its address on a page that has links; set by that page
	Key         string // its shortcut key
}

// railText returns a stage's sentence on the rail.
func (w Words) railText(s *session.State, k infer.Kind) string {
	c, key := s.Model.Config(), "rail."+k.String()
	switch set := shownSettings(s); {
	case k == infer.KindForward && s.Step() != nil && s.Cursor.Step == 1 && s.Step().Start > 0:
		key = "rail.forward.grown"
	case k == infer.KindForward && s.Started() && s.Cursor.Step == 1:
		key = "rail.forward.prompt"
	case k == infer.KindFilter && (set.Greedy() || s.Dist != nil && s.Dist.Fallback):
		key = "rail.filter.greedy"
	case k == infer.KindFilter && set.Uncut():
		key = "rail.filter.off"
	case k == infer.KindFilter:
		for _, rule := range set.Rules() { // look for a rule that could cut the most probable token
			if own := key + "." + string(rule); w.Has(own) {
				key = own
				break
			}
		}
	case k == infer.KindSample && set.Greedy():
		key = "rail.sample.greedy"
	}
	return w.T(key, "blocks", w.blocks(c.Layers), "vocab", terms.Count(c.Vocab))
}

// shownSettings returns the settings of the step shown, which may be older than the current ones.
// If no step is shown yet, it returns the current settings.
func shownSettings(s *session.State) infer.Settings {
	if step := s.Step(); step != nil {
		return step.Settings
	}
	return s.Settings
}

// blocks returns "Six blocks", spelling numbers through twelve.
func (w Words) blocks(n int) string {
	if key := "blocks." + strconv.Itoa(n); w.Has(key) {
		return w.T(key)
	}
	return w.T("blocks", "n", terms.Count(n))
}

// NewRail lists the stages of the step shown.
func (w Words) NewRail(s *session.State) Rail {
	r := Rail{Head: w.T("rail.head", "n", "1"), Pass: w.T("rail.pass.none"), Again: w.T("rail.again.next")}
	if s.Started() {
		n := Position(s, s.Cursor.Step)
		r.Head = w.T("rail.head", "n", terms.Count(n))
		r.Pass = w.T("rail.pass", "n", terms.Count(s.Cursor.Step), "most", terms.Count(s.Settings.Stop.MaxTokens))
		r.Again = w.T("rail.again", "n", terms.Count(n+1))
		if s.Stopped != infer.StopNone && s.Cursor.Step == len(s.Steps) {
			r.Again = w.T("rail.again.stopped", "why", w.StopReason(s))
		}
	}
	for _, k := range infer.Kinds {
		names := w.Stage(int(k))
		st := RailStage{
			N: int(k), Name: names.Name, Short: names.Short, Verb: w.T("verb." + k.String()),
			Say: w.railText(s, k), Key: terms.Count(int(k)),
		}
		if s.Started() && k <= s.Step().Ran {
			st.State, st.Ran = "is-done", true
			st.Seek = fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"%s"}`, s.Cursor.Step, k)
		}
		if s.Started() && k == s.Shown() {
			st.State = "is-now"
		}
		r.Stages = append(r.Stages, st)
	}
	return r
}

// NextText names the stage after the one shown ("Next: Sample"), or the draw if it is withheld.
func (w Words) NextText(s *session.State) string {
	if s.Undrawn {
		return w.T("next.draw")
	}
	return w.T("next.stage", "stage", w.Stage(int(s.Cursor.Stage%infer.KindCache+1)).Short)
}

// NewSteps returns the list of stages as it is just after the given stage has run. The earlier
// stages are done, no matter how far the run has progressed since then. Stage 0 means before the
// first stage.
func (w Words) NewSteps(now infer.Kind) []RailStage {
	var list []RailStage
	for _, k := range infer.Kinds {
		names := w.Stage(int(k))
		st := RailStage{N: int(k), Name: names.Name, Short: names.Short, Verb: w.T("verb." + k.String())}
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

// Verbs replaces the stages' names with the names that they have in the Story.
func Verbs(rail []RailStage) []RailStage {
	for i := range rail {
		rail[i].Name, rail[i].Short = rail[i].Verb, rail[i].Verb
	}
	return rail
}
