package session

import (
	"encoding/json"
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// rest is a run at rest. It contains what [Session.Evict] keeps, except for data that can be
// derived from other fields. It is stored in one block of memory, because small scattered objects
// would keep memory from being returned to the system.
type rest struct {
	Version uint64
	Text    uint64
	Cursor  Cursor
	Undrawn bool  `json:",omitempty"`
	Ghosts  []int `json:",omitempty"` // token ids
	Speed   Speed
	WhatIf  *float64              `json:",omitempty"`
	Looking bool                  `json:",omitempty"`
	Notice  string                `json:",omitempty"`
	Stuck   *terms.EncodedRefusal `json:",omitempty"`
	Chat    *Chat                 `json:",omitempty"`
	Stopped infer.StopReason      `json:",omitempty"`

	Log     infer.Log    // the log, with this prompt, model and settings
	Others  []restBranch `json:",omitempty"`
	Current int
	LastID  int
}

type restBranch struct {
	ID       int
	Chosen   []int
	Settings infer.Settings
	Log      infer.Log
}

// Rest evicts the run and encodes it in a few hundred bytes, from which [Wake] can rebuild the
// session. The session must have a text, and must not be used afterward.
func (s *Session) Rest() ([]byte, error) {
	s.Evict()
	if s.log == nil {
		return nil, fmt.Errorf("cannot encode a run without text")
	}
	st := s.state
	r := rest{
		Version: st.Version, Text: st.Text, Cursor: st.Cursor, Undrawn: st.Undrawn, Speed: st.Speed,
		WhatIf: st.WhatIf, Looking: st.Looking, Notice: st.Notice, Stuck: st.Stuck.Encode(),
		Stopped: st.Stopped, Chat: st.Chat,
		Log: *s.log, Current: s.current, LastID: s.lastID,
	}
	for _, t := range st.Ghosts {
		r.Ghosts = append(r.Ghosts, t.ID)
	}
	for _, b := range s.others {
		r.Others = append(r.Others, restBranch{b.id, b.chosen, b.settings, b.log})
	}
	return json.Marshal(r)
}

// Wake returns the session of a run at rest, which is still evicted. m must be the same model as
// before.
func Wake(m *infer.Model, limits Limits, resting []byte) (*Session, error) {
	var r rest
	if err := json.Unmarshal(resting, &r); err != nil {
		return nil, err
	}
	prompt, err := m.EncodeChat(r.Log.Text())
	if err != nil {
		return nil, err
	}
	s := New(m, limits)
	s.log, s.current, s.lastID = &r.Log, r.Current, r.LastID
	*s.state = State{
		Version: r.Version, Model: m, Text: r.Text, Prompt: r.Log.Prompt, Marks: r.Log.Marks, IDs: r.Log.IDs,
		Cursor: r.Cursor, Undrawn: r.Undrawn, Chat: r.Chat,
		Settings: r.Log.Settings, Speed: r.Speed, WhatIf: r.WhatIf, Looking: r.Looking, Notice: r.Notice,
		Stuck: r.Stuck.Decode(), Stopped: r.Stopped, PromptTokens: tokens(m, prompt), Ghosts: tokens(m, r.Ghosts),
	}
	for _, b := range r.Others {
		s.others = append(s.others, branch{id: b.ID, chosen: b.Chosen, settings: b.Settings, log: b.Log})
	}
	return s, nil
}

// tokens returns the tokens with the given ids, or nil if there are none.
func tokens(m *infer.Model, ids []int) (list []infer.Token) {
	for _, id := range ids {
		list = append(list, m.Token(id))
	}
	return list
}
