package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// mountPage registers the /api page, which describes the API, has examples for this server, and
// shows one request in detail.
func (s *Server) mountPage(mux *http.ServeMux) {
	s.base = shell.NewBase(shell.LearnerOf(s.Caller), s.Log, refusalHTML)
	s.base.Route(mux, shell.Unknown{
		NoForms: "shell.noforms", Head: "api.none.head",
		Say: "api.none",
	}, shell.Routes{"GET /api": s.page, "GET /api/step": s.step})
}

// pageTokens is the maximum number of tokens that the page's own request generates.
const pageTokens = 48

// pageTop is the number of alternatives that the page requests.
const pageTop = 3

// An ask holds the values in the page's form and in its examples.
type ask struct {
	Prompt                          string
	Temperature, TopP, Seed, Tokens string // as typed
}

// example is the initial content of the form.
var example = ask{"The wizard lived in a", "0.8", "0.95", "4", "24"}

// asked reads the form. sent reports whether the form was submitted.
func asked(q url.Values) (a ask, sent bool) {
	a = example
	for key, to := range map[string]*string{
		"prompt": &a.Prompt, "temperature": &a.Temperature, "top_p": &a.TopP, "seed": &a.Seed, "max_tokens": &a.Tokens,
	} {
		if q.Has(key) {
			*to, sent = q.Get(key), true
		}
	}
	return a, sent
}

// A field is one of the request's fields, with the number of the stage at which it acts.
type field struct {
	Name, Value string
	Stage       int
}

// shown returns the field's value, shortened if it is long. If the API maps a seed to another seed, it
// returns both.
func (f field) shown(w stage.Words) string {
	text := f.Value
	if here := string(seedHere(json.RawMessage(text))); f.Name == "seed" && here != text {
		text = w.T("api.seed", "sent", text, "here", here)
	}
	return terms.Shortened(text, glassChars)
}

// fields returns the fields of the request as JSON. An invalid number is passed on as it was typed,
// so that the API refuses it.
func (a ask) fields() []field {
	number := func(text string) string {
		if text = strings.TrimSpace(text); json.Valid([]byte(text)) {
			return text
		}
		return quoted(text)
	}
	return []field{
		{"prompt", quoted(a.Prompt), 1},
		{"temperature", number(a.Temperature), 3},
		{"top_p", number(a.TopP), 4},
		{"seed", number(a.Seed), 5},
		{"max_tokens", number(a.Tokens), 6},
		{"logprobs", strconv.Itoa(pageTop), 3},
	}
}

// quoted returns text as a JSON string, which is also valid in Python and JavaScript.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("api: " + err.Error()) // text is a string
	}
	return strings.TrimSpace(b.String())
}

// body returns the body of the request.
func (s *Server) body(a ask) string {
	lines := []string{`  "model": ` + quoted(s.Model.Name())}
	for _, f := range a.fields() {
		lines = append(lines, fmt.Sprintf("  %q: %s", f.Name, f.Value))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

// A view holds the data of the page.
type view struct {
	Base     string // base URL of the API
	Off      bool   // the API is off on this server
	Key      bool   // the API needs a key
	Code     string // the visitor's code
	Requests []seen // newest first
	Model    string
	Roles    bool // the model has a chat template
	Ask      ask
	Snippets []snippet
	Sent     *exchange           // nil until the form is submitted
	Space    *session.SpaceAtEnd // why the prompt should not end with a space, or nil
	Without  string              // this page's address without the space at the prompt's end
	Orders   []orderRow
}

// An exchange is the page's own request and its result.
type exchange struct {
	Wrong   string // why the request was refused
	English bool   // Wrong is the API's own message, which is in English
	Param   string
	Stages  []stageFields
	Tokens  []sentToken
	End     ending
	Usage   usage
	Raw     string // the response
}

// A stageFields is a stage and the fields that act there.
type stageFields struct {
	N      int
	Name   string
	Fields []field
}

// A sentToken is a token of the answer.
type sentToken struct {
	Text    stage.Text
	LogProb string
	P       string
	Ramp    string
	Top     []likely
	Step    string // address of its draw in the Loop
}

// likely is one of the candidates for a token.
type likely struct {
	Text stage.Text
	P    string
}

// page handles GET /api.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	a, sent := asked(r.URL.Query())
	who, _ := s.Caller(r)
	open := s.open(who)
	v := view{
		Base:  shell.AddressOf(r).String() + "/v1",
		Model: s.Model.Name(), Roles: s.Model.HasTemplate(), Ask: a, Orders: orderRows(stage.In(r.Context())),
		Off: !open && len(s.keys) == 0, Key: !open && len(s.keys) > 0,
	}
	if v.Off { // show examples for the visitor's own machine
		v.Base = "http://127.0.0.1:8080/v1"
	}
	who.Learner = s.base.Who(w, r)
	v.Code, v.Requests = s.code(who.Learner), s.glass.list(s.codes(who)...)
	v.Snippets = s.snippets(v, a)
	status := http.StatusOK
	if sent {
		v.Sent, status = s.send(r, a)
		if space, ok := session.NewSpaceAtEnd(terms.In(r.Context()), s.Model, a.Prompt); ok {
			q := r.URL.Query()
			q.Set("prompt", space.Prompt)
			v.Space, v.Without = &space, "/api?"+q.Encode()
		}
	}
	s.base.HTML(w, r, status, pageHTML(v))
}

// send sends the page's request as a client would, but without a key. The request is charged to the
// learner, who counts as one client.
func (s *Server) send(r *http.Request, a ask) (*exchange, int) {
	words := stage.In(r.Context())
	x := &exchange{Stages: stagesOf(words, a.fields()), English: true}
	refuse := func(err error) (*exchange, int) {
		p, logged := problemOf(err)
		if logged {
			s.Log.Error("request from the /api page failed", "err", err)
		}
		if x.Wrong = p.Message; p.Param != nil {
			x.Param = *p.Param
		}
		return x, p.status
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.Tokens)); err == nil && n > pageTokens {
		x.Wrong, x.English, x.Param = words.T("api.send.many", "most", pageTokens), false, "max_tokens"
		return x, http.StatusBadRequest
	}
	who, _ := s.Caller(r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "/v1/completions", strings.NewReader(s.body(a)))
	if err != nil {
		return refuse(err)
	}
	post.Header.Set("Content-Type", "application/json")
	got := &response{header: http.Header{}, status: http.StatusOK}
	var last *session.State
	q, err := s.respond(got, post, who, false, onlookers{seen: func(st *session.State) { last = st }})
	if err != nil {
		return refuse(err)
	}
	var answer struct {
		Choices []struct {
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage usage `json:"usage"`
	}
	if err := json.Unmarshal(got.body.Bytes(), &answer); err != nil || len(answer.Choices) != 1 || last == nil {
		return refuse(fmt.Errorf("failed to parse the API response: %w", cmp.Or(err, errNoChoice)))
	}
	x.End, x.Usage = ending{answer.Choices[0].Finish, last.Stopped, len(last.Steps)}, answer.Usage
	var indented bytes.Buffer
	_ = json.Indent(&indented, got.body.Bytes(), "", "  ") // cannot fail: the body was parsed before
	x.Raw = indented.String()
	x.Tokens = s.sentTokens(q, last)
	return x, http.StatusOK
}

// A response is an [http.ResponseWriter] that stores the response.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *response) Header() http.Header         { return w.header }
func (w *response) WriteHeader(status int)      { w.status = status }
func (w *response) Write(b []byte) (int, error) { return w.body.Write(b) }

// errNoChoice indicates a bug in this program.
var errNoChoice = fmt.Errorf("the response must have exactly one choice")

// sentTokens returns the tokens of the answer, each with a link to its draw in the Loop.
func (s *Server) sentTokens(q *request, st *session.State) (list []sentToken) {
	w := &writer{model: s.Model, logprobs: q.logprobs}
	for i, step := range st.Steps {
		for _, t := range w.delta(step).tokens {
			at := *st
			at.Cursor = session.Cursor{Step: len(list) + 1, Stage: infer.KindSample}
			p := math.Exp(t.LogProb)
			one := sentToken{
				Text: stage.TokenText(t.Token), LogProb: terms.Decimals(t.LogProb, 4), P: terms.Prob(p),
				Ramp: stage.Ramp(p),
			}
			if len(list) <= i {
				one.Step = "/loop?log=" + session.LinkOf(&at)
			}
			for _, other := range t.Top {
				one.Top = append(one.Top, likely{stage.TokenText(other.Token), terms.Prob(math.Exp(other.LogProb))})
			}
			list = append(list, one)
		}
	}
	return list
}

// An ending describes how an answer ended.
type ending struct {
	Reason  string // finish_reason; "" while the request is being answered
	Stopped infer.StopReason
	Tokens  int
}

// why explains finish_reason.
func (e ending) why(w stage.Words) string {
	switch e.Stopped {
	case infer.StopMaxTokens:
		return w.T("api.ended.max_tokens", "n", e.Tokens)
	case infer.StopEOS:
		return w.T("api.ended.eos")
	case infer.StopContext:
		return w.T("api.ended.context")
	}
	return w.T("api.ended", "reason", e.Reason)
}

// stagesOf returns the stages, each with the fields that act at it.
func stagesOf(w stage.Words, fields []field) (list []stageFields) {
	for n := 1; n <= terms.Stages; n++ {
		at := stageFields{N: n, Name: w.Stage(n).Short}
		for _, f := range fields {
			if f.Stage == n {
				at.Fields = append(at.Fields, f)
			}
		}
		list = append(list, at)
	}
	return list
}

// An orderRow holds a rule's position in each of the orders.
type orderRow struct {
	Rule      string
	Positions []string // in this program, llama.cpp, Hugging Face and GPT-2; "–" where the rule is missing
}

// orderRows returns the rows of a table that compares the orders. The rows are built from the
// sampler's own data.
func orderRows(w stage.Words) (list []orderRow) {
	for _, rule := range sampling.OrderOwn.Rules() {
		row := orderRow{Rule: rule.In(w.Language)}
		for _, o := range sampling.NamedOrders() {
			position := strconv.Itoa(slices.Index(o.Rules(), rule) + 1)
			if !o.Has(rule) {
				position = "–"
			}
			row.Positions = append(row.Positions, position)
		}
		list = append(list, row)
	}
	return list
}

func frame(w stage.Words) shell.Of {
	return shell.Of{
		Title: shell.TitleOf(w.T("api.title")), Active: "loop", Class: "page-api", Skip: w.T("api.skip"), Mono: true,
		Styles: []string{"css/stage.css", "css/api.css"}, Scripts: []string{"js/api.js"}, Keys: shell.SharedKeys,
	}
}
