package practice

import (
	"net/http"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A deckPage shows the flashcards with one learner's schedule.
type deckPage struct {
	Deck  progress.Deck
	Card  *lessons.Card // nil if none is due or new
	State progress.CardState
	Asked bool   // the address selects this card
	Turn  bool   // the back of the card is shown initially
	Key   string // identifies the next review, so that a review that is sent twice counts once
	Done  string // the result of the last review
	All   []deckCard
}

// A deckCard is one card in the list of all cards.
type deckCard struct {
	*lessons.Card
	progress.CardState
	Say string
}

// cards handles GET /cards. It shows the card that has been due longest or, with ?card=ID, the
// card with that id.
func (p *Pages) cards(w http.ResponseWriter, r *http.Request) {
	words, id := stage.In(r.Context()), r.URL.Query().Get("card")
	if id != "" && p.Course.In(r.Context()).Card(id) == nil {
		p.Refuse(
			w, r, http.StatusNotFound, words.T("practice.cards.missing"), words.T("practice.cards.missing.say"),
		)
		return
	}
	v, err := p.deckOf(r, p.Who(w, r), id)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v.Turn = r.URL.Query().Get("turn") != ""
	p.sendDeck(w, r, v)
}

func (p *Pages) sendDeck(w http.ResponseWriter, r *http.Request, v *deckPage) {
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, deckHTML(v))
		return
	}
	p.HTML(w, r, http.StatusOK, cardsPage(v))
}

// deckOf reads a learner's deck and selects the card with the given id or, if it is empty, the
// next card.
func (p *Pages) deckOf(r *http.Request, learner, id string) (*deckPage, error) {
	deck, err := p.Progress.Cards(r.Context(), learner)
	if err != nil {
		return nil, err
	}
	w := stage.In(r.Context())
	v := &deckPage{Deck: deck, Key: chance.Key(r.Context()), Asked: id != ""}
	if id == "" && deck.Next != nil {
		id = deck.Next.Card
	}
	for _, s := range deck.Cards {
		c := p.Course.In(r.Context()).Card(s.Card)
		if s.Card == id {
			v.Card, v.State = c, s
		}
		v.All = append(v.All, deckCard{c, s, dueText(w, s)})
	}
	return v, nil
}

// review handles POST /cards/review. It confirms a review only after writing it to disk. Several
// reviews with the same key count as one.
func (p *Pages) review(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	words, learner := stage.In(r.Context()), p.Who(w, r)
	id, key := r.PostForm.Get("card"), r.PostForm.Get("key")
	if p.Course.In(r.Context()).Card(id) == nil {
		p.Refuse(w, r, http.StatusNotFound, words.T("practice.cards.missing"), words.T("practice.cards.missing.review"))
		return
	}
	grade, err := fsrs.ParseGrade(r.PostForm.Get("grade"))
	if err != nil {
		p.Refuse(
			w, r, http.StatusBadRequest, words.T("practice.cards.grade.bad"), words.T("practice.cards.grade.bad.say"),
		)
		return
	}
	after, err := p.Progress.Review(r.Context(), learner, id, grade, key)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v, err := p.deckOf(r, learner, "")
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v.Done = words.T(
		"practice.cards.kept", "grade", words.T("practice.cards.grade."+grade.String()),
		"wait", words.Wait(after.Due.Sub(after.Last)),
	)
	p.sendDeck(w, r, v)
}

// A gradeButton is the button for one of the four grades of the shown card.
type gradeButton struct{ Value, Name, Says, Wait, Cap string }

// Grades returns the four grades, each with the time until the card would be due again.
func (v *deckPage) Grades(w stage.Words) []gradeButton {
	var list []gradeButton
	for i, g := range fsrs.Grades {
		key := "practice.cards.grade." + g.String()
		list = append(list, gradeButton{
			g.String(), terms.Capital(w.T(key)), w.T(key + ".says"), w.Wait(v.State.Waits[i]), string(rune('1' + i)),
		})
	}
	return list
}

// dueText describes when a card is due.
func dueText(w stage.Words, s progress.CardState) string {
	switch {
	case s.New:
		return w.T("practice.cards.new")
	case s.Strong:
		return w.T("practice.cards.card.strong", "when", w.DateTime(s.Due))
	}
	return w.T("practice.cards.card.due", "when", w.DateTime(s.Due))
}

// printCards handles GET /cards/print, which shows one card per printed page.
func (p *Pages) printCards(w http.ResponseWriter, r *http.Request) {
	title, cards := stage.In(r.Context()).T("practice.paper.print"), p.Course.In(r.Context()).Cards
	p.HTML(w, r, http.StatusOK, paperPage(title, false, cards))
}

// foldCards handles GET /cards/fold, which shows the front and the back of each card side by side,
// to be folded in the middle.
func (p *Pages) foldCards(w http.ResponseWriter, r *http.Request) {
	title, cards := stage.In(r.Context()).T("practice.paper.fold"), p.Course.In(r.Context()).Cards
	p.HTML(w, r, http.StatusOK, paperPage(title, true, cards))
}
