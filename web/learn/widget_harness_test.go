package learn

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// A conn is a [wire.Conn] that is always ready and passes messages to a function.
type conn func(wire.Message) error

func (c conn) Send(m wire.Message) error { return c(m) }
func (conn) Ready() error                { return nil }

// withDraft makes the pages use the bundled pair of models.
func (s *site) withDraft() *site {
	s.T.Helper()
	s.pages.Draft = testmodel.Slots(s.T, testmodel.Draft(s.T))
	return s
}

// open replaces the function that opens experiments of a kind on this site.
func (s *site) open(kind lessons.WidgetKind, open func(environment) experiment) {
	s.pages.kinds = maps.Clone(s.pages.kinds)
	replaced := s.pages.kinds[kind]
	replaced.open = open
	s.pages.kinds[kind] = replaced
}

// specOf returns the course's first experiment of the given kind.
func (s *site) specOf(kind lessons.WidgetKind) *spec {
	s.T.Helper()
	for _, spec := range s.pages.specs(s.pages.Course) {
		if spec.Kind == kind {
			return spec
		}
	}
	s.T.Fatalf("the course has no experiment %s", kind)
	return nil
}

// alone returns an experiment's page with the given inputs.
func (s *site) alone(spec *spec, inputs map[string]string) *goquery.Document {
	s.T.Helper()
	return s.Get(aloneAt(spec, inputs))
}

func aloneAt(spec *spec, inputs map[string]string) string {
	q := url.Values{}
	if spec.Ask != "" {
		q.Set("guess", lessons.NoGuess)
	}
	for name, value := range inputs {
		q.Set(name, value)
	}
	return "/learn/widget/" + spec.ID + "?" + q.Encode()
}

// asks sends commands to an experiment's feed and returns the responses.
func (s *site) asks(spec *spec, commands ...map[string]string) []wire.Message {
	s.T.Helper()
	return s.asksAs(admission.Caller{Learner: courseworktest.Learner}, spec, commands...)
}

// asksAs is like asks for any caller.
func (s *site) asksAs(caller admission.Caller, spec *spec, commands ...map[string]string) []wire.Message {
	s.T.Helper()
	feed, err := s.pages.Feeds()["widget"](context.Background(),
		wire.Visit{Caller: caller, Query: url.Values{"id": {spec.ID}}})
	if err != nil {
		s.T.Fatal(err)
	}
	in := make(chan wire.Command)
	var answers []wire.Message
	done := make(chan error)
	go func() {
		done <- feed.Serve(context.Background(), in, conn(func(m wire.Message) error {
			answers = append(answers, m)
			return nil
		}))
	}()
	for i, values := range commands {
		fields, err := json.Marshal(map[string]any{"values": values})
		if err != nil {
			s.T.Fatal(err)
		}
		in <- wire.Command{Name: "set", N: uint64(i + 1), Fields: fields}
	}
	close(in)
	if err := <-done; err != nil {
		s.T.Fatal(err)
	}
	return answers
}

// body returns the panel of a response.
func (s *site) body(m wire.Message) *goquery.Document {
	s.T.Helper()
	if m.Error != nil || len(m.Panels) == 0 || !strings.HasSuffix(m.Panels[0].ID, "-body") {
		s.T.Fatalf("answer %+v with error %+v", m, m.Error)
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(m.Panels[0].HTML))
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// scores returns a prompt's logits, which it computes with the engine in the simplest way.
func (s *site) scores(prompt string) []float32 {
	s.T.Helper()
	m := s.pages.Model
	last, _, err := m.Forward(context.Background(), m.NewCache(), m.Encode(prompt))
	if err != nil {
		s.T.Fatal(err)
	}
	z, _, err := m.Logits(last)
	if err != nil {
		s.T.Fatal(err)
	}
	return z
}

// distribution returns the engine's distribution for a prompt with some settings.
func (s *site) distribution(prompt string, settings sampling.Settings) *sampling.Distribution {
	s.T.Helper()
	return sampling.Decide(s.scores(prompt), settings)
}

// opened replays the run in a link to the Loop, and returns the state.
func (s *site) opened(href string) *session.State {
	s.T.Helper()
	link, ok := strings.CutPrefix(href, "/loop?log=")
	if !ok {
		s.T.Fatalf("not a link to the Loop: %q", href)
	}
	l, err := session.ParseLink(s.pages.Model, link)
	if err != nil {
		s.T.Fatal(err)
	}
	st, err := session.New(s.pages.Model, session.DefaultLimits()).Apply(context.Background(), session.Open{Link: l})
	if err != nil {
		s.T.Fatal(err)
	}
	return st
}

// href returns the target of an element's first link to the Loop.
func href(sel *goquery.Selection) string {
	h, _ := sel.Find("a.w__open").First().Attr("href")
	return h
}

// rows returns the text of every cell of a table, row by row.
func rows(sel *goquery.Selection) [][]string {
	var list [][]string
	sel.Each(func(_ int, tr *goquery.Selection) {
		var cells []string
		tr.Children().Each(func(_ int, cell *goquery.Selection) { cells = append(cells, text(cell)) })
		list = append(list, cells)
	})
	return list
}

// status returns the status of a GET.
func (s *site) status(path string) int {
	return s.Do(httptest.NewRequest(http.MethodGet, path, nil)).Code
}

// waits checks that an experiment with a question shows no result on its lesson's page. It returns
// the experiment with its result, as it is after a press of "No idea".
func (s *site) waits(w lessons.Widget, asking *goquery.Selection) *goquery.Selection {
	s.T.Helper()
	spec := s.pages.specs(s.pages.Course)[w.ID]
	choices := asking.Find(`.commit button[name="guess"]`)
	if got, want := choices.Length(), len(w.Choices())+1; got != want {
		s.T.Errorf("%s: the question %q has %d choices, want %d", w.ID, w.Ask, got, want)
	}
	if text(asking.Find("legend")) == "" || asking.Find("table, svg[role=img], .is-found").Length() > 0 {
		s.T.Errorf("%s: got no question, or a result before a guess", w.ID)
	}
	fig := s.alone(spec, map[string]string{"guess": lessons.NoGuess}).Find("figure#" + w.ID)
	if fig.Find(`[aria-pressed="true"]`).Length() == 0 || fig.Find(`button[name="guess"]`).Length() > 0 {
		s.T.Errorf("%s: after a press, no choice is marked, or it can be changed", w.ID)
	}
	return fig
}
