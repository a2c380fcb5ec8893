package lessons

import "github.com/tokenbytoken/viz/infer"

// A Walk is a script that leads a class, or a single learner, through the loop:
// steps that go to a stage, set controls, say something and ask something.
type Walk struct {
	Slug, Title    string
	Lead, LeadText string // one sentence, as HTML without a paragraph around it, and as plain text
	Minutes        int
	Steps          []*WalkStep
}

// A WalkStep is one step of a walkthrough.
type WalkStep struct {
	ID, Title string
	Line      int      // of its heading, in its file
	Say       string   // HTML: what to say; on a tour without a presenter, what to read
	Note      string   // HTML: only for the presenter, "" if there is none
	Do        []Action // carried out in order before anything is said
	Ask       *AskSpec // nil if nothing is asked
	Wait      string   // plain text: a sentence on what to wait for before going on, "" for nothing
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

// WalkGo goes to a stage, running the model up to it if necessary. Step 1 is
// the first generated token. A text that ends earlier is shown at its end.
type WalkGo struct {
	Step  int
	Stage infer.Kind
}

// WalkSet sets knobs, by key, and the stop strings if Stop is not nil.
type WalkSet struct {
	Knobs infer.Knobs
	Stop  *[]string
}

func (WalkStart) action() {}
func (WalkGo) action()    {}
func (WalkSet) action()   {}

// AskKind is a kind of question.
type AskKind string

// The kinds of questions.
const (
	AskNext     AskKind = "next"     // which token is next, at a step that has not drawn yet
	AskQuestion AskKind = "question" // a question of the quiz
	AskNumber   AskKind = "number"   // a number
	AskDraw     AskKind = "draw"     // the class draws the next token
)

// An AskSpec is what a step asks the class.
type AskSpec struct {
	Kind       AskKind
	Choices    int       // of AskNext: candidates, 4 to 8
	Question   *Question // of AskQuestion
	Prompt     string    // of AskNumber: HTML of the question
	PromptText string    // the same as plain text
	Unit       string    // of AskNumber
	Answer     float64   // of AskNumber
	Within     float64   // of AskNumber: how far off still counts as right
	Seconds    int       // until it closes by itself; 0: the presenter closes it
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
