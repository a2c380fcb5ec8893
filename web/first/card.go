package first

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// card is the result of a first run: the text, with marks that separate the learner's parts from
// the model's.
type card struct {
	Link  string
	Parts []cardPart
	// Shares holds the probability of each token when it was drawn. The learner's tokens come
	// first, with probability 1.
	Shares []float64
	Given  int    // number of tokens from the learner
	Yours  string // "7 tokens"
	Its    string
	// Boldest is the token that was least likely when it was drawn, and Chance is its probability
	// at that moment, in percent. Both are empty if no token was drawn.
	Boldest stage.Text
	Chance  string
	Lesson  string // address of the first lesson; "" for none
	Times   []coursework.TimeLink
	// Boxes reports whether the PNG shows boxes in place of some characters.
	Boxes bool
	Made  string // the model and the seeds of the text: "tiny-5M, seed 42"
}

// cardPart is the learner's beginning or one of the model's tokens.
type cardPart struct {
	Text  string
	Yours bool
	Long  bool // an unlikely token that was drawn anyway
	Share string
}

// cardMark is the bar of a token. Its height shows the token's probability.
type cardMark struct {
	X, Y, W, H string // SVG lengths
	Yours      bool
}

// longShot is the probability below which a drawn token is marked as unlikely, as in the Story.
const longShot = 0.2

func newCard(w stage.Words, st *session.State) card {
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
		c.Chance = w.OfHundred(least)
	}
	c.Yours, c.Its = w.Counted(yours, "token"), w.Counted(its, "token")
	c.Shares, c.Given = shares, yours
	c.Boxes = c.keepsake(w).Missing()
	seeds := seedsOf(st)
	c.Made = w.T("first.card.made", "n", len(seeds), "model", st.Model.Name(), "seeds", strings.Join(seeds, ", "))
	return c
}

// leastMark is the minimum height of a mark, so that an unlikely token is still visible.
const leastMark = 0.05

// marks lays out the bars side by side.
func (c card) marks() []cardMark {
	var list []cardMark
	pitch := 1 / float64(max(len(c.Shares), 24))
	for i, x := range c.Shares {
		h := max(x, leastMark)
		list = append(list, cardMark{
			stage.Share(float64(i) * pitch), stage.Share(1 - h), stage.Share(pitch * 0.78), stage.Share(h), i < c.Given,
		})
	}
	return list
}

// seedsOf lists the seeds of a run's draws. The seed changes each time the learner draws again.
func seedsOf(st *session.State) (list []string) {
	for _, step := range st.Steps {
		seed := strconv.FormatUint(step.Settings.Seed, 10)
		if len(list) == 0 || list[len(list)-1] != seed {
			list = append(list, seed)
		}
	}
	return list
}

func cardAddress(link string) string { return cardFile(link, "") }

// cardFile returns the address of a card's page or, with an extension (".svg"), of its
// picture.
func cardFile(link, extension string) string {
	return base + "/card" + extension + "?" + url.Values{"log": {link}}.Encode()
}

// file returns a link to download the card as a file with the given extension.
func (c card) file(extension string) stage.Element {
	link := stage.Link(cardFile(c.Link, extension))
	link.Attrs["download"] = "token-by-token" + extension
	return link
}

// withCard waits in the queue and then calls f with the card for the link in a request. If there is
// no card, it sends a response that states the reason.
func (s *Server) withCard(w http.ResponseWriter, r *http.Request, f func(c card) error) bool {
	words := stage.In(r.Context())
	link, err := session.ParseLink(s.Model, r.URL.Query().Get("log"))
	if err == nil && !ended(link) {
		err = errUnfinished
	}
	if err == nil {
		err = s.within(w, r, &link, func(m *mover) error {
			c := newCard(words, m.run.State())
			if c.Lesson = s.Lesson; c.Lesson != "" {
				c.Times = coursework.TimeLinks(words.Language, s.Minutes, -1)
			}
			return f(c)
		})
	}
	if err != nil {
		s.fail(w, r, err)
	}
	return err == nil
}

// card handles GET /first/card, which shows the card of a run to anyone with the link. If the
// request has no run, the response is an ordinary page rather than an error page: a static site
// shows this page to a visitor who opens a card's link, until the program runs in the browser and
// creates the card.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("log") == "" {
		l := terms.In(r.Context())
		s.HTML(w, r, http.StatusOK, refusalHTML(l.T("first.card.none.head"), l.T("first.card.none")))
		return
	}
	var made card
	if s.withCard(w, r, func(c card) error { made = c; return nil }) {
		s.HTML(w, r, http.StatusOK, cardHTML(made))
	}
}
