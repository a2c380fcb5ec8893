package loop

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
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
	Cost     Cost
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

// The kinds of notices. An error has a red cross, and information is amber.
const (
	NoticeBad  NoticeKind = ""
	NoticeWarn NoticeKind = "warn"
	// NoticeEnd is the end of a text, which is not an error.
	NoticeEnd NoticeKind = "end"
)

// NewPage returns the page for a state. It is a pure function.
func NewPage(s *session.State) Page {
	v := Page{
		View: numbersView, Story: lang.NewStory(s), Branched: newBranched(s),
		Title: "Loop · Token by Token", Model: modelLine(s.Model), Started: s.Started(), Prompt: s.Prompt,
		Given: stage.GivenText(s), Chat: newChatForm(s),
		Strip: lang.NewStrip(s), Rail: lang.NewRail(s), Panel: lang.New(s), Peek: lang.CurrentPeek(s),
		WhatIf: lang.NewWhatIf(s), Cost: newCost(s), Console: newConsole(s), Chart: newCostChart(s),
		Grammar: s.Settings.Grammar, Notice: newNotice(s), Pieces: promptPieces(s), Branches: newBranches(s),
	}
	if v.Chat.On {
		v.Prompt = ""
	}
	v.Story.Zoom = true
	v.Panel.Chain = lang.NewChain(s)
	v.Spoken = spoken(s, v)
	return v
}

func modelLine(m *infer.Model) string {
	c := m.Config()
	rounded := ""
	if m.Quant() == infer.QuantInt8 {
		rounded = "weights rounded to int8, "
	}
	return fmt.Sprintf(
		"%s: %s, %s, %son this computer", m.Name(), terms.Counted(c.Layers, "block"), terms.Counted(c.Vocab, "token"),
		rounded,
	)
}

func newNotice(s *session.State) Notice {
	if s.Notice != "" {
		head, say, _ := strings.Cut(s.Notice, ". ") // the first sentence is the head
		return Notice{Kind: NoticeWarn, Head: strings.TrimSuffix(head, ".") + ".", Say: say}
	}
	if s.Stopped == infer.StopNone {
		return spaceNotice(s)
	}
	return Notice{
		Kind: NoticeEnd, Head: "Stopped: " + lang.StopReason(s) + ".",
		Say: fmt.Sprintf("%s made. %s", terms.Counted(made(s), "token"), stopText(s)),
	}
}

// spaceNotice warns that a prompt ends with a space, which makes the model continue badly. It
// ignores spaces that a chat template adds after a message.
func spaceNotice(s *session.State) Notice {
	if s.Chat != nil {
		return Notice{}
	}
	space, ok := session.NewSpaceAtEnd(s.Model, s.Prompt)
	if !ok {
		return Notice{}
	}
	return Notice{Kind: NoticeWarn, Head: space.Head, Say: space.Say, Act: space.Act, Prompt: space.Prompt}
}

// stopText explains what can be done after a stop.
func stopText(s *session.State) string {
	switch s.Stopped {
	case infer.StopContext:
		return "The model cannot read further than its window. Back looks at any stage again; New prompt begins " +
			"another text."
	case infer.StopMaxTokens:
		return fmt.Sprintf("Go on anyway raises the limit by %d; Back looks at any stage again.", infer.GoOnTokens)
	}
	if endedTurn(s) {
		return "The model has ended its turn: now it’s yours. Go on anyway lets it write your turn too."
	}
	return "Go on anyway carries on past it; Back looks at any stage again."
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
func spoken(s *session.State, v Page) string {
	if !s.Started() {
		return ""
	}
	n := terms.Count(stage.Position(s, s.Cursor.Step))
	head := fmt.Sprintf("Token %s, stage %d, %s. ", n, s.Shown(), terms.StageAt(int(s.Shown())).Name)
	if s.Stopped != infer.StopNone && s.AtFrontier() {
		return head + v.Notice.Head
	}
	if s.Cursor.Stage == infer.KindSample {
		return head + v.Panel.Verdict.String()
	}
	return head + v.Panel.Lead.String()
}

// Pieces are the tokens of a prompt that is still being typed.
type Pieces struct {
	Tokens []stage.Text
	Say    string
	Unread string // from [stage.Words.Unread]
	Over   bool   // the text is too long for the model, or has characters without tokens
}

// NewPieces splits a prompt or a chat into tokens as the model would.
func NewPieces(m *infer.Model, text chat.Text) Pieces {
	if text.Text == "" {
		return Pieces{Say: "The model reads pieces of words, not letters. You’ll see them here as you type."}
	}
	ids, err := m.EncodeChat(text)
	var tokens []infer.Token
	for _, id := range ids {
		tokens = append(tokens, m.Token(id))
	}
	v := pieces(m, tokens)
	var r *terms.RangeError
	if errors.As(err, &r) {
		v.Say, v.Over = "This text is "+r.Got, true
	}
	return v
}

// promptPieces returns the pieces of the run's own prompt, which is already split.
func promptPieces(s *session.State) Pieces {
	if !s.Started() {
		return NewPieces(s.Model, chat.Text{})
	}
	return pieces(s.Model, s.PromptTokens)
}

func pieces(m *infer.Model, tokens []infer.Token) Pieces {
	v := Pieces{Say: terms.Counted(len(tokens), "token"), Unread: lang.Unread(tokens)}
	special := 0
	for i, t := range tokens {
		switch {
		case stage.IsStart(m, t, i):
			v.Tokens = append(v.Tokens, stage.Text{{S: "start", Mark: true}})
			v.Say += ", the start mark included"
		case t.Special:
			special++
			v.Tokens = append(v.Tokens, stage.Text{{S: t.Text, Mark: true}})
		default:
			v.Tokens = append(v.Tokens, stage.TokenText(t))
		}
	}
	if special > 0 {
		v.Say += fmt.Sprintf(", %s of them from the chat template", terms.Count(special))
	}
	limit := m.Config().Context
	if v.Over = len(tokens) > limit; v.Over {
		v.Say += fmt.Sprintf(": more than the %s that the model can read", terms.Count(limit))
	}
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
