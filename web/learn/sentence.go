package learn

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A learner's own sentence fits the picture if it has from leastTokens to mostTokens tokens, without
// the start token, and at most mostLetters letters. A shorter one has too few columns to look back
// at. A longer one does not fit on a phone.
const (
	leastTokens = 4
	mostTokens  = 16
	mostLetters = 60
)

// ownTime is how long a page waits for all pictures of a learner's own sentence, including the wait
// for the model. Pictures that are not drawn by then show the lesson's sentence.
const ownTime = 3 * time.Second

// drawTime is roughly the time needed to draw one state. It only affects the order of the queue.
const drawTime = 20 * time.Millisecond

// Why a picture does not show the learner's sentence. Each is the end of a text's key.
const (
	ownShort  = "short"
	ownLong   = "long"
	ownLesson = "lesson" // the lesson is about its own sentence
	ownPoint  = "point"  // the state's claim is not true of the learner's sentence
	ownBusy   = "busy"   // there was no time to draw it
)

// An ownSentence is a learner's own sentence in the picture of a lesson. Its pictures belong to one
// learner and are not cached. They are drawn while the page is being sent, all in one turn of the
// queue in which other requests wait for the model, so a learner never has two turns at once.
type ownSentence struct {
	Text    string // "" if the learner has none
	Tokens  int
	Letters int
	Why     string // why no state shows it; "" if states can

	page   *Pages
	lesson *lessons.Lesson
	who    admission.Caller
	drawn  map[string]ownPicture // by the state's id; nil before the first state is sent
}

// An ownPicture is a state with the learner's sentence, or the reason why there is none.
type ownPicture struct {
	HTML string
	Why  string // why the state shows the lesson's sentence; "" if it shows the learner's
	Err  error  // why the state shows nothing
}

// sentenceOf returns a learner's sentence, or "" if there is none or it cannot be read now.
func (p *Pages) sentenceOf(ctx context.Context, learner string) string {
	text, err := p.Progress.Sentence(ctx, learner)
	if err != nil {
		p.Log.Debug("did not read a sentence", "err", err) // the database logs its own failures
	}
	return text
}

// ownSentence returns the sender's sentence for the picture of a lesson.
func (p *Pages) ownSentence(r *http.Request, learner string, l *lessons.Lesson) *ownSentence {
	text := p.sentenceOf(r.Context(), learner)
	who, _ := p.Caller(r)
	who.Learner = learner
	o := &ownSentence{Text: text, page: p, lesson: l, who: who}
	if text == "" {
		return o
	}
	o.Letters = utf8.RuneCountInString(text)
	for _, id := range p.Model.Encode(text) {
		if !p.Model.Token(id).Special {
			o.Tokens++
		}
	}
	switch {
	case o.Tokens < leastTokens:
		o.Why = ownShort
	case o.Tokens > mostTokens || o.Letters > mostLetters:
		o.Why = ownLong
	}
	return o
}

// Takes reports whether any state of the lesson's picture can show a learner's own sentence.
func (o *ownSentence) Takes() bool {
	return slices.ContainsFunc(o.lesson.Pictures(), o.lesson.TakesSentence)
}

// Most is the maximum length of a sentence, in bytes.
func (o *ownSentence) Most() int { return progress.MaxSentence }

// Limits says how long a sentence can be, if the learner's has another length.
func (o *ownSentence) Limits(w stage.Words) string {
	if o.Why == "" {
		return ""
	}
	return w.T(
		"learn.own.limits", "tokens", w.Counted(o.Tokens, "token"), "letters", o.Letters,
		"least", leastTokens, "most", mostTokens, "all", mostLetters,
	)
}

// picture returns a state with the learner's sentence or, if there is none, the reason.
func (o *ownSentence) picture(ctx context.Context, pic lessons.Picture) ownPicture {
	switch {
	case !o.lesson.TakesSentence(pic):
		return ownPicture{Why: ownLesson}
	case o.Why != "":
		return ownPicture{Why: o.Why}
	}
	if o.drawn == nil {
		o.drawn = map[string]ownPicture{}
		o.drawAll(ctx)
	}
	if own, ok := o.drawn[pic.ID]; ok {
		return own
	}
	return ownPicture{Why: ownBusy}
}

// drawAll draws all states that can show the sentence.
func (o *ownSentence) drawAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, o.page.ownTime)
	defer cancel()
	all := o.lesson.Pictures()
	turn, release, err := o.page.Replays.EnterRequest(ctx, o.who, time.Duration(len(all))*drawTime)
	if err != nil {
		return
	}
	defer release()
	a := newArtist(o.page.environment(shell.Numbers), o.Text)
	a.strict = true
	for _, pic := range all {
		if !o.lesson.TakesSentence(pic) {
			continue
		}
		var html string
		err := fault.Do(o.page.Log, "a learner's picture", func() (err error) {
			html, err = a.render(turn, pic)
			return err
		})
		switch {
		case turn.Err() != nil:
			return
		case errors.Is(err, errPoint):
			o.drawn[pic.ID] = ownPicture{Why: ownPoint}
		default:
			o.drawn[pic.ID] = ownPicture{HTML: html, Err: err}
		}
	}
}

// whose returns a line above a state that says whose sentence it shows, or nothing for a learner
// without a sentence.
func (o *ownSentence) whose(pic lessons.Picture) templ.Component {
	if o.Text == "" {
		return templ.NopComponent
	}
	return deferred(func(ctx context.Context) templ.Component {
		return pictureWhose(o.picture(ctx, pic).Why)
	})
}

// sentence handles POST /learn/sentence, which changes or removes the learner's sentence and returns
// to the lesson.
func (p *Pages) sentence(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	if err := p.Progress.SetSentence(r.Context(), p.Who(w, r), r.PostForm.Get("sentence")); err != nil {
		p.Fail(w, r, err)
		return
	}
	to := "/learn"
	if l := p.Course.In(r.Context()).Lesson(r.PostForm.Get("lesson")); l != nil {
		to = l.Href()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
