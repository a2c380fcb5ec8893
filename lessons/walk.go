package lessons

import "github.com/tokenbytoken/viz/infer"

// A Walk is a script by which a class, or one learner alone, is led through the
// loop: steps that go to a stage, set controls, say something and ask something.
type Walk struct {
	Slug, Title    string
	Lead, LeadText string // one sentence, as HTML without a paragraph around it, and as plain text
	Minutes        int
	Steps          []*WalkStep
}

// A WalkStep is one step of a walkthrough.
type WalkStep struct {
	ID, Title string
	Say       string   // HTML: what is said; on a tour alone, what is read
	Note      string   // HTML: for the presenter alone, "" without
	Do        []Action // carried out in order before anything is said
	Ask       *AskSpec // nil where nothing is asked
	Wait      string   // plain text: what the presenter waits for before going on, "" without
}

// Starts reports whether the step begins a new text before anything else.
func (s *WalkStep) Starts() bool {
	if len(s.Do) == 0 {
		return false
	}
	_, ok := s.Do[0].(WalkStart)
	return ok
}

// An Action moves the run or sets its controls: a [WalkStart], [WalkGo],
// [WalkSet] or [WalkStop].
type Action interface{ action() }

// WalkStart begins a new text, with all settings as they are given.
type WalkStart struct {
	Prompt   string
	Settings infer.Settings
}

// WalkGo goes to a stage, running the model up to it where that has not been.
// Step 1 is the first generated token. A text that ends before is shown at its
// end.
type WalkGo struct {
	Step  int
	Stage infer.Kind
}

// WalkSet turns knobs, by their keys, and sets the stop strings where Stop is not
// nil.
type WalkSet struct {
	Knobs infer.Knobs
	Stop  *[]string
}

func (WalkStart) action() {}
func (WalkGo) action()    {}
func (WalkSet) action()   {}

// AskKind is what a step asks for.
type AskKind string

// The kinds of asking.
const (
	AskNext     AskKind = "next"     // which token comes next, at the step not drawn yet
	AskQuestion AskKind = "question" // a question of the quiz
	AskNumber   AskKind = "number"   // a number
	AskDraw     AskKind = "draw"     // the class draws the next token
)

// An AskSpec is what a step asks of the class.
type AskSpec struct {
	Kind       AskKind
	Choices    int       // of AskNext: candidates, 4 to 8
	Question   *Question // of AskQuestion
	Prompt     string    // of AskNumber: HTML of the question
	PromptText string    // the same as plain text
	Unit       string    // of AskNumber
	Answer     float64   // of AskNumber
	Within     float64   // of AskNumber: how far off is still right
	Seconds    int       // until it closes by itself, 0 for when told
}

// Walk returns the walkthrough with a slug, or nil.
func (c *Course) Walk(slug string) *Walk {
	for _, w := range c.Walks {
		if w.Slug == slug {
			return w
		}
	}
	return nil
}
