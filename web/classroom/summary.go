package classroom

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// summaryPage is the summary of a class for its instructor.
type summaryPage struct {
	*class.Summary
	Shown string
	When  string
	Base  string
	Link  string // link of the replay, for everyone
	Work  *workSummary
	Asked []askedPoll
	Bins  []bin
	Score string
}

// askedPoll is one poll with the bars of its rounds.
type askedPoll struct {
	class.PollSummary
	N     int
	Kind  string
	Rows  []askedRow
	Heads []string // headings of the rounds: "round 1, 26 votes"
	Right string   // result of the last round: "19 of 26 right"
	Far   string   // distance to the model, "" if there is none
}

// askedRow is the row of one option, with all rounds.
type askedRow struct {
	Label  stage.Text
	Text   string
	HTML   string
	Right  bool
	Drawn  bool // the token that the run drew
	Rounds []askedCount
	Model  string
}

type askedCount struct{ Say, Bar string }

// bin is one row of the calibration table.
type bin struct{ Range, N, Stated, Rate, Between string }

var kindWords = map[class.Kind]string{
	class.Next: "Next token", class.Draw: "Class as sampler", class.Question: "Quiz question", class.Number: "A number",
}

func newSummaryPage(s *class.Summary, base string) summaryPage {
	v := summaryPage{
		Summary: s, Shown: class.ShownCode(s.Code), Base: base, When: s.Begun.Format("2 January 2006, 15:04"),
	}
	for i, q := range s.Polls {
		v.Asked = append(v.Asked, newAsked(i+1, q))
	}
	for _, b := range s.Calibration {
		if b.N > 0 {
			v.Bins = append(v.Bins, bin{
				terms.Percent(b.From) + " to " + terms.Percent(b.To), terms.Count(b.N), terms.Percent(b.Stated),
				terms.Percent(b.Rate), terms.Percent(b.Low) + " to " + terms.Percent(b.High),
			})
		}
	}
	if s.Stated > 0 {
		v.Score = terms.Decimals(s.MeanScore, 2)
	}
	return v
}

func newAsked(n int, q class.PollSummary) askedPoll {
	a := askedPoll{PollSummary: q, N: n, Kind: kindWords[q.Kind]}
	for i, r := range q.Rounds {
		head := terms.Counted(r.Votes, "vote")
		if len(q.Rounds) > 1 {
			head = fmt.Sprintf("round %d, %s", i+1, terms.Counted(r.Votes, "vote"))
		}
		a.Heads = append(a.Heads, head)
	}
	right, token := false, q.Kind == class.Next || q.Kind == class.Draw
	for _, o := range q.Options {
		row := askedRow{Text: o.Text, HTML: o.HTML, Right: o.Right && !token, Drawn: o.Right && q.Kind == class.Next}
		right = right || o.Right
		if o.Token {
			row.Label = stage.Marked(o.Text)
		}
		for _, r := range q.Rounds {
			n := r.Of(o)
			part := share(n, r.Votes)
			row.Rounds = append(row.Rounds, askedCount{terms.Count(n) + ", " + terms.Percent(part), sized(part)})
		}
		if q.Kind == class.Next || q.Kind == class.Draw {
			row.Model = terms.Percent(o.Q)
		}
		a.Rows = append(a.Rows, row)
	}
	if q.Kind != class.Draw && q.Votes > 0 && len(q.Rounds) > 0 && (right || q.Poll.Right != nil) {
		last := q.Rounds[len(q.Rounds)-1]
		format := "%s of %s right"
		if token {
			format = "%s of %s named the token that was drawn"
		}
		a.Right = fmt.Sprintf(format, terms.Count(last.Right), terms.Count(last.Votes))
	}
	if (q.Kind == class.Next || q.Kind == class.Draw) && q.Votes > 0 {
		a.Far = terms.Decimals(q.Distance, 2)
	}
	return a
}

func (p *Pages) summary(w http.ResponseWriter, r *http.Request) {
	room, secret, _, ok := p.taught(w, r)
	if !ok {
		return
	}
	s, err := room.Summary(r.Context(), secret)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	v := newSummaryPage(s, p.reach(r).Base)
	v.Link = v.Base + "/class/" + room.Code() + "/replay?key=" + url.QueryEscape(room.ReplayKey())
	v.Work = newWorkSummary(p.Course, s.Assigned, v.Base+workPath(room.Code(), room.WorkKey()))
	p.HTML(w, r, http.StatusOK, summaryHTML(v))
}

// replay serves the replay of a class to those who have its link.
func (p *Pages) replay(w http.ResponseWriter, r *http.Request) {
	s, err := p.Hub.Replay(r.Context(), class.NormalCode(r.PathValue("code")), r.URL.Query().Get("key"), p.caller(w, r))
	if errors.Is(err, class.ErrNoRoom) {
		p.Refuse(
			w, r, http.StatusNotFound, "There is no such replay.",
			"The link may be incomplete, or the room was deleted. Ask the instructor for the link on the summary’s "+
				"page.",
		)
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.HTML(w, r, http.StatusOK, replayHTML(newSummaryPage(s, p.reach(r).Base)))
}

// summaryCSV serves the summary as a table.
func (p *Pages) summaryCSV(w http.ResponseWriter, r *http.Request) {
	room, secret, _, ok := p.taught(w, r)
	if !ok {
		return
	}
	s, err := room.Summary(r.Context(), secret)
	var b bytes.Buffer
	if err == nil {
		err = s.WriteCSV(&b, terms.SheetFormOf(r.URL.Query().Get("decimal")))
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", terms.SheetType)
	w.Header().Set("Content-Disposition", `attachment; filename="class-`+room.Code()+`.csv"`)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Header().Set("Cache-Control", "no-store")
	b.WriteTo(w)
}

// hasModel reports whether the model has probabilities for the options.
func hasModel(q askedPoll) bool { return len(q.Rows) > 0 && q.Rows[0].Model != "" }

// nextLine returns a sentence that compares the class's correct votes with the model's
// probabilities.
func nextLine(v summaryPage) string {
	return fmt.Sprintf("The class was asked for the next token in %s. %s of the votes named the token that was drawn. "+
		"By luck alone it would be %s: the mean probability that the model gave to the tokens voted for.",
		terms.Counted(v.NextAsked, "poll"), terms.Percent(v.NextRight), terms.Percent(v.NextExpected))
}
