package first

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// card is what a first run ends with: the text, and who wrote which part of it.
type card struct {
	Link  string
	Parts []cardPart
	Marks []cardMark
	Yours string // "7 tokens"
	Its   string
	// Boldest is the token that was least likely when it was drawn, and Chance how
	// likely that was: "4 in 100". Both are empty if nothing was drawn.
	Boldest stage.Text
	Chance  string
	Lesson  string // address of the first lesson, "" for none
	Made    string // what the text was made with: "tiny-5M, seed 42"
}

// cardPart is the learner's beginning or a token of the model's.
type cardPart struct {
	Text  string
	Yours bool
	Long  bool // a long shot, drawn against the odds
	Share string
}

// cardMark is a token as a bar, as tall as the model was sure of it.
type cardMark struct {
	X, Y, W, H string // SVG lengths
	Yours      bool
}

// longShot is the probability below which a token is marked as drawn against the odds, as
// in the Story.
const longShot = 0.2

func newCard(st *session.State) card {
	c := card{Link: session.LinkOf(st), Parts: []cardPart{{Text: st.Prompt, Yours: true}}}
	yours := 0
	for _, t := range st.PromptTokens {
		if !t.Special {
			yours++
		}
	}
	shares, least := make([]float64, yours, yours+len(st.Steps)), 2.0
	for i := range shares {
		shares[i] = 1
	}
	its := 0
	for _, step := range st.Steps {
		if !st.Model.EOS(step.Chosen) {
			its++
			shares = append(shares, step.Q)
			if step.Q < least && !step.Forced && !step.Settings.Greedy() {
				least, c.Boldest = step.Q, stage.TokenText(st.Model.Token(step.Chosen))
			}
		}
		if step.Text != "" {
			c.Parts = append(c.Parts, cardPart{Text: step.Text, Long: step.P < longShot, Share: terms.Percent(step.Q)})
		}
	}
	if least <= 1 {
		c.Chance = chance(least)
	}
	c.Yours, c.Its = terms.Counted(yours, "token"), terms.Counted(its, "token")
	c.Marks = marksOf(shares, yours)
	c.Made = st.Model.Name() + ", " + seedsOf(st)
	return c
}

// marksOf lays the bars side by side.
func marksOf(shares []float64, yours int) []cardMark {
	const least = 0.05 // of the height, so that an unlikely token is still seen
	var list []cardMark
	pitch := 1 / float64(max(len(shares), 24))
	for i, x := range shares {
		h := max(x, least)
		list = append(list, cardMark{
			stage.Share(float64(i) * pitch), stage.Share(1 - h), stage.Share(pitch * 0.78), stage.Share(h), i < yours,
		})
	}
	return list
}

// seedsOf names the seeds of a run's draws: another try has another one.
func seedsOf(st *session.State) string {
	var list []string
	for _, step := range st.Steps {
		seed := strconv.FormatUint(step.Settings.Seed, 10)
		if len(list) == 0 || list[len(list)-1] != seed {
			list = append(list, seed)
		}
	}
	if len(list) == 1 {
		return "seed " + list[0]
	}
	return "seeds " + strings.Join(list, ", ")
}

func cardAddress(link string) string { return base + "/card?" + url.Values{"log": {link}}.Encode() }

// cardOf makes the card of the link in a request, or answers why there is none.
func (s *Server) cardOf(w http.ResponseWriter, r *http.Request) (card, bool) {
	link, err := session.ParseLink(s.Model, r.URL.Query().Get("log"))
	if err == nil && !ended(link) {
		err = errUnfinished
	}
	if err != nil {
		s.fail(w, r, err)
		return card{}, false
	}
	var c card
	if err := s.within(w, r, &link, func(m *mover) error {
		c = newCard(m.run.State())
		c.Lesson = s.Lesson
		return nil
	}); err != nil {
		s.fail(w, r, err)
		return card{}, false
	}
	return c, true
}

// card answers GET /first/card: the card of a run. Anybody who has the link sees it.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	if c, ok := s.cardOf(w, r); ok {
		s.HTML(w, r, http.StatusOK, cardHTML(c))
	}
}
