package stage

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Token is one token of the strip.
type Token struct {
	Step     int    // the step that made it; 0 for a prompt token
	Pos      int    // its position in the text, from 0
	ID       string // element id: "t-12" for step 12; "" for prompt tokens
	Text     Text
	Small    string // the number under it: p with two decimals
	Class    string // p1 to p5
	Bar      string // p as an SVG length
	Prose    string // its part of the prose; "" while its text is held back
	Percent  string // p in whole percent
	Hint     string // "·horse, 3%"
	Bold     bool   // the token was unlikely: p < 0.2
	Aria     string // its accessible name; for generated tokens, the part before its text
	Peek     string // the sentence of the peek line
	Seek     string // the command that shows its draw
	Forced   bool   // chosen by a person
	Tab      bool   // the one token of the strip that is in the Tab order
	Now      bool   // made by the step shown
	Later    bool   // after the step shown
	End      bool   // an end-of-text token
	StartTag bool   // the start token in front of a prompt
	Special  bool   // another special token of a prompt, from its chat template
}

// lit returns the attributes by which js/lit.js finds the token and its position.
func (t Token) lit() templ.Attributes {
	return templ.Attributes{"data-token": t.Text.String(), "data-pos": strconv.Itoa(t.Pos)}
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

// Next is the slot for the next token, or the reason why there is none.
type Next struct {
	Label   string
	Text    Text
	Small   string
	Aria    string
	Known   bool // drawn, not appended yet
	Stopped bool
	Over    string // why the text is over, in the Story's words; "" before that
}

// IsStart reports whether t is the start token that the model was trained with. at is its position
// in the text, from 0.
func IsStart(m *infer.Model, t infer.Token, at int) bool {
	return at == 0 && t.Special && t.ID == m.Config().BOS
}

// GivenText returns the prompt as prose. Special tokens from a chat template are marked. Typed
// text that looks like a special token is not.
func GivenText(s *session.State) Text {
	var special []string
	for i, t := range s.PromptTokens {
		if t.Special && (len(s.Marks) > 0 || !IsStart(s.Model, t, i)) {
			special = append(special, t.Text)
		}
	}
	var given Text
	from := 0
	for i, at := range s.Marks {
		if i >= len(special) || at < from || !strings.HasPrefix(s.Prompt[min(at, len(s.Prompt)):], special[i]) {
			break // the mark does not occur in this text, because it comes from another model
		}
		if at > from {
			given = append(given, TextRun{S: s.Prompt[from:at]})
		}
		given = append(given, TextRun{S: special[i], Mark: true})
		from = at + len(special[i])
	}
	if from < len(s.Prompt) {
		given = append(given, TextRun{S: s.Prompt[from:]})
	}
	return given
}

func (w Words) NewStrip(s *session.State) Strip {
	v := Strip{PromptLabel: w.T("strip.none")}
	for i, t := range s.PromptTokens {
		tok := Token{Pos: i, Text: TokenText(t), StartTag: IsStart(s.Model, t, i)}
		tok.Special = t.Special && !tok.StartTag
		key := "strip.prompt"
		if tok.Special {
			key, tok.Small = "strip.prompt.special", w.T("strip.special")
		}
		tok.Aria = w.T(key, "n", terms.Count(i+1), "token", tok.Text)
		if tok.StartTag {
			tok.Small = w.T("start")
		}
		v.Prompt = append(v.Prompt, tok)
	}
	if s.Started() {
		v.PromptLabel = w.T("strip.given", "tokens", w.Counted(len(s.PromptTokens), "token"))
	}
	for _, step := range s.Steps {
		if step.Ran >= infer.KindAppend {
			v.Tokens = append(v.Tokens, w.newToken(s, step))
		}
	}
	v.GenLabel = w.T("strip.drawn", "tokens", w.Counted(len(v.Tokens), "token"))
	if s.Settings.Greedy() && len(v.Tokens) > 0 && allGreedy(s) {
		v.GenLabel = w.T("strip.greedy", "tokens", w.Counted(len(v.Tokens), "token"))
	}
	v.Next = w.newNext(s, len(v.Tokens))
	for _, t := range s.Ghosts {
		text := TokenText(t)
		v.Ghosts = append(v.Ghosts, Token{Text: text, Aria: w.T("strip.dropped", "token", text)})
	}
	v.roving(s)
	return v
}

// roving puts one token of the strip in the tab order: the token of the step shown, or the last
// token before that.
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

// Position returns the position of a step's token in the whole text, counted from 1 and
// including the start token.
func Position(s *session.State, step int) int { return len(s.PromptTokens) + step }

// newToken returns the token of a step. It depends only on the step itself, so that a token
// already on the screen changes only when the learner moves to another step.
func (w Words) newToken(s *session.State, step *infer.Step) Token {
	text := TokenText(s.Model.Token(step.Chosen))
	n := Position(s, step.N)
	aria := w.T("strip.token", "n", terms.Count(n))
	if step.Forced {
		aria = w.T("strip.token.forced", "n", terms.Count(n))
	}
	return Token{
		Step:    step.N,
		Pos:     n - 1,
		ID:      "t-" + strconv.Itoa(step.N),
		Text:    text,
		Small:   terms.ProbShort(step.P),
		Class:   Ramp(step.P),
		Bar:     Share(step.P),
		Prose:   step.Text,
		Percent: terms.Percent(step.P),
		Bold:    step.P < boldBelow,
		Hint:    w.T("story.hint", "token", text.Inline(), "share", terms.Percent(step.P)),
		Aria:    aria,
		Peek:    w.peekText(n, text, step),
		Seek:    fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"sample"}`, step.N),
		Forced:  step.Forced,
		Now:     step.N == s.Cursor.Step,
		Later:   step.N > s.Cursor.Step,
		End:     s.Model.EOS(step.Chosen),
	}
}

// boldBelow is the probability below which the Story marks a token as bold.
const boldBelow = 0.2

// peekText describes a token in a sentence, shown until the server's own line
// arrives.
func (w Words) peekText(n int, text Text, step *infer.Step) string {
	key := "strip.peek"
	if step.Forced {
		key = "strip.peek.forced"
	}
	return w.T(
		key, "n", terms.Count(n), "token", text.Inline(), "p", terms.Is("p", step.P), "rank", w.Ordinal(step.Rank),
		"q", terms.Is("p′", step.Q),
	)
}

func (w Words) newNext(s *session.State, generated int) Next {
	n := Position(s, generated+1)
	if !s.Started() {
		n = 1
	}
	if s.Stopped != infer.StopNone {
		return Next{
			Label: w.T(
				"strip.stopped",
			), Text: Text{{S: w.Stop(string(s.Stopped)).Short}}, Small: w.T("strip.after", "n", terms.Count(generated)),
			Stopped: true,
			Aria:    w.T("strip.stopped.aria", "tokens", w.Counted(generated, "token"), "why", w.StopReason(s)),
			Over:    w.storyOver(s).String(),
		}
	}
	next := Next{
		Label: w.T("strip.next"), Text: Text{{S: "?"}}, Small: w.Ordinal(n),
		Aria: w.T("slot", "n", terms.Count(n)),
	}
	if last := len(s.Steps); last > 0 && s.Steps[last-1].Ran == infer.KindSample {
		step := s.Steps[last-1]
		next.Known, next.Text = true, TokenText(s.Model.Token(step.Chosen))
		next.Aria = w.T("slot.known", "n", terms.Count(n), "token", next.Text)
	}
	return next
}

// NewSlot returns the slot of the next token at the step shown, which may be an older one.
// The token is known only from the draw on.
func (w Words) NewSlot(s *session.State) *Next {
	n := Position(s, s.Cursor.Step)
	if s.Cursor.Stage >= infer.KindAppend {
		n++
	}
	slot := Next{Text: Text{{S: w.T("slot.next")}}, Aria: w.T("slot", "n", terms.Count(n))}
	if s.Cursor.Stage == infer.KindSample {
		slot.Known, slot.Text = true, TokenText(s.Model.Token(s.Step().Chosen))
		slot.Aria = w.T("slot.known", "n", terms.Count(n), "token", slot.Text)
	}
	return &slot
}

// StopReason describes briefly why a run ended. It returns "" if the run has not ended.
func (w Words) StopReason(s *session.State) string {
	stop := w.Stop(string(s.Stopped))
	if s.Stopped == infer.StopString {
		return w.T("stopped.by", "stop", stop.Name, "text", Marked(lastStep(s).StopString))
	}
	return stop.Done
}

func lastStep(s *session.State) *infer.Step { return s.Steps[len(s.Steps)-1] }
