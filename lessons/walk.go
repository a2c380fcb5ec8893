package lessons

import "github.com/tokenbytoken/viz/infer"

// A Walk is a script that leads a class or a single learner through the loop. Its steps go to a
// stage, set controls, explain, and ask questions.
type Walk struct {
	Slug, Title    string
	Lead, LeadText string // one sentence, as HTML without a paragraph around it, and as plain text
	Minutes        int    // about how long the steps before the exit ticket take in a class
	Steps          []*WalkStep
	Ticket         int // how many of the last steps are the exit ticket
}

// ClassMinutes returns about how many minutes the walkthrough takes in a class, with its exit ticket.
func (w *Walk) ClassMinutes() int {
	if w.Ticket > 0 {
		return w.Minutes + TicketMinutes
	}
	return w.Minutes
}

// A WalkStep is one step of a walkthrough.
type WalkStep struct {
	ID, Title string
	Line      int      // line of its heading, in its file
	Minutes   int      // about how long it takes in a class; 0 if the script does not say so
	Say       string   // HTML: what the presenter says; without a presenter, the text to read
	Note      string   // HTML: only for the presenter, "" if there is none
	Do        []Action // carried out in order before Say
	Ask       *AskSpec // nil if nothing is asked
	Wait      string   // plain text: what to wait for before continuing; "" for nothing
}

// Starts reports whether the step begins with a new text.
func (s *WalkStep) Starts() bool {
	if len(s.Do) == 0 {
		return false
	}
	_, ok := s.Do[0].(WalkStart)
	return ok
}

// An Action moves the run or sets its controls: a [WalkStart], [WalkGo] or [WalkSet].
type Action interface{ action() }

// WalkStart begins a new text. Settings that are not given are off.
type WalkStart struct {
	Prompt   string
	Settings infer.Settings
}

// WalkGo goes to a stage, running the model up to it if necessary. Step 1 is
// the first generated token. If the text ends earlier, its end is shown.
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
	AskNext     AskKind = "next"     // the next token, at a step before its draw
	AskQuestion AskKind = "question" // a question of the quiz
	AskNumber   AskKind = "number"   // a number
	AskDraw     AskKind = "draw"     // the class draws the next token
)

// An AskSpec is the question that a step asks the class.
type AskSpec struct {
	Kind       AskKind
	Choices    int       // for AskNext: number of candidates, 4 to 8
	Question   *Question // for AskQuestion
	Prompt     string    // for AskNumber: the question as HTML
	PromptText string    // the same as plain text
	Unit       string    // for AskNumber
	Answer     float64   // for AskNumber
	Within     float64   // for AskNumber: the largest error that still counts as right
	Seconds    int       // time until the question closes; 0 if the presenter closes it
}

// Walk returns the walkthrough with the given slug, or nil.
func (c *Course) Walk(slug string) *Walk {
	for _, w := range c.Walks {
		if w.Slug == slug {
			return w
		}
	}
	return nil
}
