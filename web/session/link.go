package session

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// A Link is a run encoded as one line of text: the log that restores the run, and the stage shown.
// The text is part of a page's address, so it can come from anywhere and from any version, and may
// have been edited by hand.
type Link struct {
	Log    infer.Log
	Cursor Cursor
	// Undrawn is set if the draw of the stage shown was withheld: see [State.Undrawn].
	Undrawn bool
	// Chat is the conversation from which the prompt was formatted, or nil: see [State.Chat].
	Chat *Chat
}

// Limits on the links that [ParseLink] accepts. Links made by this program are far smaller: a
// prompt of 4 KiB and a few hundred changes.
const (
	// MaxLink is the maximum length of a link, in bytes. A server must accept request lines
	// of that length.
	MaxLink     = 32 << 10
	maxLinkJSON = 64 << 10 // length limit after decompression
	hashPrefix  = 16       // hex digits of the model's hash in a link
)

// wireLink is the JSON inside a link. Its field names are short to keep addresses short.
type wireLink struct {
	V  int            `json:"v"`           // version of this format
	M  string         `json:"m"`           // beginning of the model's hash
	P  string         `json:"p"`           // prompt
	T  []int          `json:"t,omitempty"` // positions of special tokens in the prompt
	I  []int          `json:"i,omitempty"` // the prompt's tokens, if they differ from the encoded prompt
	S  []wireChange   `json:"s"`           // settings, each with the first step that they apply to
	E  wireSettings   `json:"e"`           // settings for the next stages
	C  [][2]int       `json:"c,omitempty"` // step and token of each token chosen by hand
	G  []int          `json:"g,omitempty"` // steps that stopped and after which the run continued
	N  int            `json:"n"`           // steps
	R  int            `json:"r"`           // the last step's last stage
	At [2]int         `json:"at"`          // step and stage shown
	U  int            `json:"u,omitempty"` // 1 if the draw of the step shown is withheld
	K  int            `json:"k,omitempty"` // columns of the prompt that were kept from the previous text
	H  []chat.Message `json:"h,omitempty"` // the chat from which the prompt was formatted
	D  int64          `json:"d,omitempty"` // when the chat was formatted
}

type wireChange struct {
	From     int `json:"f"`
	Settings wireSettings
}

// packers is a pool of idle compressors. Every state that is sent has a link, and a compressor is
// far larger than the link that it compresses.
var packers = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestCompression) // the level is valid
	return z
}}

// LinkOf returns the link to the stage that a state shows. It returns "" before the first Start, or
// if very many changes were made by hand and the link would therefore be longer than [MaxLink].
func LinkOf(st *State) string {
	if st.Step() == nil {
		return ""
	}
	return Link{infer.LogOf(st.Model, st.Whole(), st.Steps, st.Settings), st.Cursor, st.Undrawn, st.Chat}.text()
}

// LinkTo returns a link to another stage of the run that the given link restores.
func LinkTo(m *infer.Model, link string, at Cursor) (string, error) {
	l, err := ParseLink(m, link)
	if err != nil {
		return "", err
	}
	l.Cursor, l.Undrawn = at, false
	if err := l.check(m); err != nil {
		return "", terms.Refuse(CodeLink, "run.link.stage", "why", err.Error())
	}
	return l.text(), nil
}

// text encodes a link. It returns "" if the result would be longer than [MaxLink].
func (l Link) text() string {
	log := l.Log
	w := wireLink{
		V: 1, M: log.Model[:hashPrefix], P: log.Prompt, T: log.Marks, I: log.IDs, E: wireSettings(log.Settings),
		G: log.WentOn, N: log.Steps, R: int(log.Ran), At: [2]int{l.Cursor.Step, int(l.Cursor.Stage)},
	}
	for _, c := range log.Changes {
		w.S = append(w.S, wireChange{c.From, wireSettings(c.Settings)})
	}
	for _, c := range log.Choices {
		w.C = append(w.C, [2]int{c.Step, c.Token})
	}
	if l.Undrawn {
		w.U = 1
	}
	if w.K = log.Kept; l.Chat != nil {
		w.H, w.D = l.Chat.Messages, l.Chat.At
	}
	text, err := json.Marshal(w)
	if err != nil {
		panic(fmt.Sprintf("session: encoding a link: %v", err)) // cannot happen: a link has only numbers and strings
	}
	if len(text) > maxLinkJSON { // a long grammar and many changes
		return ""
	}
	var b bytes.Buffer
	z := packers.Get().(*flate.Writer)
	z.Reset(&b)
	_, _ = z.Write(text) // a buffer's Write never fails
	_ = z.Close()
	packers.Put(z)
	link := base64.RawURLEncoding.EncodeToString(b.Bytes())
	if len(link) > MaxLink {
		return ""
	}
	return link
}

// ParseLink parses a link for a model. If the link is damaged or was made with another model, the
// error is a [*terms.Refusal].
func ParseLink(m *infer.Model, text string) (Link, error) {
	damaged := terms.Refuse(CodeLink, "run.link.damaged")
	if len(text) > MaxLink {
		return Link{}, terms.Refuse(CodeLink, "run.link.long", "n", len(text), "most", MaxLink)
	}
	packed, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return Link{}, damaged
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxLinkJSON+1))
	if err != nil || len(plain) > maxLinkJSON {
		return Link{}, damaged
	}
	var w wireLink
	if err := json.Unmarshal(plain, &w); err != nil {
		return Link{}, damaged
	}
	if !utf8.Valid(plain) || terms.HalfCharacter(plain) { // decoding would alter the shared text
		return Link{}, damaged
	}
	if w.V != 1 {
		return Link{}, terms.Refuse(CodeLink, "run.link.version")
	}
	if len(w.M) != hashPrefix || !strings.HasPrefix(m.Hash(), w.M) {
		return Link{}, terms.Refuse(
			CodeOther, "run.link.model", "model", m.Name(), "prompt", strconv.Quote(terms.Shortened(w.P, 80)),
		)
	}
	link := Link{
		Log: infer.Log{
			Model: m.Hash(), Prompt: w.P, Marks: w.T, IDs: w.I, Settings: infer.Settings(w.E), WentOn: w.G,
			Steps: w.N, Ran: infer.Kind(w.R), Kept: w.K,
		},
		Cursor:  Cursor{w.At[0], infer.Kind(w.At[1])},
		Undrawn: w.U != 0,
	}
	if len(w.H) > 0 {
		link.Chat = &Chat{w.H, w.D}
	}
	for _, c := range w.S {
		link.Log.Changes = append(link.Log.Changes, infer.Change{From: c.From, Settings: infer.Settings(c.Settings)})
	}
	for _, c := range w.C {
		link.Log.Choices = append(link.Log.Choices, infer.Choice{Step: c[0], Token: c[1]})
	}
	if err := link.check(m); err != nil {
		return Link{}, terms.Refuse(CodeLink, "run.link.contradiction", "why", err.Error())
	}
	return link, nil
}

// check rejects values that this program's own links never contain, so that no absurd input is
// replayed.
func (l Link) check(m *infer.Model) error {
	log := l.Log
	switch {
	case log.Steps < 1 || log.Steps > m.Config().Context:
		return fmt.Errorf("invalid number of steps: %d", log.Steps)
	case log.Ran < infer.KindForward || log.Ran > infer.KindCache:
		return fmt.Errorf("invalid stage %d", log.Ran)
	case len(log.Changes) == 0 || log.Changes[0].From != 1:
		return errors.New("no settings for the first step")
	case l.Cursor.Step < 1 || l.Cursor.Step > log.Steps || l.Cursor.Stage < infer.KindForward ||
		l.Cursor.Stage > infer.KindCache,
		l.Cursor.Step == log.Steps && l.Cursor.Stage > log.Ran:
		return errors.New("the current stage has not run yet")
	case l.Undrawn && l.Cursor != (Cursor{log.Steps, infer.KindFilter}),
		l.Undrawn && log.Ran != infer.KindFilter:
		return errors.New("the hidden draw must be at the end of the run")
	}
	last := 0
	for _, c := range log.Changes {
		if c.From <= last || c.From > log.Steps {
			return errors.New("settings out of order")
		}
		if err := c.Settings.Check(); err != nil {
			return err
		}
		last = c.From
	}
	last = 0
	for _, c := range log.Choices {
		if c.Step <= last || c.Step > log.Steps || c.Token < 0 || c.Token >= m.Config().Vocab {
			return errors.New("choices out of order")
		}
		last = c.Step
	}
	last = 0
	for _, n := range log.WentOn {
		if n <= last || n > log.Steps {
			return errors.New("stops out of order")
		}
		last = n
	}
	return log.Settings.Check()
}

// open restores the run that a link describes.
func (s *Session) open(ctx context.Context, next *State, link Link) error {
	if err := s.model.CheckPrompt(link.Log.Prompt, s.limits.PromptBytes); err != nil {
		return err
	}
	loop, err := infer.Replay(ctx, s.model, link.Log)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return terms.Refuse(CodeLink, "run.link.replay", "why", err.Error())
	}
	s.loop = loop
	s.begin(next, link.Log.Text())
	next.Undrawn, next.Chat = link.Undrawn, s.chatOf(ctx, link.Chat, next.Whole())
	next.Cursor = link.Cursor
	return nil
}
