package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Limits for the requests that are stored for display.
const (
	glassTime     = 15 * time.Minute // how long a request is stored after it ends
	glassLeft     = 2 * time.Minute  // how long a shelf outlives its last page, which may be reloading
	glassPages    = 256
	glassRequests = 8 // per shelf
	glassTokens   = 200
	glassFields   = 24
	glassChars    = 60 // per value of a field
)

// A glass stores clients' newest requests, in memory only, for the pages that show them. Its memory
// use is bounded by the number of open pages, because requests are stored only while a page shows
// their shelf. The zero value cannot be used; see [newGlass].
type glass struct {
	mu      sync.Mutex
	last    uint64 // the newest request's number
	shelves map[string]*shelf
}

// A shelf holds the requests that were sent with one code. The local shelf, with the code "",
// always exists. It holds the requests without a code, if the server can be reached only from its
// own machine.
type shelf struct {
	list  []*watched // newest first
	pages map[chan struct{}]struct{}
	left  *time.Timer // removes the shelf some time after its last page is closed; nil while a page is open
	since time.Time   // when the last page was closed
}

func newGlass() *glass {
	return &glass{shelves: map[string]*shelf{"": {pages: map[chan struct{}]struct{}{}}}}
}

// watched is a request that pages show. A nil *watched is a request that no page shows; its methods
// do nothing. The fields are guarded by the glass's lock.
type watched struct {
	g    *glass
	code string
	seen
}

// seen holds the data of a request that pages display. Copies of it are immutable.
type seen struct {
	ID      uint64
	Version int // increases with every change
	Path    string
	At      time.Time
	Fields  []field
	Idle    []string // fields that have no effect
	Tokens  []seenToken
	More    int       // number of tokens that are not stored
	First   time.Time // when the first token was generated
	Last    time.Time
	End     ending
	Usage   usage
	Link    string // a link to the run, once it has ended
	Problem *problem
	Done    bool
}

// A seenToken is a generated token.
type seenToken struct {
	infer.Token
	LogProb float64 // by the model at T = 1, before any rule
}

// p returns the token's probability.
func (t seenToken) p() float64 { return math.Exp(t.LogProb) }

// watch adds a page that shows the shelves with the given codes. The channel wake receives a value
// when something has changed. The caller ensures that there are at most [glassPages] pages. The
// same limit applies to the number of shelves, not counting the local one, so a new page may
// replace a shelf that no page shows.
func (g *glass) watch(codes ...string) (wake chan struct{}, stop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wake = make(chan struct{}, 1)
	for _, code := range codes {
		s := g.shelves[code]
		if s == nil {
			if len(g.shelves) > glassPages {
				g.clear()
			}
			s = &shelf{pages: map[chan struct{}]struct{}{}}
			g.shelves[code] = s
		}
		if s.left != nil {
			s.left.Stop()
			s.left = nil
		}
		s.pages[wake] = struct{}{}
	}
	return wake, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, code := range codes {
			s := g.shelves[code]
			delete(s.pages, wake)
			switch {
			case len(s.pages) > 0 || code == "":
			case len(s.list) == 0: // the shelf is empty
				delete(g.shelves, code)
			default:
				s.since = time.Now()
				s.left = time.AfterFunc(glassLeft, func() { g.drop(code, s) })
			}
		}
	}
}

// drop removes a shelf unless a page has begun to show it again.
func (g *glass) drop(code string, s *shelf) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shelves[code] == s && len(s.pages) == 0 {
		delete(g.shelves, code)
	}
}

// clear removes the shelf that has been without a page for the longest time. The caller holds the
// lock.
func (g *glass) clear() {
	oldest, found := "", false
	for code, s := range g.shelves {
		if s.left != nil && (!found || s.since.Before(g.shelves[oldest].since)) {
			oldest, found = code, true
		}
	}
	if found {
		g.shelves[oldest].left.Stop()
		delete(g.shelves, oldest)
	}
}

// list returns the requests on the given shelves, newest first.
func (g *glass) list(codes ...string) (list []seen) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, code := range codes {
		if s := g.shelves[code]; s != nil {
			for _, w := range s.list {
				list = append(list, w.seen)
			}
		}
	}
	slices.SortFunc(list, func(a, b seen) int { return int(b.ID) - int(a.ID) })
	return list[:min(len(list), glassRequests)]
}

// find returns a request if it is on one of the given shelves.
func (g *glass) find(id uint64, codes ...string) (seen, bool) {
	for _, s := range g.list(codes...) {
		if s.ID == id {
			return s, true
		}
	}
	return seen{}, false
}

// begin stores a request if a page shows its shelf. Otherwise, it returns nil.
func (g *glass) begin(code, path string) *watched {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.shelves[code]
	if s == nil {
		return nil
	}
	g.last++
	w := &watched{g: g, code: code, seen: seen{ID: g.last, Path: path, At: time.Now()}}
	s.list = slices.Insert(s.list, 0, w)
	s.list = s.list[:min(len(s.list), glassRequests)]
	g.wake(w)
	return w
}

// wake notifies the pages that a request has changed. The caller holds the lock.
func (g *glass) wake(w *watched) {
	w.Version++
	s := g.shelves[w.code]
	if s == nil {
		return
	}
	for page := range s.pages {
		select {
		case page <- struct{}{}:
		default: // the page has not handled the previous change yet
		}
	}
}

// change changes a request and notifies the pages that show it.
func (w *watched) change(f func(*seen)) {
	if w == nil {
		return
	}
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	f(&w.seen)
	w.g.wake(w)
}

// asks records the fields of the request, as JSON.
func (w *watched) asks(sent map[string]json.RawMessage) {
	if w == nil {
		return
	}
	fields := fieldsOf(sent)
	w.change(func(s *seen) { s.Fields = fields })
}

// idles records the fields that have no effect. Each field is recorded once, even if many messages
// of the request contain it.
func (w *watched) idles(names []string) {
	if len(names) == 0 {
		return
	}
	list := slices.Compact(slices.Sorted(slices.Values(names))) // no longer than the table of others
	w.change(func(s *seen) { s.Idle = list })
}

// wrote records a token of the first answer.
func (w *watched) wrote(m *infer.Model, step *infer.Step) {
	if w == nil {
		return
	}
	t := seenToken{Token: m.Token(step.Chosen)}
	t.LogProb, _ = m.Chances(step.Logits, step.Chosen, 0)
	w.change(func(s *seen) {
		if s.Last = time.Now(); s.First.IsZero() {
			s.First = s.Last
		}
		if len(s.Tokens) == glassTokens {
			s.More++
			return
		}
		s.Tokens = append(s.Tokens, t)
	})
}

// wroteAll records that the first answer is complete.
func (w *watched) wroteAll(st *session.State) {
	if w == nil {
		return
	}
	link, end := session.LinkOf(st), ending{finish(st.Stopped), st.Stopped, len(st.Steps)}
	w.change(func(s *seen) {
		s.Link, s.End = link, end
	})
}

// ends records the end of a request: its usage or the problem that ended it. Only the first call
// has an effect. The request is stored for [glassTime] from then on.
func (w *watched) ends(u usage, p *problem) {
	if w == nil {
		return
	}
	first := false
	w.change(func(s *seen) {
		if first = !s.Done; first {
			s.Usage, s.Problem, s.Done = u, p, true
		}
	})
	if !first {
		return
	}
	time.AfterFunc(glassTime, func() {
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		s := w.g.shelves[w.code]
		if s == nil {
			return
		}
		if i := slices.Index(s.list, w); i >= 0 {
			s.list = slices.Delete(s.list, i, i+1)
			w.g.wake(w)
		}
	})
}

// actsAt returns the stage at which a request's field acts. It returns 0 for a field that acts at
// no stage, such as the model's name.
func actsAt(field string) int { return cmp.Or(stageOf[field], sampling.StageOf(field)) }

// stageOf maps fields that are not named after a rule's knob to the stages at which they act.
var stageOf = map[string]int{
	"prompt": 1, "messages": 1, "echo": 1, "add_generation_prompt": 1, "continue_final_message": 1,
	templateValues:   1,
	"repeat_penalty": 2,
	"logprobs":       3, "top_logprobs": 3, namedIDs: 3, namedTexts: 3,
	"samplers": 4, "response_format": 4, "json_schema": 4, "regex": 4,
	"seed": 5, "n": 5,
	"max_tokens": 6, "max_completion_tokens": 6, "n_predict": 6, "stop": 6, "stream": 6, "stream_options": 6,
}

// fieldsOf returns the fields of a request that act at a stage. Their values are shown as they
// were sent, but long ones are shortened.
func fieldsOf(sent map[string]json.RawMessage) (list []field) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if at := actsAt(name); at > 0 && len(list) < glassFields {
			list = append(list, field{name, terms.Shortened(string(sent[name]), glassChars), at})
		}
	}
	return list
}
