package practice

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// The number of candidates in a round, the maximum number of tokens after the prompt, and the
// maximum time for replaying a run.
const (
	predictHand = 6
	predictMost = 200
	predictTime = 10 * time.Second
)

// predicting ensures that the model runs for only one round at a time, so that rounds hardly slow
// down live runs.
var predicting = make(chan struct{}, 1)

// A predictFrom identifies the text that a round continues: one of the course's starts, or a link
// to the Loop, followed by N generated tokens.
type predictFrom struct {
	Start, Log string
	N          int
}

// query returns the query string of round n's address.
func (f predictFrom) query(n int) string {
	q := url.Values{"start": {f.Start}, "log": {f.Log}}
	if n > 0 {
		q.Set("n", strconv.Itoa(n))
	}
	return query(q)
}

// A predictRound is one round, in which the learner makes one guess. Shown contains the answer and
// is nil until the guess has been submitted.
type predictRound struct {
	From   predictFrom
	Title  string
	Prompt string
	Made   []stage.Text // the tokens after the prompt
	Step   int
	Hand   []predictChoice
	Ended  string // why there is no next token, or ""
	Say    string // which part of the guess is missing
	Sure   int    // percent
	Shown  *predictShown

	step *infer.Step
}

// A predictChoice is a candidate.
type predictChoice struct {
	ID   int
	Text stage.Text
	Pick bool
}

// A predictShown contains the information revealed after a guess.
type predictShown struct {
	Right, Again bool // Again: the learner has guessed this before, so this guess does not count
	Token, Guess stage.Text
	Forced       bool
	Rows         []predictRow
	Others       int    // number of tokens that are not candidates
	Rest         string // their probability
	Result       predict.Result
	Points       string // out of 100
	Score, Blind string
	Settings     string
	Chart        calibrationChart
}

// A predictRow is a candidate with the model's probability.
type predictRow struct {
	Text       stage.Text
	Rank       string
	P          float64
	Kept       bool
	Drawn, You bool
}

// predict handles GET /predict. It offers texts to choose from or, with ?start=KEY or ?log=LINK,
// shows a round in which the learner guesses the next token.
func (p *Pages) predict(w http.ResponseWriter, r *http.Request) {
	words, q := stage.In(r.Context()), r.URL.Query()
	if q.Get("start") == "" && q.Get("log") == "" {
		cal, err := p.Progress.Calibration(r.Context(), p.Who(w, r))
		if err != nil {
			p.Fail(w, r, err)
			return
		}
		p.HTML(w, r, http.StatusOK, predictStart(p.Course.In(r.Context()).Starts, newCalibrationChart(words, cal)))
		return
	}
	if v := p.round(w, r, q); v != nil {
		p.HTML(w, r, http.StatusOK, predictPage(v))
	}
}

// predictReveal handles POST /predict. It saves a guess and reveals the answer.
func (p *Pages) predictReveal(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	v := p.round(w, r, r.PostForm)
	if v == nil {
		return
	}
	if v.Ended == "" && !p.guess(w, r, v) {
		return
	}
	p.HTML(w, r, http.StatusOK, predictPage(v))
}

// guess reads a guess, saves it, and sets v.Shown. If it returns false, it has already sent a
// response.
func (p *Pages) guess(w http.ResponseWriter, r *http.Request, v *predictRound) bool {
	words := stage.In(r.Context())
	sure, err := strconv.Atoi(r.PostForm.Get("sure"))
	if err != nil || sure < 0 || sure > 100 {
		p.Refuse(
			w, r, http.StatusBadRequest, words.T("practice.predict.sure.bad"), words.T("practice.predict.sure.bad.say"),
		)
		return false
	}
	v.Sure = sure
	at := slices.IndexFunc(v.Hand, func(c predictChoice) bool { return strconv.Itoa(c.ID) == r.PostForm.Get("pick") })
	if at < 0 {
		v.Say = words.T("practice.predict.pick.missing")
		return true
	}
	v.Hand[at].Pick = true
	result, err := predict.Grade(float64(sure)/100, v.Hand[at].ID == v.step.Chosen)
	if err != nil {
		p.Fail(w, r, err)
		return false
	}
	learner := p.Who(w, r)
	counted, err := p.Progress.Predict(r.Context(), learner, progress.Prediction{
		ID: v.id(), Confidence: result.Confidence, Right: result.Right, Score: result.Score,
	})
	if err != nil {
		p.Fail(w, r, err)
		return false
	}
	cal, err := p.Progress.Calibration(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return false
	}
	v.Shown = v.reveal(words, p.Model, v.Hand[at], result)
	v.Shown.Chart = newCalibrationChart(words, cal)
	v.Shown.Again = !counted
	return true
}

// id identifies the round by the token to guess, the text before it and the settings. A learner who
// goes back and guesses again knows the answer, so only the first guess with an id counts. Saved
// ids must stay valid, so the hashed string must not change. A setting that is introduced later
// must therefore be appended at the end, and only if it is on.
func (v *predictRound) id() string {
	h, s := sha256.New(), v.step.Settings
	fmt.Fprintf(
		h, "%q {Settings:{Temperature:%v TopK:%v TopP:%v MinP:%v} Seed:%v Stop:{MaxTokens:%v Strings:%v}} %d",
		v.Prompt, s.Temperature, s.TopK, s.TopP, s.MinP, s.Seed, s.Stop.MaxTokens, s.Stop.Strings, v.step.Chosen,
	)
	if s.TypicalP > 0 {
		fmt.Fprintf(h, " typical-p %v", s.TypicalP)
	}
	if s.RepetitionPenalty > 0 {
		fmt.Fprintf(h, " repetition-penalty %v", s.RepetitionPenalty)
	}
	if s.FrequencyPenalty != 0 {
		fmt.Fprintf(h, " frequency-penalty %v", s.FrequencyPenalty)
	}
	if s.PresencePenalty != 0 {
		fmt.Fprintf(h, " presence-penalty %v", s.PresencePenalty)
	}
	for _, k := range terms.Knobs() {
		x, ok := s.Settings.Value(k.Key)
		of, _, isPart := sampling.Part(k.Key)
		if k.Late && ok && (s.On(sampling.RuleOf(k.Key)) || isPart && s.On(of)) {
			fmt.Fprintf(h, " %s %v", k.Key, x)
		}
	}
	if s.Order != sampling.OrderOwn {
		fmt.Fprintf(h, " samplers %s", s.Order)
	}
	for _, t := range v.Made {
		fmt.Fprintf(h, " %q", t)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// reveal computes the candidates' probabilities.
func (v *predictRound) reveal(w stage.Words, m *infer.Model, guess predictChoice, result predict.Result) *predictShown {
	d := v.step.Distribution()
	s := &predictShown{
		Right: result.Right, Result: result, Guess: guess.Text, Token: stage.TokenText(m.Token(v.step.Chosen)),
		Forced: v.step.Forced,
		Points: terms.Decimals(float64(predict.Points(result.Score, len(v.Hand))), 0),
		Score:  terms.Decimals(result.Score, 2), Blind: terms.Decimals(predict.Blind(len(v.Hand)), 2),
		Settings: w.Settings(v.step.Settings.Settings),
	}
	hand := slices.Clone(v.Hand)
	slices.SortFunc(hand, func(a, b predictChoice) int { return d.RankOf(int32(a.ID)) - d.RankOf(int32(b.ID)) })
	mass := 0.0
	for _, c := range hand {
		rank := d.RankOf(int32(c.ID))
		mass += d.P[c.ID]
		s.Rows = append(s.Rows, predictRow{
			Text: c.Text, Rank: terms.Count(rank + 1), P: d.P[c.ID], Kept: d.Stays(rank), Drawn: c.ID == v.step.Chosen,
			You: c.Pick,
		})
	}
	s.Others, s.Rest = len(d.Order)-len(hand), terms.Prob(max(0, 1-mass))
	return s
}

// round returns the round that a form or an address describes. If it describes none, round sends an
// error page and returns nil.
func (p *Pages) round(w http.ResponseWriter, r *http.Request, q url.Values) *predictRound {
	v := &predictRound{From: predictFrom{Start: q.Get("start"), Log: q.Get("log")}, Sure: 50}
	words := stage.In(r.Context())
	n, err := strconv.Atoi(q.Get("n"))
	if q.Get("n") != "" && (err != nil || n < 0 || n > predictMost) {
		p.Refuse(
			w, r, http.StatusBadRequest, words.T("practice.predict.token.missing"),
			words.T("practice.predict.token.missing.say", "most", predictMost),
		)
		return nil
	}
	v.From.N = n
	ctx, cancel := context.WithTimeout(r.Context(), predictTime)
	defer cancel()
	select {
	case predicting <- struct{}{}:
		defer func() { <-predicting }()
		err = v.make(ctx, p)
	case <-ctx.Done():
		err = ctx.Err()
	}
	refused := new(terms.Refusal)
	switch {
	case err == nil:
		return v
	case errors.As(err, &refused):
		p.Refuse(w, r, http.StatusBadRequest, words.T("practice.predict.refused"), refused.In(words.Language))
	case errors.Is(err, errNoStart):
		p.Refuse(
			w, r, http.StatusNotFound, words.T("practice.predict.missing"), words.T("practice.predict.missing.say"),
		)
	case errors.Is(err, context.DeadlineExceeded):
		p.Refuse(
			w, r, http.StatusServiceUnavailable, words.T("practice.predict.busy"), words.T("practice.predict.busy.say"),
		)
	case r.Context().Err() != nil: // the client has disconnected
	default:
		p.Log.Error("prediction round failed", "err", err)
		p.Refuse(
			w, r, http.StatusInternalServerError, words.T("learn.home.failed"), words.T("learn.home.failed.turn"),
		)
	}
	return nil
}

var errNoStart = errors.New("unknown start")

// make runs the model up to the token to guess.
func (v *predictRound) make(ctx context.Context, p *Pages) error {
	run := session.New(p.Model, session.DefaultLimits())
	st, first, err := v.begin(ctx, p, run)
	if err != nil {
		return err
	}
	v.Step = first + v.From.N
	refused := new(terms.Refusal)
	for st.Frontier().Step < v.Step || st.Frontier().Stage < infer.KindAppend {
		st, err = run.Apply(ctx, session.StepToken{})
		if errors.As(err, &refused) && refused.Code == session.CodeStopped {
			v.Ended = refused.In(terms.In(ctx))
			break
		}
		if err != nil {
			return err
		}
	}
	v.Prompt = st.Prompt
	for _, s := range st.Steps[:min(v.Step-1, len(st.Steps))] {
		v.Made = append(v.Made, stage.TokenText(p.Model.Token(s.Chosen)))
	}
	if v.Ended != "" {
		return nil
	}
	v.step = st.Steps[v.Step-1]
	seed := v.step.Settings.Seed*predictMost + uint64(v.Step)
	for _, id := range predict.Deal(v.step.Distribution(), int32(v.step.Chosen), predictHand, seed) {
		v.Hand = append(v.Hand, predictChoice{ID: int(id), Text: stage.TokenText(p.Model.Token(int(id)))})
	}
	return nil
}

// begin starts the run and returns the number of the first token that must remain hidden.
func (v *predictRound) begin(ctx context.Context, p *Pages, run *session.Session) (*session.State, int, error) {
	if v.From.Log == "" {
		start := p.Course.In(ctx).Start(v.From.Start)
		if start == nil {
			return nil, 0, errNoStart
		}
		v.Title = start.Title
		st, err := apply(ctx, run, startOf(start)...)
		return st, 1, err
	}
	link, err := session.ParseLink(p.Model, v.From.Log)
	if err != nil {
		return nil, 0, err
	}
	st, err := apply(ctx, run, session.Open{Link: link})
	if err != nil {
		return nil, 0, err
	}
	v.Title = terms.In(ctx).T("practice.predict.from_loop")
	first := st.Cursor.Step
	if st.Cursor.Stage >= infer.KindSample {
		first++
	}
	st, err = apply(ctx, run, session.Seek{Step: st.Frontier().Step, Stage: st.Frontier().Stage})
	return st, first, err
}

// startOf returns the commands that begin a run from one of the course's starts.
func startOf(start *lessons.LoopStart) []session.Command {
	return session.Begin(start.Settings, start.Prompt)
}

func apply(ctx context.Context, run *session.Session, commands ...session.Command) (st *session.State, err error) {
	for _, c := range commands {
		if st, err = run.Apply(ctx, c); err != nil {
			return nil, err
		}
	}
	return st, nil
}
