package loop

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// Console holds all the controls of the page.
type Console struct {
	Next      string // "Next: Sample"; "" when the run has ended or has not begun
	NextCmd   string // the command for it
	Empty     bool   // no prompt yet
	Ended     bool   // a stop has fired: the main button is "Go on anyway" if that is possible, else "New prompt"
	CanGoOn   bool
	Turn      string // if a chat has stopped, its messages with an empty next one, as JSON; else ""
	TurnFirst bool   // the model has ended its turn, so the main action is to write the person's next turn
	CanFinish bool
	Finishing bool
	CanReset  bool
	CanBack   bool
	CanGo     bool // the token and play buttons are enabled
	Playing   bool
	Speeds    []SpeedButton
	SpeedSay  string
	Presets   []PresetButton
	Out       map[string]Output // by field
	Inputs    Inputs
	Order     string // the order in which the settings apply
	Note      string // a sentence about when a change to the settings takes effect
	Scrub     Scrub
	Progress  Progress
	StopsHead string
	Stops     []stage.ConditionRow
	StopsJSON string
	MaxBar    string
	MaxHave   string
	MaxFired  bool
}

// The commands of the main button. The page withholds each draw until the learner makes it.
const (
	nextCmd = `{"cmd":"step","withhold":true}`
	drawCmd = `{"cmd":"draw"}`
)

// SpeedButton sets the speed of play.
type SpeedButton struct {
	Label, Cmd string
	On         bool
	Key        string // "[" for the next slower speed, "]" for the next faster one
}

// PresetButton sets all sampling fields together.
type PresetButton struct {
	Label, Cmd string
	On         bool
}

// Output describes a slider's value. The number itself is shown in the field next to the
// slider, so only Note is visible.
type Output struct {
	Text string // "40, idle"
	Note string // "idle", "off", "greedy" or ""
	Idle bool   // the control currently has no effect
}

// Scrub is the slider for moving to any stage that has run, counted from 1.
type Scrub struct {
	Value, Max string
	Say        string // "token 20, stage 4"
	Off        bool   // nothing to scrub through
}

// Progress is the progress of a run that plays to its end.
type Progress struct {
	On       bool
	Say, Bar string
}

// Inputs holds the initial values of the page's inputs, by knob key.
type Inputs map[string]string

// Keys of [Console.Out], one for each sampling knob.
const (
	FieldTemperature = "temperature"
	FieldTopK        = "top_k"
	FieldTopP        = "top_p"
	FieldMinP        = "min_p"
	FieldTypicalP    = "typical_p"
	FieldRepetition  = "repetition_penalty"
)

func newConsole(w stage.Words, s *session.State) Console {
	set := s.Settings
	var before []string // names of the rules; those that change scores come first
	v := Console{
		Empty:    !s.Started(),
		CanReset: s.Started() && (s.Frontier() != session.Cursor{Step: 1, Stage: infer.KindForward} || !s.AtFrontier()),
		CanBack:  s.Started() && s.Cursor != session.Cursor{Step: 1, Stage: infer.KindForward},
		Playing:  s.Playing,
	}
	ended := s.Started() && s.Stopped != infer.StopNone && s.AtFrontier() && s.Cursor.Stage == infer.KindCache
	v.Ended, v.CanGo = ended, s.Started() && !ended
	v.CanGoOn = ended && s.Stopped != infer.StopContext
	if ended {
		v.Turn, v.TurnFirst = yourTurn(s), endedTurn(s)
	}
	v.Finishing = s.Finishing
	v.CanFinish = s.Started() && s.Stopped == infer.StopNone && !s.Finishing
	v.Scrub, v.Progress = newScrub(w, s), newProgress(w, s)
	if v.CanGo {
		v.Next, v.NextCmd = w.NextText(s), nextCmd
		if s.Undrawn {
			v.NextCmd = drawCmd
		}
	}
	v.Speeds, v.SpeedSay = speeds(w, s.Speed)
	for _, p := range sampling.Presets {
		cmd := fmt.Sprintf(`{"cmd":"preset","preset":%q}`, p.Key)
		v.Presets = append(v.Presets, PresetButton{p.Name().In(w.Language), cmd, p.Settings == set.Settings})
	}
	v.Out = outputs(w, s)
	v.Inputs = Inputs{}
	for key, x := range set.Knobs() {
		v.Inputs[key] = terms.Plain(x)
	}
	v.Note = w.T("loop.note." + noteOf(s))
	for _, rule := range set.Rules() {
		switch {
		case rule == sampling.RuleGrammar:
			before = append(before, w.T("loop.order.grammar"))
		case !rule.Cuts():
			before = append(before, w.Rule(rule))
		}
	}
	for _, rule := range set.Order.Rules() {
		if set.On(rule) || rule == sampling.RuleTemperature || focusKeys[rule.Knob()] != "" {
			before = append(before, w.Rule(rule))
		}
	}
	v.Order = w.T("loop.order", "rules", strings.Join(before, ", "))
	v.stops(w, s)
	return v
}

// stageEvery is the time between two stages at each speed, in seconds.
var stageEvery = map[session.Speed]string{
	session.SpeedHalf: "2.4", session.SpeedNormal: "1.2", session.SpeedDouble: "0.6", session.SpeedFour: "0.3",
}

func speeds(w stage.Words, now session.Speed) ([]SpeedButton, string) {
	if now == "" {
		now = session.SpeedNormal
	}
	var list []SpeedButton
	at := 0
	for i, sp := range session.Speeds {
		label := string(sp) + "×"
		if sp == session.SpeedMax {
			label = w.T("loop.speed.max")
		}
		if sp == now {
			at = i
		}
		list = append(
			list, SpeedButton{Label: label, Cmd: fmt.Sprintf(`{"cmd":"speed","speed":%q}`, sp), On: sp == now},
		)
	}
	if at > 0 {
		list[at-1].Key = "["
	}
	if at < len(list)-1 {
		list[at+1].Key = "]"
	}
	if now == session.SpeedMax {
		return list, w.T("loop.speed.max.say")
	}
	return list, w.T("loop.speed.say", "seconds", stageEvery[now])
}

// outputs describes the sliders' values and marks the ones that have no effect: a filter is idle if
// the others alone would keep the same tokens.
func outputs(w stage.Words, s *session.State) map[string]Output {
	set := s.Settings
	idle := idleFilters(s)
	out := map[string]Output{}
	for _, k := range w.Knobs() {
		x, ok := set.Settings.Value(k.Key)
		if !ok {
			continue
		}
		o := Output{Text: terms.Setting(x), Idle: idle[sampling.RuleOf(k.Key)]}
		if k.Whole() {
			o.Text = terms.Count(int64(x))
		}
		off, isFilter := sampling.OffAt(k.Key)
		of, _, isPart := sampling.Part(k.Key)
		switch {
		case isPart:
			if !set.On(of) {
				o.Text, o.Note, o.Idle = w.T("loop.out.idle.say", "x", o.Text), w.T("loop.out.idle"), true
			}
		case isFilter && x == off:
			o.Text, o.Note = w.T("loop.out.off"), w.T("loop.out.off")
		case o.Idle:
			o.Text, o.Note = w.T("loop.out.idle.say", "x", o.Text), w.T("loop.out.idle")
		case !isFilter && set.Greedy():
			o.Text, o.Note = w.T("loop.out.greedy.say"), w.T("loop.out.greedy")
		}
		out[k.Key] = o
	}
	return out
}

// idleFilters returns the filters that cut no token at the step shown that the other filters would
// keep. A filter does not count as idle if it is off or if its current setting was not yet in
// effect at that step.
func idleFilters(s *session.State) map[sampling.Rule]bool {
	set := s.Settings
	if set.Greedy() { // even if the step shown was drawn with other settings
		idle := map[sampling.Rule]bool{}
		for _, k := range terms.Knobs() {
			rule := sampling.RuleOf(k.Key)
			idle[rule] = rule.Cuts() && set.On(rule)
		}
		return idle
	}
	if s.Dist == nil || s.Dist.Settings != set.Settings {
		return nil
	}
	return s.Dist.Idle()
}

func newScrub(w stage.Words, s *session.State) Scrub {
	if !s.Started() {
		return Scrub{Value: "1", Max: "1", Say: w.T("loop.scrub.none"), Off: true}
	}
	count := func(c session.Cursor) int { return (c.Step-1)*int(infer.KindCache) + int(c.Stage) }
	return Scrub{
		Value: strconv.Itoa(count(s.Cursor)), Max: strconv.Itoa(max(count(s.Frontier()), 1)),
		Say: w.T("loop.scrub.say", "n", stage.Position(s, s.Cursor.Step), "stage", int(s.Shown())),
		Off: count(s.Frontier()) < 2,
	}
}

func newProgress(w stage.Words, s *session.State) Progress {
	if !s.Finishing {
		return Progress{}
	}
	have, limit := made(s), s.Settings.Stop.MaxTokens
	limit = max(min(limit, s.Model.Config().Context-len(s.PromptTokens)+1), 1)
	return Progress{
		On: true, Bar: stage.Share(float64(have) / float64(limit)),
		Say: w.T("loop.progress.say", "n", have, "most", limit),
	}
}

// noteOf returns the end of the key of the text that explains when a change to the sampling
// settings takes effect.
func noteOf(s *session.State) string {
	switch {
	case !s.Started():
		return "first"
	case s.Cursor.Stage < infer.KindSample && s.AtFrontier():
		return "now"
	case s.Cursor.Stage < infer.KindSample:
		return "now.back"
	case s.AtFrontier():
		return "drawn"
	}
	return "drawn.back"
}

// stops lists the stop conditions with their values at the step shown.
func (v *Console) stops(w stage.Words, s *session.State) {
	set := s.Settings.Stop
	conditions := expected(s)
	var reason infer.StopReason
	have := 0
	if s.Started() {
		have = s.Cursor.Step - 1
		if s.Cursor.Stage >= infer.KindAppend {
			have++
		}
		reason = s.Stopped
	}
	v.MaxHave, v.MaxBar = terms.Count(have), stage.Share(float64(have)/float64(set.MaxTokens))
	v.MaxFired = reason == infer.StopMaxTokens
	v.StopsHead = w.T("loop.stop.none")
	if s.Stopped != infer.StopNone {
		v.StopsHead = w.T("loop.stop.fired")
	}
	for _, row := range w.Conditions(s, conditions, reason) {
		if row.Kind != infer.StopContext || row.Fired { // the cost column already shows how full the context is
			if row.Kind == infer.StopEOS && s.Dist == nil {
				row.State = w.T("loop.stop.unknown")
			}
			v.Stops = append(v.Stops, row)
		}
	}
	list := set.Strings
	if list == nil {
		list = []string{}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic("view: encoding the stop strings: " + err.Error())
	}
	v.StopsJSON = string(b)
}

// expected returns the conditions found by the latest step up to the one shown, updated to the
// settings that the next stage will use.
func expected(s *session.State) []infer.Condition {
	found := map[string]infer.Condition{}
	list := []infer.Condition{}
	cfg := s.Model.Config()
	var past []infer.Condition
	positions := len(s.PromptTokens)
	if s.Started() {
		positions = s.Step().Positions()
		for n := s.Cursor.Step; n > 0 && past == nil; n-- {
			if n < s.Cursor.Step || s.Cursor.Stage >= infer.KindAppend {
				past = s.Steps[n-1].Conditions
			}
		}
	}
	for _, c := range past {
		found[string(c.Kind)+c.String] = c
	}
	if len(cfg.EOS) > 0 {
		list = append(list, eosNow(s, found["eos"]))
	}
	for _, str := range s.Settings.Stop.Strings {
		c, ok := found["stop_string"+str]
		if !ok {
			c = infer.Condition{Kind: infer.StopString, String: str}
		}
		list = append(list, c)
	}
	return append(list, infer.Condition{
		Kind: infer.StopContext, Have: positions, Limit: cfg.Context, Fired: s.Stopped == infer.StopContext,
	})
}

// eosNow returns the end-of-text condition with its probability at the step shown.
func eosNow(s *session.State, c infer.Condition) infer.Condition {
	c.Kind = infer.StopEOS
	if s.Dist == nil {
		return c
	}
	c.P, c.Kept = 0, false
	for _, id := range s.Model.Config().EOS {
		c.P += s.Dist.P[id]
		r := s.Dist.RankOf(int32(id))
		c.Kept = c.Kept || r >= 0 && s.Dist.Stays(r)
	}
	c.Fired = s.Stopped == infer.StopEOS && s.Cursor.Step == len(s.Steps)
	return c
}
