package classroom

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// questionList is the instructor's list of the questions that members have asked.
type questionList struct {
	Quiet bool
	Wall  []raisedRow // in the order of the wall
	Open  []raisedRow // the oldest first; includes those on the wall
	Away  []raisedRow
}

// raisedRow is a question with the questions that are grouped with it.
type raisedRow struct {
	class.Raised
	Others []class.Raised
}

// Times returns how many questions are grouped, including the first one.
func (r raisedRow) Times() int { return 1 + len(r.Others) }

func newQuestionList(quiet bool, list []class.Raised) questionList {
	l := questionList{Quiet: quiet}
	others := map[int][]class.Raised{}
	for _, q := range list {
		if q.Same > 0 {
			others[q.Same] = append(others[q.Same], q)
		}
	}
	wall := map[int]raisedRow{}
	for _, q := range list {
		row := raisedRow{q, others[q.ID]}
		switch {
		case q.Same > 0:
			continue
		case q.Done:
			l.Away = append(l.Away, row)
			continue
		case q.Wall > 0:
			wall[q.Wall] = row
		}
		l.Open = append(l.Open, row)
	}
	for n := 1; n <= len(wall); n++ {
		l.Wall = append(l.Wall, wall[n])
	}
	return l
}

// raisedWait limits the wait for the members' questions. In a cluster, a server of a version without
// questions does not answer.
const raisedWait = 2 * time.Second

// raisedIn lists the questions that members have asked.
func raisedIn(ctx context.Context, room class.Room, secret class.Secret) ([]class.Raised, error) {
	within, cancel := context.WithTimeout(ctx, raisedWait)
	defer cancel()
	return room.Raised(within, secret)
}

// rowID returns the id of an element of a question's row.
func rowID(part string, id int) string { return "rq-" + part + "-" + strconv.Itoa(id) }

// raiseForm handles a question that a browser without scripts sends as a form.
func (p *Pages) raiseForm(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, who, ok := p.enterAsMember(w, r)
	if !ok {
		return
	}
	_, err := room.Join(r.Context(), who, "")
	if err == nil {
		defer room.Leave(who.Learner)
		err = room.Ask(r.Context(), who.Learner, r.PostForm.Get("text"))
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if shell.Fragment(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, roomPath(room.Code())+"?asked=1#ask", http.StatusSeeOther)
}

// raise sends the instructor a question.
func (f *followFeed) raise(ctx context.Context, c wire.Command) error {
	v, err := c.Read(terms.Inputs{terms.Optional(terms.TextInput("text"))})
	if err != nil {
		return err
	}
	return f.room.Ask(ctx, f.who, v["text"])
}
