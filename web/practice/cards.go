package practice

import (
	"net/http"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
)

// A deckPage shows the flashcards with one learner's schedule.
type deckPage struct {
	Deck  progress.Deck
	Card  *lessons.Card // nil if none is due or new
	State progress.CardState
	Asked bool   // the address names this card
	Turn  bool   // the back is shown from the start
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
	id := r.URL.Query().Get("card")
	if id != "" && p.Course.Card(id) == nil {
		p.Refuse(
			w, r, http.StatusNotFound, "There is no such card.",
			"It may have another name now. All cards are listed under Practice.",
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
	v := &deckPage{Deck: deck, Key: chance.Key(r.Context()), Asked: id != ""}
	if id == "" && deck.Next != nil {
		id = deck.Next.Card
	}
	for _, s := range deck.Cards {
		c := p.Course.Card(s.Card)
		if s.Card == id {
			v.Card, v.State = c, s
		}
		v.All = append(v.All, deckCard{c, s, dueLine(s)})
	}
	return v, nil
}

// review handles POST /cards/review. It confirms a review only after the review has been written to
// disk. Several reviews with the same key count as one.
func (p *Pages) review(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	learner := p.Who(w, r)
	id, key := r.PostForm.Get("card"), r.PostForm.Get("key")
	if p.Course.Card(id) == nil {
		p.Refuse(w, r, http.StatusNotFound, "There is no such card.", "Nothing was saved. Reload the page.")
		return
	}
	grade, err := fsrs.ParseGrade(r.PostForm.Get("grade"))
	if err != nil {
		p.Refuse(
			w, r, http.StatusBadRequest, "This is not a grade.",
			"A card is graded again, hard, good or easy. Nothing was saved.",
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
	v.Done = "Kept: " + grade.String() + ". This card comes back in " + terms.Wait(after.Due.Sub(after.Last)) + "."
	p.sendDeck(w, r, v)
}

// A gradeButton is the button for one of the four grades of the shown card.
type gradeButton struct{ Value, Name, Says, Wait, Cap string }

// Grades returns the four grades, each with the time until the card would be due again.
func (v *deckPage) Grades() []gradeButton {
	says := [...]string{"not recalled", "with effort", "recalled", "at once"}
	var list []gradeButton
	for i, g := range fsrs.Grades {
		list = append(
			list,
			gradeButton{
				g.String(), terms.Capital(g.String()), says[i], terms.Wait(v.State.Waits[i]), string(rune('1' + i)),
			},
		)
	}
	return list
}

// dueLine describes when a card is due.
func dueLine(s progress.CardState) string {
	switch {
	case s.New:
		return "new"
	case s.Strong:
		return "strong, due " + dueText(s)
	}
	return "due " + dueText(s)
}

func dueText(s progress.CardState) string { return s.Due.Format("2 January 2006, 15:04") + " UTC" }

// printCards handles GET /cards/print, which shows one card per printed page.
func (p *Pages) printCards(w http.ResponseWriter, r *http.Request) {
	p.HTML(w, r, http.StatusOK, paperPage("Cards to print", false, p.Course.Cards))
}

// foldCards handles GET /cards/fold, which shows the front and the back of each card next to each
// other, to be folded in the middle.
func (p *Pages) foldCards(w http.ResponseWriter, r *http.Request) {
	p.HTML(w, r, http.StatusOK, paperPage("Cards to fold", true, p.Course.Cards))
}
