package loop

import (
	"errors"
	"strings"
	"sync"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// Page is everything that the Loop page shows for one state.
type Page struct {
	Run      string // the run's id in links and sockets, set by [Server]; "" for none
	Title    string
	Model    string // "tiny-5M: 6 blocks, 4,096 tokens, on this computer"
	Started  bool
	Prompt   string     // as typed; "" for a chat
	Given    stage.Text // the prompt as the model reads it, with special tokens marked
	Chat     ChatForm
	Strip    stage.Strip
	Rail     stage.Rail
	Panel    stage.Stage
	Cost     func() Cost // computed when it is first used, since the stage is sent before it
	Console  Console
	Chart    CostChart
	WhatIf   stage.WhatIf
	Peek     stage.Peek
	Branches Branches
	Notice   Notice
	Link     string // the link to the run, set by [Server]
	Pieces   Pieces
	Spoken   string
	View     view
	Story    stage.Story
	Branched Branched
	Grammar  string // the grammar that the text follows
	Class    string // code of the class that the learner left to continue alone, set by [Server]; "" for none
}

// Notice is a message about the run. It stays on the page until its cause is gone.
type Notice struct {
	Kind NoticeKind
	Head string // a sentence; "" for no notice
	Say  string

	Act    string // text of a button that starts a run with Prompt; "" for none
	Prompt string
}

// NoticeKind is the severity of a notice.
type NoticeKind string

// The kinds of notices. Errors have a red cross, and information is amber.
const (
	NoticeBad  NoticeKind = ""
	NoticeWarn NoticeKind = "warn"
	// NoticeEnd is the end of a text, which is not an error.
	NoticeEnd NoticeKind = "end"
)

// NewPage returns the page for a state. It is a pure function.
func NewPage(w stage.Words, s *session.State) Page {
	v := Page{
		View: numbersView, Story: w.NewStory(s), Branched: newBranched(s),
		Title: shell.TitleOf(w.T("loop.title")), Model: modelLine(w, s.Model), Started: s.Started(), Prompt: s.Prompt,
		Given: stage.GivenText(s), Chat: newChatForm(s),
		Strip: w.NewStrip(s), Rail: w.NewRail(s), Panel: w.New(s), Peek: w.CurrentPeek(s),
		WhatIf: w.NewWhatIf(s), Console: newConsole(w, s), Chart: newCostChart(w, s),
		Cost:    sync.OnceValue(func() Cost { return newCost(w, s) }),
		Grammar: s.Settings.Grammar, Notice: newNotice(w, s), Pieces: promptPieces(w, s), Branches: newBranches(w, s),
	}
	if v.Chat.On {
		v.Prompt = ""
	}
	v.Story.Zoom = true
	v.Panel.Chain = w.NewChain(s)
	v.Spoken = spoken(w, s, v)
	return v
}

func modelLine(w stage.Words, m *infer.Model) string {
	key, c := "loop.model", m.Config()
	if m.Quant() == infer.QuantInt8 {
		key = "loop.model.int8"
	}
	return w.T(
		key, "name", m.Name(), "blocks", w.Counted(c.Layers, "block"), "tokens", w.Counted(c.Vocab, "token"),
	)
}

func newNotice(w stage.Words, s *session.State) Notice {
	switch {
	case s.Stuck != nil:
		head, say, _ := strings.Cut(s.Stuck.In(w.Language), ". ") // the first sentence becomes the head
		return Notice{Kind: NoticeWarn, Head: strings.TrimSuffix(head, ".") + ".", Say: say}
	case s.Notice != "":
		key := "loop.paused." + s.Notice
		return Notice{Kind: NoticeWarn, Head: w.T(key), Say: w.T(key + ".say")}
	case s.Stopped == infer.StopNone:
		return spaceNotice(w, s)
	}
	return Notice{
		Kind: NoticeEnd, Head: w.T("loop.stopped", "why", w.StopReason(s)),
		Say: w.T("loop.stopped.say", "n", made(s), "next", stopText(w, s)),
	}
}

// spaceNotice warns about a prompt that ends with a space, after which the model continues badly.
// It ignores spaces that a chat template adds after a message.
func spaceNotice(w stage.Words, s *session.State) Notice {
	if s.Chat != nil {
		return Notice{}
	}
	space, ok := session.NewSpaceAtEnd(w.Language, s.Model, s.Prompt)
	if !ok {
		return Notice{}
	}
	return Notice{Kind: NoticeWarn, Head: space.Head, Say: space.Say, Act: space.Act, Prompt: space.Prompt}
}

// stopText explains what the learner can do after a stop.
func stopText(w stage.Words, s *session.State) string {
	switch {
	case s.Stopped == infer.StopContext:
		return w.T("loop.stopped.context")
	case s.Stopped == infer.StopMaxTokens:
		return w.T("loop.stopped.max_tokens", "n", infer.GoOnTokens)
	case endedTurn(s):
		return w.T("loop.stopped.turn")
	}
	return w.T("loop.stopped.goon")
}

// made returns the number of tokens that have been appended.
func made(s *session.State) int {
	n := len(s.Steps)
	if n > 0 && s.Steps[n-1].Ran < infer.KindAppend {
		n--
	}
	return n
}

// spoken summarizes a stage for a screen reader.
func spoken(w stage.Words, s *session.State, v Page) string {
	if !s.Started() {
		return ""
	}
	say := v.Panel.Lead.String()
	switch {
	case s.Stopped != infer.StopNone && s.AtFrontier():
		say = v.Notice.Head
	case s.Cursor.Stage == infer.KindSample:
		say = v.Panel.Verdict.String()
	}
	shown := int(s.Shown())
	return w.T(
		"loop.spoken", "n", stage.Position(s, s.Cursor.Step), "stage", shown, "name", w.Stage(shown).Name, "say", say,
	)
}

// Pieces are the tokens of a prompt that is still being typed.
type Pieces struct {
	Tokens []stage.Text
	Say    string
	Unread string // from [stage.Words.Unread]
	Over   bool   // the text is too long for the model, or has characters without tokens
}

// NewPieces splits a prompt or a chat into tokens as the model would.
func NewPieces(w stage.Words, m *infer.Model, text chat.Text) Pieces {
	if text.Text == "" {
		return Pieces{Say: w.T("loop.pieces.empty")}
	}
	ids, err := m.EncodeChat(text)
	var tokens []infer.Token
	for _, id := range ids {
		tokens = append(tokens, m.Token(id))
	}
	v := pieces(w, m, tokens)
	var r *terms.RangeError
	if errors.As(err, &r) {
		v.Say, v.Over = w.T("loop.pieces.bad", "got", r.Got), true
	}
	return v
}

// promptPieces returns the pieces of the run's own prompt, which is already split.
func promptPieces(w stage.Words, s *session.State) Pieces {
	if !s.Started() {
		return NewPieces(w, s.Model, chat.Text{})
	}
	return pieces(w, s.Model, s.PromptTokens)
}

func pieces(w stage.Words, m *infer.Model, tokens []infer.Token) Pieces {
	v := Pieces{Unread: w.Unread(tokens)}
	kind, special := "text", 0
	for i, t := range tokens {
		switch {
		case stage.IsStart(m, t, i):
			v.Tokens = append(v.Tokens, stage.Text{{S: w.T("start"), Mark: true}})
			kind = "start"
		case t.Special:
			special++
			v.Tokens = append(v.Tokens, stage.Text{{S: t.Text, Mark: true}})
		default:
			v.Tokens = append(v.Tokens, stage.TokenText(t))
		}
	}
	if special > 0 {
		kind += ".special"
	}
	limit := m.Config().Context
	if v.Over = len(tokens) > limit; v.Over {
		kind += ".over"
	}
	v.Say = w.T("loop.pieces."+kind, "n", len(tokens), "special", special, "most", limit)
	return v
}

// Grammars that the grammar field offers.
const (
	yesOrNo    = `{"enum":["yes","no"]}`
	nameAndAge = `{"type":"object","properties":{"name":{"type":"string","pattern":"[A-Z][a-z]{2,8}"},` +
		`"age":{"enum":[5,6,7,8,9]}}}`
	threeNames = `regexp:( [A-Z][a-z]{2,8}){3}\.`
)

// offered returns the openings that the prompt box offers.
func offered() []session.Opening {
	return []session.Opening{
		session.OpeningOf(session.Tale, 0), session.OpeningOf(session.Capital, 0),
		session.OpeningOf(session.Question, 0),
	}
}
