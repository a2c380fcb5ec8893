package loop

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// runData holds the fields that viz.json.v1 sends with every state.
type runData struct {
	// Cut invalidates stages that were sent before.
	Cut *cut `json:"cut,omitempty"`
	// Stages are the stages that have run since the last message, in order, in the format of `viz
	// trace -json`. A new text begins with the prompt object.
	Stages   []json.RawMessage `json:"stages,omitempty"`
	Cursor   cursor            `json:"cursor"`
	Undrawn  bool              `json:"undrawn,omitempty"` // the next draw is withheld
	Playing  bool              `json:"playing"`
	Speed    session.Speed     `json:"speed"`
	Stopped  infer.StopReason  `json:"stopped,omitempty"`
	Settings infer.Settings    `json:"settings"`
	// Link is a link to the state shown that works anywhere; it is omitted before the first start.
	Link string `json:"link,omitempty"`
	// Branches are the run's branches so far, if there are several.
	Branches []branch `json:"branches,omitempty"`
	// Messages are the conversation so far, if the prompt was formatted from one.
	Messages []chat.Message `json:"messages,omitempty"`
	// WhatIf is the answer to the what-if question at this draw, if any.
	WhatIf *whatIf `json:"whatif,omitempty"`
}

// branch is one branch of the run, for the branch command.
type branch struct {
	ID      int  `json:"id"`
	Current bool `json:"current,omitempty"`
	Tokens  int  `json:"tokens"` // number of tokens
	// Step is the first step at which this branch differs from the current one, and Token is
	// its token at that step. Both are omitted for the current branch. Token is also omitted if
	// the branch ends before that step.
	Step  int          `json:"step,omitempty"`
	Token *infer.Token `json:"token,omitempty"`
}

// whatIf is the kept token that another u would draw: From ≤ U < To.
type whatIf struct {
	U float64 `json:"u"`
	choice
	Q    float64 `json:"q"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// cut means that everything sent for step Step and later steps is no longer valid. If Step is
// 0, the prompt is not valid either.
type cut struct {
	Step int `json:"step"`
}

// jsonEncoder sends the stages that have run since its last message.
type jsonEncoder struct {
	text      uint64 // State.Text
	sent      []known
	hasPrompt bool
}

func (e *jsonEncoder) encode(m *wire.Message, next *session.State) (func(*wire.Message) error, error) {
	return nil, e.encodeStages(m, next)
}

func (e *jsonEncoder) encodeStages(m *wire.Message, next *session.State) error {
	d := &runData{
		Cursor: cursorJSON(next.Cursor), Undrawn: next.Undrawn, Playing: next.Playing, Speed: next.Speed,
		Stopped: next.Stopped, Settings: next.Settings,
		Link: session.LinkOf(next), Branches: branchesOf(next), WhatIf: whatIfOf(next),
		Messages: next.Messages(),
	}
	m.Fields = d
	if e.hasPrompt && (!next.Started() || next.Text != e.text) {
		d.Cut = &cut{0}
		*e = jsonEncoder{}
	}
	if !next.Started() {
		return nil
	}
	if !e.hasPrompt {
		if err := d.add(
			infer.Prompt{Model: next.Model, Tokens: next.PromptTokens, Settings: next.Steps[0].Settings},
		); err != nil {
			return err
		}
		e.text, e.hasPrompt = next.Text, true
	}
	// If a step equals or extends the one already sent, only its new stages are sent.
	same := 0
	for same < min(len(e.sent), len(next.Steps)) && e.sent[same].begins(next.Steps[same]) {
		same++
	}
	if same < len(e.sent) {
		e.sent = e.sent[:same]
		if d.Cut == nil {
			d.Cut = &cut{same + 1}
		}
	}
	for i, step := range next.Steps {
		var ran infer.Kind
		if i < len(e.sent) {
			ran = e.sent[i].ran
		}
		if ran == step.Ran {
			continue
		}
		e.sent = append(e.sent[:i], knownOf(step, step.Ran))
		dist := next.Dist
		if step != next.Step() {
			dist = step.Distribution()
		}
		for _, k := range infer.Kinds[ran:step.Ran] {
			if err := d.add(next.Model.Stage(step, k, dist, infer.DefaultRows)); err != nil {
				return fmt.Errorf("step %d, %s: %w", step.N, k, err)
			}
		}
	}
	return nil
}

// branchesOf lists the branches if there is more than one.
func branchesOf(st *session.State) []branch {
	if len(st.Branches) < 2 {
		return nil
	}
	now := st.Branches[slices.IndexFunc(st.Branches, func(b session.Branch) bool { return b.Current })].Chosen
	list := make([]branch, 0, len(st.Branches))
	for _, b := range st.Branches {
		one := branch{ID: b.ID, Current: b.Current, Tokens: len(b.Chosen)}
		if !b.Current {
			same := 0
			for same < min(len(now), len(b.Chosen)) && b.Chosen[same] == now[same] {
				same++
			}
			one.Step = same + 1
			if same < len(b.Chosen) {
				t := st.Model.Token(b.Chosen[same])
				one.Token = &t
			}
		}
		list = append(list, one)
	}
	return list
}

func whatIfOf(st *session.State) *whatIf {
	if st.WhatIf == nil || st.Dist == nil {
		return nil
	}
	d := st.Dist
	r := d.Draw(*st.WhatIf)
	id := d.Order[r]
	from, to := d.Segment(r)
	return &whatIf{*st.WhatIf, newChoice(st.Model.Token(int(id)), r+1, d.P[id]), d.Q(r), from, to}
}

func (d *runData) add(v any) error {
	b, err := json.Marshal(v)
	d.Stages = append(d.Stages, b)
	return err
}

func (e *jsonEncoder) pieces(m *wire.Message, model *infer.Model, text chat.Text) error {
	a := &piecesAnswer{[]infer.Token{}}
	ids, _ := model.EncodeChat(text) // if the text cannot be tokenized, the tokens up to the error
	for _, id := range ids {
		a.Pieces = append(a.Pieces, model.Token(id))
	}
	m.Fields = a
	return nil
}

// known identifies the content of a step's stages that have been sent, up to stage ran. It does not
// include the logits, because the model, the prompt and the earlier steps determine them.
type known struct {
	ran      infer.Kind
	took     []time.Duration
	scoring  sampling.Settings // from the logits on, because it changes the scores
	sampling sampling.Settings // from the softmax on
	seed     uint64            // from the draw on
	chosen   int
	u        float64
	stop     infer.Stop // from the append on
	text     string
	held     []byte
	reason   infer.StopReason
}

func knownOf(s *infer.Step, ran infer.Kind) known {
	k := known{ran: ran, took: slices.Clone(s.Took[:ran+1])}
	if ran >= infer.KindLogits {
		k.scoring = s.Settings.Scoring()
	}
	if ran >= infer.KindSoftmax {
		k.sampling = s.Settings.Settings
	}
	if ran >= infer.KindSample {
		k.seed, k.chosen, k.u = s.Settings.Seed, s.Chosen, s.U
	}
	if ran >= infer.KindAppend {
		k.stop, k.text, k.held, k.reason = s.Settings.Stop, s.Text, s.Held, s.Stop
	}
	return k
}

// begins reports whether the stages already sent are the same as the first stages of s.
func (k known) begins(s *infer.Step) bool {
	return s.Ran >= k.ran && reflect.DeepEqual(k, knownOf(s, k.ran))
}
