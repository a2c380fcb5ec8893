package view

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// Token is one token of the strip.
type Token struct {
	ID       string // element id: "t-12" for step 12; "" outside of the generated ones
	Text     Text
	Small    string // the figure under it: p with two decimals
	Class    string // p1 to p5
	Bar      string // p as an SVG length
	Aria     string // what it is called aloud; of generated ones the words before its text
	Peek     string // the sentence of the peek line
	Seek     string // the command that looks at it
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
	Peek        Rich
	PeekAlts    []Alternative
	PeekEnd     string
}

// Alternative is a token that might have been chosen instead.
type Alternative struct {
	Text Text
	P    string
}

// Next is the slot for the token to come, or the reason why none does.
type Next struct {
	Label   string
	Text    Text
	Small   string
	Aria    string
	Known   bool // drawn, not appended yet
	Stopped bool
}

func newStrip(s *session.State) Strip {
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
		v.PromptLabel = plural(len(s.PromptTokens), "token") + ", given by you"
	}
	for _, step := range s.Steps {
		if step.Ran >= infer.KindAppend {
			v.Tokens = append(v.Tokens, newToken(s, step))
		}
	}
	v.GenLabel = plural(len(v.Tokens), "token") + ", drawn by the model"
	if s.Settings.Greedy() && len(v.Tokens) > 0 && allGreedy(s) {
		v.GenLabel = plural(len(v.Tokens), "token") + ", the likeliest each time"
	}
	v.Next = newNext(s, len(v.Tokens))
	for _, t := range s.Ghosts {
		text := TokenText(t)
		v.Ghosts = append(v.Ghosts, Token{Text: text, Aria: "dropped: " + text.String()})
	}
	v.Peek, v.PeekAlts, v.PeekEnd = peek(s)
	return v
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
func position(s *session.State, step int) int { return len(s.PromptTokens) + step }

// newToken looks at nothing but the step itself, so that a token that is
// already on the screen changes only when the learner looks elsewhere.
func newToken(s *session.State, step *infer.Step) Token {
	t := s.Model.Token(step.Chosen)
	text := TokenText(t)
	n := position(s, step.N)
	return Token{
		ID:    "t-" + strconv.Itoa(step.N),
		Text:  text,
		Small: ProbShort(step.P),
		Class: Ramp(step.P),
		Bar:   Share(step.P),
		Aria:  "token " + Count(n),
		Peek:  fmt.Sprintf("Token %d, %s: %s, the model’s %s choice; %s after the filters.", n, text, is("p", step.P), Ordinal(step.Rank), is("p′", step.Q)),
		Seek:  fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"sample"}`, step.N),
		Now:   step.N == s.Cursor.Step,
		Later: step.N > s.Cursor.Step,
		End:   s.Model.EOS(step.Chosen),
	}
}

func newNext(s *session.State, generated int) Next {
	n := position(s, generated+1)
	if !s.Started() {
		n = 1
	}
	if s.Stopped != infer.StopNone {
		return Next{
			Label: "Stopped", Text: Text{{S: stopShort(s)}}, Small: "after " + Count(generated), Stopped: true,
			Aria: fmt.Sprintf("stopped after %s: %s", plural(generated, "token"), StopReason(s)),
		}
	}
	next := Next{
		Label: "Next", Text: Text{{S: "?"}}, Small: Ordinal(n),
		Aria: fmt.Sprintf("token %d, not chosen yet", n),
	}
	if last := len(s.Steps); last > 0 && s.Steps[last-1].Ran == infer.KindSample {
		step := s.Steps[last-1]
		next.Known, next.Text = true, TokenText(s.Model.Token(step.Chosen))
		next.Aria = fmt.Sprintf("token %d, %s, drawn and about to be appended", n, next.Text)
	}
	return next
}

// StopReason says in a few words why a run ended, or "" while it has not.
func StopReason(s *session.State) string {
	switch s.Stopped {
	case infer.StopEOS:
		return "end of text"
	case infer.StopString:
		return "stop string “" + Marked(lastStep(s).StopString).String() + "”"
	case infer.StopMaxTokens:
		return "max tokens reached"
	case infer.StopContext:
		return "context window full"
	}
	return ""
}

func stopShort(s *session.State) string {
	switch s.Stopped {
	case infer.StopString:
		return "stop string"
	case infer.StopMaxTokens:
		return "max tokens"
	case infer.StopContext:
		return "window full"
	}
	return "end of text"
}

func lastStep(s *session.State) *infer.Step { return s.Steps[len(s.Steps)-1] }

// alternatives is how many other tokens the peek line names.
const alternatives = 4

// peek is the line under the strip: the token that the step shown has drawn,
// or what it has read.
func peek(s *session.State) (Rich, []Alternative, string) {
	if !s.Started() {
		return say("The text will stand here, one box for each token."), nil, ""
	}
	step := s.Step()
	if s.Cursor.Stage < infer.KindSample {
		t := TokenText(s.Model.Token(step.Input[len(step.Input)-1]))
		read := say("Read up to token "+Count(step.Positions())+", ", t, ". Which token comes next is not decided yet.")
		return read, nil, ""
	}
	r := say("Token "+Count(position(s, step.N))+" ", gen(TokenText(s.Model.Token(step.Chosen))), " ", bold(Prob(step.P)),
		", the model’s "+Ordinal(step.Rank)+" choice. Others were:")
	var alts []Alternative
	for _, id := range s.Dist.Order[:min(alternatives+1, len(s.Dist.Order))] {
		if int(id) != step.Chosen && len(alts) < alternatives {
			alts = append(alts, Alternative{TokenText(s.Model.Token(int(id))), ProbShort(s.Dist.P[id])})
		}
	}
	return r, alts, "Press a token to look at its draw."
}
