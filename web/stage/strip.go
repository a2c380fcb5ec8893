package stage

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Token is one token of the strip.
type Token struct {
	Step     int    // that made it; 0 for one of the prompt
	ID       string // element id: "t-12" for step 12; "" outside of the generated ones
	Text     Text
	Small    string // the figure under it: p with two decimals
	Class    string // p1 to p5
	Bar      string // p as an SVG length
	Aria     string // what it is called aloud; of generated ones the words before its text
	Peek     string // the sentence of the peek line
	Seek     string // the command that looks at it
	Forced   bool   // a person chose it
	Tab      bool   // the one of the strip that the Tab key reaches
	Now      bool   // made by the step shown
	Later    bool   // lies after the step shown
	End      bool   // an end-of-text token
	StartTag bool   // the start mark in front of a prompt
}

// Strip is the text so far, token by token.
type Strip struct {
	Prompt      []Token
	PromptLabel string
	Tokens      []Token // generated
	GenLabel    string
	Next        Next
	Ghosts      []Token
}

// Who chose a token that was not drawn: the one who looks, or somebody else.
const (
	chosenByYou = "yours"
	chosenByOne = "chosen"
)

// Next is the slot for the token to come, or the reason why none does.
type Next struct {
	Label   string
	Text    Text
	Small   string
	Aria    string
	Known   bool // drawn, not appended yet
	Stopped bool
}

func NewStrip(s *session.State) Strip {
	v := Strip{PromptLabel: "nothing yet"}
	for i, t := range s.PromptTokens {
		tok := Token{Text: TokenText(t), StartTag: i == 0 && t.Special}
		tok.Aria = fmt.Sprintf("prompt token %d, %s", i+1, tok.Text)
		if tok.StartTag {
			tok.Small = "start"
		}
		v.Prompt = append(v.Prompt, tok)
	}
	if s.Started() {
		v.PromptLabel = terms.Counted(len(s.PromptTokens), "token") + ", given by you"
	}
	for _, step := range s.Steps {
		if step.Ran >= infer.KindAppend {
			v.Tokens = append(v.Tokens, newToken(s, step))
		}
	}
	v.GenLabel = terms.Counted(len(v.Tokens), "token") + ", drawn by the model"
	if s.Settings.Greedy() && len(v.Tokens) > 0 && allGreedy(s) {
		v.GenLabel = terms.Counted(len(v.Tokens), "token") + ", the likeliest each time"
	}
	v.Next = newNext(s, len(v.Tokens))
	for _, t := range s.Ghosts {
		text := TokenText(t)
		v.Ghosts = append(v.Ghosts, Token{Text: text, Aria: "dropped: " + text.String()})
	}
	v.roving(s)
	return v
}

// roving makes one token the strip's place in the order of the Tab key: that
// of the step shown, or the last before it.
func (v *Strip) roving(s *session.State) {
	if n := min(len(v.Tokens), s.Cursor.Step); n > 0 {
		v.Tokens[n-1].Tab = true
	}
}

func allGreedy(s *session.State) bool {
	for _, step := range s.Steps {
		if !step.Settings.Greedy() {
			return false
		}
	}
	return true
}

// position is where in the whole text the token made by a step stands,
// counting from 1 and the start mark included.
func Position(s *session.State, step int) int { return len(s.PromptTokens) + step }

// newToken looks at nothing but the step itself, so that a token that is
// already on the screen changes only when the learner looks elsewhere.
func newToken(s *session.State, step *infer.Step) Token {
	text := TokenText(s.Model.Token(step.Chosen))
	n := Position(s, step.N)
	aria := "token " + terms.Count(n)
	if step.Forced {
		aria += ", chosen by a person"
	}
	return Token{
		Step:   step.N,
		ID:     "t-" + strconv.Itoa(step.N),
		Text:   text,
		Small:  terms.ProbShort(step.P),
		Class:  Ramp(step.P),
		Bar:    Share(step.P),
		Aria:   aria,
		Peek:   peekSay(n, text, step),
		Seek:   fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"sample"}`, step.N),
		Forced: step.Forced,
		Now:    step.N == s.Cursor.Step,
		Later:  step.N > s.Cursor.Step,
		End:    s.Model.EOS(step.Chosen),
	}
}

// peekSay is the line of a token in a sentence, shown before the server's own
// arrives.
func peekSay(n int, text Text, step *infer.Step) string {
	line := fmt.Sprintf(
		"Token %d, %s: %s, the model’s %s choice; ", n, text, terms.Is("p", step.P), terms.Ordinal(step.Rank),
	)
	if step.Forced {
		return line + "a person chose it."
	}
	return line + terms.Is("p′", step.Q) + " after the filters."
}

func newNext(s *session.State, generated int) Next {
	n := Position(s, generated+1)
	if !s.Started() {
		n = 1
	}
	if s.Stopped != infer.StopNone {
		return Next{
			Label: "Stopped", Text: Text{{S: terms.StopOf(s.Stopped).Short}}, Small: "after " + terms.Count(generated),
			Stopped: true,
			Aria:    fmt.Sprintf("stopped after %s: %s", terms.Counted(generated, "token"), StopReason(s)),
		}
	}
	next := Next{
		Label: "Next", Text: Text{{S: "?"}}, Small: terms.Ordinal(n),
		Aria: fmt.Sprintf("token %d, not chosen yet", n),
	}
	if last := len(s.Steps); last > 0 && s.Steps[last-1].Ran == infer.KindSample {
		step := s.Steps[last-1]
		next.Known, next.Text = true, TokenText(s.Model.Token(step.Chosen))
		next.Aria = fmt.Sprintf("token %d, %s, drawn and about to be appended", n, next.Text)
	}
	return next
}

// NewSlot is the place of the token to come as the step shown left it, which
// may be looked back at: it is known at the draw alone.
func NewSlot(s *session.State) *Next {
	n := Position(s, s.Cursor.Step)
	if s.Cursor.Stage >= infer.KindAppend {
		n++
	}
	slot := Next{Text: Text{{S: "next"}}, Aria: fmt.Sprintf("token %d, not chosen yet", n)}
	if s.Cursor.Stage == infer.KindSample {
		slot.Known, slot.Text = true, TokenText(s.Model.Token(s.Step().Chosen))
		slot.Aria = fmt.Sprintf("token %d, %s, drawn and about to be appended", n, slot.Text)
	}
	return &slot
}

// StopReason says in a few words why a run ended, or "" while it has not.
func StopReason(s *session.State) string {
	if s.Stopped == infer.StopString {
		return terms.StopOf(s.Stopped).Name + " “" + Marked(lastStep(s).StopString).String() + "”"
	}
	return terms.StopOf(s.Stopped).Done
}

func lastStep(s *session.State) *infer.Step { return s.Steps[len(s.Steps)-1] }
