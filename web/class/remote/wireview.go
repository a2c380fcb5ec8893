package remote

import (
	"encoding/json"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// wireView is a view as the owner publishes it. It does not include the state of the run: since
// runs are deterministic, each server recreates the state from its link in its own run ([replica]).
type wireView struct {
	Epoch uint64
	View  *class.View
	Walk  string // slug of View.Walk
	Step  int
	Left  bool
	Run   *wireRun // nil if View.State is nil

	Problem *terms.EncodedRefusal // View.Notice
}

// wireRun is a state without its steps, which can be recreated from the link.
type wireRun struct {
	Link     string // "" before the first text
	Started  bool
	Text     uint64
	Settings infer.Settings
	Ghosts   []infer.Token
	Playing  bool
	Speed    session.Speed
	Ends     bool // Finishing
	Branches []session.Branch
	WhatIf   *float64
	Looking  bool
	Notice   string
	Stuck    *terms.EncodedRefusal
}

// encode returns an encoded view. It encodes each view only once.
func encode(v *class.View) (json.RawMessage, error) {
	type encoded struct {
		text []byte
		err  error
	}
	e := v.Shared("class/wire", func() any {
		w := wireView{Epoch: v.Epoch, View: v, Problem: v.Notice.Encode()}
		if v.Walk != nil {
			w.Walk, w.Step, w.Left = v.Walk.Walk.Slug, v.Walk.Step, v.Walk.Left
		}
		if st := v.State; st != nil {
			w.Run = &wireRun{
				Link: v.Link(), Started: st.Started(), Text: st.Text, Settings: st.Settings, Ghosts: st.Ghosts,
				Playing: st.Playing, Speed: st.Speed, Ends: st.Finishing, Branches: st.Branches, WhatIf: st.WhatIf,
				Looking: st.Looking, Notice: st.Notice, Stuck: st.Stuck.Encode(),
			}
		}
		text, err := json.Marshal(w)
		return encoded{text: text, err: err}
	}).(encoded)
	return e.text, e.err
}
