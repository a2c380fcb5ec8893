package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Story is the stage shown, in the voice [Tale]: in plain words and whole percents, for people who
// have not seen a model write before. [Stage] is the same stage in numbers. The stage determines
// which picture is set.
type Story struct {
	Empty bool
	End   bool   // the text is over and can be read
	Zoom  bool   // tapping a block opens it, as on the map
	Enter string // see [Stage]
	Pace  string
	N     int
	Verb  string // "Share"
	Of    string // "step 3 of 7, called Softmax in Numbers"
	Past  string // set while the learner looks back
	Say   Rich
	Foot  Rich
	Point string // what pointing at a token of the text does; "" if it does nothing
	Over  string // why the text is over; "" if it is not

	Reads  []Text       // at stage 1
	Blocks int          // at stage 1: the number of blocks that can be opened
	Scores *StoryScores // at stage 2
	Shares *StoryShares // at stages 3 and 4
	Line   *StoryLine   // at stage 5
	Ends   []StoryEnd   // at stage 6
	Memory *StoryMemory // at stage 7
}

// StoryScores are the highest scores, on an axis that shows only their range.
type StoryScores struct {
	Rows     []StoryScore
	From, To string // the ends of the axis
	Say      string
}

// StoryScore is a token's score as a dot on the axis.
type StoryScore struct {
	Text Text
	Z    string
	At   string // SVG length
}

// StoryShares are the shares of the most likely tokens and of all other tokens, on an axis that
// always runs from 0 to 100%.
type StoryShares struct {
	Rows  []StoryShare
	Ghost string // what the ticks mean; "" without ticks
}

// StoryShare is the share of one token or of all other tokens.
type StoryShare struct {
	Text      Text
	Name      string // name for all other tokens
	Percent   string // or the word for a token that was cut
	Bar       string // SVG length
	Ghost     string // SVG length of the tick; "" for none
	Note      string // below the name: who guessed it; "" for none
	Fit       string // the screen width at which the name and share fit on the line ([Segment.FitP])
	Rest, Cut bool
}

// Falling returns the announcement for screen readers while the marker falls.
func (w Words) Falling() string { return w.T("story.falling") }

// carryRest is the data-carry attribute of the segment for all other tokens. No token has an empty
// text.
const carryRest = ""

// carry returns a name for the bar of a share. The name is the same at every stage, so that a page
// can move the bar from one stage to the next.
func (r StoryShare) carry() string {
	if r.Rest {
		return carryRest
	}
	return r.Text.String()
}

// storyRows is the number of candidates that the Story names.
const storyRows = 5

// NewStory returns the Story of a state.
func (w Words) NewStory(s *session.State) Story {
	if !s.Started() {
		return Story{Empty: true}
	}
	k := s.Shown()
	v := Story{N: int(k), Verb: w.T("verb." + k.String())}
	v.Of = w.T("story.of", "n", terms.Count(int(k)), "name", w.Stage(int(k)).Name)
	if s.Stopped != infer.StopNone {
		v.Over = w.storyOver(s).String()
	}
	if !s.AtFrontier() {
		f := s.Frontier()
		v.Past = w.T("story.past", "verb", w.T("verb."+f.Stage.String()), "n", terms.Count(f.Step))
	}
	p := Stage{}
	p.enter(s)
	if v.Enter, v.Pace = p.Enter, p.Pace; s.Undrawn {
		v.Enter = k.String()
	}
	if v.End = ended(s); v.End {
		v.Verb, v.Of = w.T("story.end"), w.T("story.end.of", "tokens", w.Counted(len(s.Steps), "token"))
		v.Say, v.Foot = w.storyOver(s), w.boldest(s)
		v.Point = w.T("story.end.point")
		return v
	}
	if s.Undrawn {
		w.lineOf(s, &v)
		v.Say = w.Rich("story.sample.open")
		return v
	}
	whole := s.Stage(storyRows)
	v.Say = w.Sentence(Tale, whole, aboutOf(s))
	switch st := whole.(type) {
	case infer.Forward:
		w.reads(s, st, &v)
	case infer.Logits:
		w.storyScores(st, &v)
	case infer.Softmax:
		w.learnedShares(s, &v)
	case infer.Filter:
		w.keptShares(s, st, &v)
	case infer.Sample:
		w.lineOf(s, &v)
		w.landed(s, st, &v)
	case infer.Append:
		w.storyEnds(s, st, &v)
	case infer.CacheGrowth:
		w.storyMemory(s, st, &v)
	}
	return v
}

// storyOver explains why a text has ended.
func (w Words) storyOver(s *session.State) Rich {
	return w.Rich("story.end."+string(s.Stopped), "text", Marked(lastStep(s).StopString))
}

// ended reports whether a state shows the end of a finished text.
func ended(s *session.State) bool {
	return s.Started() && s.Stopped != infer.StopNone && s.AtFrontier() && s.Cursor.Stage == infer.KindCache
}

// boldest describes the least likely token of the text.
func (w Words) boldest(s *session.State) Rich {
	var least *infer.Step
	for _, step := range s.Steps {
		if !s.Model.EOS(step.Chosen) && (least == nil || step.P < least.P) {
			least = step
		}
	}
	if least == nil {
		return nil
	}
	return w.Rich(
		"story.end.foot", "token", gen(TokenText(s.Model.Token(least.Chosen))), "share", terms.Percent(least.P),
	)
}

// reads lists the tokens that the pass reads. The Story omits the blocks' predictions, because
// there is no space to explain them.
func (w Words) reads(s *session.State, st infer.Forward, v *Story) {
	first := max(0, len(st.Tokens)-mostReads)
	for i, t := range st.Tokens[first:] {
		v.Reads = append(v.Reads, w.promptText(s.Model, t, st.Positions-len(st.Tokens)+first+i))
	}
	v.Say = append(v.Say, w.unread(s)...)
	if n := s.Model.Config().Layers; s.Look != nil && n <= mapCells {
		v.Blocks = n
	}
	v.Foot = w.Rich("story.forward.foot", "blocks", w.Counted(s.Model.Config().Layers, "block"))
}

// unread returns the text that follows the sentence about a pass that reads the prompt
// ([Words.Unread]).
func (w Words) unread(s *session.State) Rich {
	if says := w.Unread(s.PromptTokens); says != "" && s.Cursor.Step == 1 {
		return Rich{{S: " " + says}}
	}
	return nil
}

// mostReads is the maximum number of read tokens that are named.
const mostReads = 12

func (w Words) storyScores(st infer.Logits, v *Story) {
	rows := st.Rows.Rows
	if len(rows) > storyRows { // the last row is a drawn token with a lower rank
		rows = rows[:storyRows]
	}
	top, low := float64(rows[0].Z), float64(rows[len(rows)-1].Z)
	span := max((top-low)*1.25, 0.1) // leave some space below the lowest score
	from := top - span
	t := &StoryScores{From: terms.Logit(from), To: terms.Logit(top)}
	for _, r := range rows {
		z := float64(r.Z)
		t.Rows = append(t.Rows, StoryScore{TokenText(r.Token), terms.Logit(z), Share((z - from) / span)})
	}
	t.Say = w.T(
		"story.scores.zoom", "from", terms.Logit(float64(st.Min)), "to", terms.Logit(float64(st.Max)),
	)
	v.Scores = t
	v.Foot = w.Rich("story.logits.foot")
}
