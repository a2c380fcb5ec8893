package shell

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// A Base is embedded in the server of each package with pages.
type Base struct {
	learner func(r *http.Request) (id string, fresh *http.Cookie)
	log     *slog.Logger
	refusal func(head, say string) templ.Component
}

// NewBase returns the base of a package. learner returns the sender of a request and, for a new
// visitor, the cookie to set. log records failures, but never users' texts. refusal returns the
// package's error page.
func NewBase(
	learner func(r *http.Request) (id string, fresh *http.Cookie), log *slog.Logger,
	refusal func(head, say string) templ.Component,
) Base {
	return Base{learner: learner, log: log, refusal: refusal}
}

// LearnerOf adapts a function that returns a request's caller for use by [NewBase].
func LearnerOf(
	caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie),
) func(r *http.Request) (id string, fresh *http.Cookie) {
	return func(r *http.Request) (string, *http.Cookie) {
		who, fresh := caller(r)
		return who.Learner, fresh
	}
}

// Who returns the learner who sent a request. For a new learner, it sets the cookie.
func (b Base) Who(w http.ResponseWriter, r *http.Request) string {
	id, fresh := b.learner(r)
	if fresh != nil {
		http.SetCookie(w, fresh)
	}
	return id
}

// HTML sends a page or a part of a page. A page shows one learner's data at one moment, so it must
// not be cached.
func (b Base) HTML(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var text bytes.Buffer
	if err := c.Render(r.Context(), &text); err != nil {
		b.log.Error("rendering a page failed", "path", r.URL.Path, "err", err)
		Text(w, http.StatusInternalServerError, terms.In(r.Context()).T("shell.broken"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	text.WriteTo(w)
}

// Busy sends an error page saying that the model took too long.
func (b Base) Busy(w http.ResponseWriter, r *http.Request) {
	head, say := Busy(terms.In(r.Context()))
	b.Refuse(w, r, http.StatusServiceUnavailable, head, say)
}

// Busy returns the heading and the text of the error page for a model that took too long.
func Busy(l *terms.Language) (head, say string) { return l.T("shell.busy.head"), l.T("shell.busy") }

// Refuse sends an error page. If the request is for a fragment, it sends only the text of that
// page.
func (b Base) Refuse(w http.ResponseWriter, r *http.Request, status int, head, say string) {
	if Fragment(r) {
		b.HTML(w, r, status, Refusal(head, say))
		return
	}
	b.HTML(w, r, status, b.refusal(head, say))
}

// Sentence returns an error's message as a sentence for a page. If the error is or wraps one whose
// message exists in every language, such as a [terms.Refusal] or a [terms.RangeError], the sentence
// is in language l. For any other error, it is in English.
func Sentence(l *terms.Language, err error) string {
	var known interface {
		In(l *terms.Language) string
	}
	if errors.As(err, &known) {
		return known.In(l)
	}
	text := terms.Capital(strings.TrimSpace(err.Error()))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Fragment reports whether the page's script requests a part of the page.
func Fragment(r *http.Request) bool { return r.Header.Get("Viz-Fragment") != "" }

// Uncanceled returns a copy of r with a context that is not canceled. It is for requests whose body
// could not be read: the failed read has canceled the request's own context, but the error page
// must still be rendered.
func Uncanceled(r *http.Request) *http.Request {
	return r.WithContext(context.WithoutCancel(r.Context()))
}

// formBytes is the maximum size of a form. The longest fields are prompts and answers in a
// learner's own words.
const formBytes = 64 << 10

// Form parses the form in a request. If that fails, it sends an error page and returns false.
func (b Base) Form(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, NewBody(w, r, formStall, formWait), formBytes)
	err := r.ParseForm()
	var large *http.MaxBytesError
	l := terms.In(r.Context())
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		b.Refuse(
			w, r, http.StatusRequestEntityTooLarge, l.T("shell.form.long.head"),
			l.T("shell.form.long", "most", l.T("unit.kib", "n", formBytes>>10)),
		)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close") // do not parse the rest of the body as a request
		b.Refuse(
			w, Uncanceled(r), http.StatusRequestTimeout, l.T("shell.form.late.head"), l.T("shell.form.late"),
		)
	default:
		b.Refuse(
			w, Uncanceled(r), http.StatusBadRequest, l.T("shell.form.bad.head"), l.T("shell.form.bad"),
		)
	}
	return false
}
