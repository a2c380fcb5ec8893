package view

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// Loop is all that the Loop page shows of one state.
type Loop struct {
	Run     string // the run's id in links and sockets, set by whoever serves the page; "" for none
	Title   string
	Model   string // "tiny-3M: 6 blocks, 4,096 tokens, on this computer"
	Started bool
	Prompt  string
	Strip   Strip
	Rail    Rail
	Panel   Panel
	Cost    Cost
	Console Console
	Notice  Notice
	Pieces  Pieces
	Spoken  string
}

// Notice is a message of the run that stays until things change.
type Notice struct {
	Head, Say string
}

// NewLoop makes the page's model of a state. It is a pure function.
func NewLoop(s *session.State) Loop {
	v := Loop{
		Title: "Loop · Token by Token", Model: modelLine(s.Model), Started: s.Started(), Prompt: s.Prompt,
		Strip: newStrip(s), Rail: newRail(s), Panel: newPanel(s), Cost: newCost(s), Console: newConsole(s),
		Notice: newNotice(s), Pieces: promptPieces(s),
	}
	v.Spoken = spoken(s, v)
	return v
}

func modelLine(m *infer.Model) string {
	c := m.Config()
	return fmt.Sprintf("%s: %s, %s, on this computer", m.Name(), plural(c.Layers, "block"), plural(c.Vocab, "token"))
}

func newNotice(s *session.State) Notice {
	if s.Stopped == infer.StopNone {
		return Notice{}
	}
	return Notice{
		Head: "Stopped: " + StopReason(s) + ".",
		Say:  fmt.Sprintf("%s made. Back looks at any stage again; New prompt begins another text.", plural(made(s), "token")),
	}
}

// made is how many tokens have been appended.
func made(s *session.State) int {
	n := len(s.Steps)
	if n > 0 && s.Steps[n-1].Ran < infer.KindAppend {
		n--
	}
	return n
}

// spoken sums a stage up for a screen reader, in one sentence.
func spoken(s *session.State, v Loop) string {
	if !s.Started() {
		return ""
	}
	n := Count(position(s, s.Cursor.Step))
	head := fmt.Sprintf("Token %s, stage %d, %s. ", n, s.Cursor.Stage, stageNames[s.Cursor.Stage][0])
	if s.Stopped != infer.StopNone && s.AtFrontier() {
		return head + v.Notice.Head
	}
	if s.Cursor.Stage == infer.KindSample {
		return head + v.Panel.Verdict.String()
	}
	return head + v.Panel.Lead.String()
}

// Pieces are the tokens of a prompt as it is typed.
type Pieces struct {
	Tokens []Text
	Say    string
	Over   bool // more than the model can read
}

// NewPieces cuts a prompt into tokens as the model would read it.
func NewPieces(m *infer.Model, prompt string) Pieces {
	if prompt == "" {
		return Pieces{Say: "The model reads pieces of words, not letters. They show here as you type."}
	}
	var tokens []infer.Token
	for _, id := range m.Encode(prompt) {
		tokens = append(tokens, m.Token(id))
	}
	return pieces(m, tokens)
}

// promptPieces are the pieces of the run's own prompt, which need no cutting.
func promptPieces(s *session.State) Pieces {
	if !s.Started() {
		return NewPieces(s.Model, "")
	}
	return pieces(s.Model, s.PromptTokens)
}

func pieces(m *infer.Model, tokens []infer.Token) Pieces {
	v := Pieces{Say: plural(len(tokens), "token")}
	for i, t := range tokens {
		if i == 0 && t.Special {
			v.Tokens = append(v.Tokens, Text{{S: "start", Mark: true}})
			v.Say += ", the start mark included"
			continue
		}
		v.Tokens = append(v.Tokens, TokenText(t))
	}
	limit := m.Config().Context
	if v.Over = len(tokens) > limit; v.Over {
		v.Say += fmt.Sprintf(": more than the %s that the model can read", Count(limit))
	}
	return v
}

// Suggestions are prompts to start from.
var Suggestions = []string{
	"Once upon a time there was a",
	"The capital of France is",
	"User: What do cats eat?\nAssistant:",
}
