package classroom

import (
	"bytes"
	"errors"
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

func newSummaryPage(w stage.Words, s *class.Summary, base string) summaryPage {
	titled := *s
	titled.Title = class.TextIn(w.Language, s.Title)
	v := summaryPage{
		Summary: &titled, Shown: class.ShownCode(s.Code), Base: base, When: w.DateTime(s.Begun),
	}
	for i, q := range s.Polls {
		v.Asked = append(v.Asked, newAsked(w, i+1, q))
	}
	for _, b := range s.Calibration {
		if b.N > 0 {
			v.Bins = append(v.Bins, bin{
				percents(w, b.From, b.To), terms.Count(b.N), terms.Percent(b.Stated), terms.Percent(b.Rate),
				percents(w, b.Low, b.High),
			})
		}
	}
	if s.Stated > 0 {
		v.Score = terms.Decimals(s.MeanScore, 2)
	}
	return v
}

// percents formats a range of shares.
func percents(w stage.Words, from, to float64) string {
	return w.T("classroom.summary.range", "from", terms.Percent(from), "to", terms.Percent(to))
}

func newAsked(w stage.Words, n int, q class.PollSummary) askedPoll {
	q.Text = class.TextIn(w.Language, q.Text)
	a := askedPoll{PollSummary: q, N: n, Kind: w.T("classroom.summary.kind." + string(q.Kind))}
	for i, r := range q.Rounds {
		head := w.T("classroom.summary.votes", "n", r.Votes)
		if len(q.Rounds) > 1 {
			head = w.T("classroom.summary.round", "n", r.Votes, "round", i+1)
		}
		a.Heads = append(a.Heads, head)
	}
	right, token := false, q.Kind == class.Next || q.Kind == class.Draw
	for _, o := range q.Options {
		text := class.TextIn(w.Language, o.Text)
		row := askedRow{
			Text: text, HTML: class.HTMLIn(w.Language, o.HTML), Right: o.Right && !token,
			Drawn: o.Right && q.Kind == class.Next,
		}
		right = right || o.Right
		if o.Token {
			row.Label = stage.Marked(text)
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
		key := "classroom.summary.right"
		if token {
			key = "classroom.summary.named"
		}
		a.Right = w.T(key, "n", last.Votes, "right", last.Right)
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
	v := newSummaryPage(stage.In(r.Context()), s, p.reach(r).Base)
	v.Link = v.Base + "/class/" + room.Code() + "/replay?key=" + url.QueryEscape(room.ReplayKey())
	v.Work = newWorkSummary(
		stage.In(r.Context()), p.Course.In(r.Context()), s.Assigned, v.Base+workPath(room.Code(), room.WorkKey()),
	)
	p.HTML(w, r, http.StatusOK, summaryHTML(v))
}

// replay serves the replay of a class to those who have its link.
func (p *Pages) replay(w http.ResponseWriter, r *http.Request) {
	s, err := p.Hub.Replay(r.Context(), class.NormalCode(r.PathValue("code")), r.URL.Query().Get("key"), p.caller(w, r))
	if errors.Is(err, class.ErrNoRoom) {
		words := stage.In(r.Context())
		p.Refuse(
			w, r, http.StatusNotFound, words.T("classroom.replay.none"), words.T("classroom.replay.none.say"),
		)
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.HTML(w, r, http.StatusOK, replayHTML(newSummaryPage(stage.In(r.Context()), s, p.reach(r).Base)))
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
	sendCSV(w, "class-"+room.Code()+".csv", &b)
}

// sendCSV sends a table as a file to save.
func sendCSV(w http.ResponseWriter, name string, b *bytes.Buffer) {
	w.Header().Set("Content-Type", terms.SheetType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Header().Set("Cache-Control", "no-store")
	b.WriteTo(w)
}

// hasModel reports whether the model has probabilities for the options.
func hasModel(q askedPoll) bool { return len(q.Rows) > 0 && q.Rows[0].Model != "" }
