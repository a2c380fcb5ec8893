package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// If a client appends a page's code to its key, as in KEY~CODE, its requests are shown only on that
// page.
const (
	codeMark   = "~"
	codeLength = 22 // characters of 6 bits: 132 bits, which cannot be guessed
)

// code returns the code that a learner's clients append to their keys.
func (s *Server) code(learner string) string {
	return base64.RawURLEncoding.EncodeToString(s.MAC("api glass " + learner))[:codeLength]
}

// codes returns the codes of the shelves that a learner's page shows: the learner's shelf and, if
// the server can be reached only from its own machine, the shelf for clients without a code.
func (s *Server) codes(who admission.Caller) []string {
	if s.open(who) {
		return []string{s.code(who.Learner), ""}
	}
	return []string{s.code(who.Learner)}
}

// keyOf returns the key of a request, or "" if it has none. The scheme before the key is
// case-insensitive and can be missing.
func keyOf(r *http.Request) string {
	header := strings.TrimSpace(r.Header.Get("Authorization"))
	scheme, key, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimLeft(key, " ")
	}
	return header
}

// cutCode separates a key from the code that was appended to it.
func cutCode(key string) (before, code string, ok bool) {
	i := strings.LastIndex(key, codeMark)
	if i < 0 || len(key)-i-len(codeMark) != codeLength {
		return key, "", false
	}
	return key[:i], key[i+len(codeMark):], true
}

// shelfOf returns the code of the shelf for a request, if there is one.
func (s *Server) shelfOf(r *http.Request, who admission.Caller) (code string, ok bool) {
	if _, code, ok = cutCode(keyOf(r)); ok {
		return code, true
	}
	return "", s.open(who)
}

// Feeds returns the live parts of the page by name. The part named glass sends the requests while
// they are being answered. It accepts no commands.
func (s *Server) Feeds() map[string]wire.Open {
	return map[string]wire.Open{"glass": s.openGlass}
}

func (s *Server) openGlass(_ context.Context, v wire.Visit) (wire.Part, error) {
	switch {
	case !s.open(v.Caller) && len(s.keys) == 0:
		return nil, terms.Refuse(terms.CodeUnknown, "api.feed.off")
	case v.Fresh:
		return nil, terms.Refuse("cookie", "api.feed.cookies")
	}
	return &glassFeed{s: s, who: v.Caller, codes: s.codes(v.Caller)}, nil
}

// glassShare limits the number of connected pages. The limits per address and per browser leave
// some connections for other visitors.
var glassShare = admission.Share{Most: glassPages, Newcomers: 192, PerAddress: 96, PerLearner: 8}

// errLookers is the error for a page that cannot connect because too many pages are connected.
var errLookers = terms.Refuse(terms.CodeFull, "api.feed.full")

// A glassFeed is a page that shows requests.
type glassFeed struct {
	s     *Server
	who   admission.Caller
	codes []string
}

// glassPace is the minimum time between two updates of a page.
const glassPace = 100 * time.Millisecond

// Serve implements [wire.Part]. If a page already shows all requests, Serve sends it only those
// that have changed.
func (f *glassFeed) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	place, refused := f.s.lookers.Hold(f.who, nil)
	if refused != admission.Admitted {
		return out.Send(wire.Message{Error: errLookers})
	}
	defer place.Release()
	wake, stop := f.s.glass.watch(f.codes...)
	defer stop()
	shown := map[uint64]int{} // id → version
	pace := time.NewTimer(0)
	defer pace.Stop()
	for first := true; ; first = false {
		if err := out.Ready(); err != nil {
			return err
		}
		panels, err := f.panels(ctx, shown, first)
		if err != nil {
			return err
		}
		if len(panels) > 0 {
			if err := out.Send(wire.Message{Panels: panels}); err != nil {
				return err
			}
		}
		pace.Reset(glassPace)
		for due, changed := false, false; !due || !changed; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-wake:
				changed = true
			case <-pace.C:
				due = true
			case c, ok := <-in:
				if !ok {
					return nil
				}
				e := terms.Refuse(terms.CodeUnknown, "api.feed.silent")
				if err := out.Send(wire.Message{Ack: c.N, Error: e}); err != nil {
					return err
				}
			}
		}
	}
}

// panels returns the panels that differ from the versions in shown: the whole list if requests were
// added or removed, and otherwise only the requests that changed.
func (f *glassFeed) panels(
	ctx context.Context, shown map[uint64]int, first bool,
) (list []wire.Panel, err error) {
	requests := f.s.glass.list(f.codes...)
	all := first || len(requests) != len(shown)
	for _, x := range requests {
		all = all || shown[x.ID] == 0
	}
	if all {
		var b strings.Builder
		err := glassHTML(requests).Render(ctx, &b)
		clear(shown)
		for _, x := range requests {
			shown[x.ID] = x.Version
		}
		return []wire.Panel{{ID: "glass", Op: wire.Morph, HTML: b.String()}}, err
	}
	for i, x := range requests {
		if shown[x.ID] == x.Version {
			continue
		}
		var b strings.Builder
		if err := watchedHTML(x, i == 0).Render(ctx, &b); err != nil {
			return nil, err
		}
		shown[x.ID] = x.Version
		list = append(list, wire.Panel{ID: glassID(x), Op: wire.Morph, HTML: b.String()})
	}
	return list, nil
}

// glassID returns the id of a request's element.
func glassID(x seen) string { return fmt.Sprintf("request-%d", x.ID) }

// step handles GET /api/step?request=ID&token=N. It redirects to the token's draw in the Loop.
func (s *Server) step(w http.ResponseWriter, r *http.Request) {
	who, _ := s.Caller(r)
	who.Learner = s.base.Who(w, r)
	id, _ := strconv.ParseUint(r.URL.Query().Get("request"), 10, 64)
	n, _ := strconv.Atoi(r.URL.Query().Get("token"))
	if x, ok := s.glass.find(id, s.codes(who)...); ok && x.Link != "" {
		link, err := session.LinkTo(s.Model, x.Link, session.Cursor{Step: n, Stage: infer.KindSample})
		if err == nil && link != "" {
			http.Redirect(w, r, "/loop?log="+link, http.StatusSeeOther)
			return
		}
	}
	l := terms.In(r.Context())
	s.base.Refuse(w, r, http.StatusNotFound, l.T("api.gone.head"), l.T("api.gone"))
}

// badge returns the key of the text that states a request's status, and the CSS class of that text.
func (x seen) badge() (key, class string) {
	switch {
	case x.Problem != nil && len(x.Tokens) > 0:
		return "api.badge.broken", "is-bad"
	case x.Problem != nil:
		return "api.badge.refused", "is-bad"
	case x.Done:
		return "api.badge.answered", "is-good"
	}
	return "api.badge.busy", "is-busy"
}

// pace describes the time until the first token and the average time per token after that.
func (x seen) pace(w stage.Words) string {
	if x.First.IsZero() {
		return ""
	}
	first := milliseconds(w, x.First.Sub(x.At))
	n := len(x.Tokens) + x.More - 1
	if n == 0 {
		return w.T("api.pace.first", "first", first)
	}
	return w.T("api.pace", "first", first, "each", milliseconds(w, x.Last.Sub(x.First)/time.Duration(n)))
}

func milliseconds(w stage.Words, d time.Duration) string {
	return w.T("unit.ms", "n", terms.Decimals(float64(d)/float64(time.Millisecond), 1))
}
