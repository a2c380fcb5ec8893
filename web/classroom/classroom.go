package classroom

import (
	"cmp"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/store"
)

// None reports whether there can be no rooms, because a browser has no place to store them. It is a
// constant so that the browser build does not contain the code for rooms.
const None = runtime.GOOS == "js"

// Deps are the dependencies of the pages. All except Hub, Access, Phones, Now and Log are required.
type Deps struct {
	Hub    *room.Hub // nil if there is no server for classes: the pages then explain that
	Course *lessons.Course
	// Progress is the learners' progress; required if there are classes.
	Progress *progress.Store
	Model    *infer.Model
	// Slot returns a slot in the pool for the model run of a guided tour, whose steps are
	// computed once for all visitors.
	Slot func() *pool.Slot
	// Caller returns the sender of a request. If the sender is new, fresh is the cookie to
	// set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// MAC returns the 32-byte message authentication code of text, using a secret that all servers
	// of these classes share.
	MAC    func(text string) []byte
	Access Access
	// Phones, if not nil, can admit phones while the server runs.
	Phones *Phones
	// Now returns the current time, on which all servers of these classes agree; nil for
	// time.Now.
	Now func() time.Time
	// Log receives failures. Names and answers are never logged.
	Log *slog.Logger
}

// Pages serves the pages of classes.
type Pages struct {
	Deps
	shell.Base
	tickets *tickets
	presses *tickets // nil without Phones
	tours   *tours
	drafts  *admission.Queue
	rest    *session.State // the state shown while a run is suspended
}

// New returns pages with the given dependencies.
func New(d Deps) *Pages {
	d.Log = cmp.Or(d.Log, slog.Default())
	if d.Now == nil {
		d.Now = time.Now
	}
	p := &Pages{
		Deps: d, Base: shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusalPage),
		tickets: newTickets(d.MAC("key of tickets"), d.Now), tours: newTours(d.Slot),
		drafts: admission.NewQueue(admission.DefaultLimits().Labs, draftSlice),
		rest:   session.New(d.Model, session.Limits{}).State(),
	}
	if d.Phones != nil {
		p.presses = newPresses(d.Now)
	}
	return p
}

// caller returns the sender of a request, and sets a cookie if the sender is new.
func (p *Pages) caller(w http.ResponseWriter, r *http.Request) admission.Caller {
	who, _ := p.Caller(r)
	who.Learner = p.Who(w, r)
	return who
}

// statuses maps refusal codes to HTTP statuses; the default is 409 Conflict.
var statuses = map[terms.Code]int{
	class.CodeNoRoom: http.StatusNotFound, class.CodeGone: http.StatusGone, terms.CodeExpired: http.StatusGone,
	class.CodeTries: http.StatusTooManyRequests, class.CodeSecret: http.StatusForbidden,
	class.CodeRemoved: http.StatusForbidden, class.CodeCookie: http.StatusForbidden,
	class.CodeDamaged:  http.StatusGone,
	class.CodeStranger: http.StatusForbidden, class.CodeLocked: http.StatusForbidden,
	terms.CodeFull: http.StatusServiceUnavailable,
	class.CodeKept: http.StatusServiceUnavailable, terms.CodeBusy: http.StatusServiceUnavailable,
	class.CodeNick: http.StatusBadRequest, class.CodeTitle: http.StatusBadRequest,
	class.CodeNotOffer: http.StatusBadRequest, terms.CodeUnknown: http.StatusBadRequest,
	terms.CodeRange: http.StatusBadRequest,
	class.CodeAsk:   http.StatusBadRequest,
}

// heads maps refusal codes to the keys of headlines.
var heads = map[terms.Code]string{
	class.CodeNoRoom: "classroom.head.no_room", class.CodeGone: "classroom.head.gone",
	terms.CodeExpired: "classroom.head.over",
	class.CodeTries:   "classroom.head.tries", class.CodeSecret: "classroom.head.secret",
	class.CodeRemoved:  "classroom.head.removed",
	class.CodeStranger: "classroom.head.stranger", class.CodeLocked: "classroom.head.locked",
	terms.CodeFull:   "classroom.head.full",
	class.CodeClosed: "classroom.head.closed", class.CodeNotOffer: "classroom.head.not_offer",
	class.CodeSecond: "classroom.head.second", class.CodeCookie: "classroom.head.cookie",
	class.CodeDamaged: "classroom.head.damaged",
	class.CodeMoved:   "classroom.head.moved",
	terms.CodeBusy:    "classroom.head.busy",
}

// fail sends an error page for err. It logs errors that are not refusals.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, head, say := p.trouble(r, err)
	p.Refuse(w, r, status, head, say)
}

// trouble converts an error to the status, headline and message of a response.
func (p *Pages) trouble(r *http.Request, err error) (status int, head, say string) {
	words := stage.In(r.Context())
	if e, ok := terms.AsRefusal(err); ok {
		head = words.T(cmp.Or(heads[e.Code], "classroom.head.unchanged"))
		return cmp.Or(statuses[e.Code], http.StatusConflict), head, e.In(words.Language)
	}
	if why := store.Why(err); why != "" {
		return http.StatusServiceUnavailable, words.T("classroom.head.not_kept"), why
	}
	if r.Context().Err() == nil {
		p.Log.Error("request to a class failed", "path", r.URL.Path, "err", err)
	}
	return http.StatusInternalServerError, words.T("classroom.head.failed"), words.T("classroom.failed")
}
