package practice

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// errNoFile is the error for an import form without a file.
var errNoFile = errors.New("no file was chosen")

// importFile handles POST /progress/import. It imports an exported file as a whole or not at all.
func (p *Pages) importFile(w http.ResponseWriter, r *http.Request) {
	words := stage.In(r.Context())
	turn, wait := p.admitImport(w, r)
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		p.Refuse(
			w, r, http.StatusTooManyRequests, words.T("practice.import.busy"), words.T("practice.import.busy.say"),
		)
		return
	}
	defer turn.end()
	const wrapping = 16 << 10 // the maximum size of the form without the file
	r.Body = http.MaxBytesReader(w, r.Body, progress.MaxImport+wrapping)
	data, err := fileOf(r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), err == nil && len(data) > progress.MaxImport:
		p.showProgress(w, r, http.StatusRequestEntityTooLarge,
			words.T("practice.import.large", "most", words.BytesFull(progress.MaxImport)))
		return
	case errors.Is(err, errNoFile):
		p.showProgress(w, r, http.StatusBadRequest, words.T("practice.import.missing"))
		return
	case err != nil && turn.wasLost(): // the connection is closed, so do not render a page
		shell.Text(w, http.StatusServiceUnavailable, words.T("practice.import.slow"))
		return
	case err != nil:
		p.showProgress(w, shell.Uncanceled(r), http.StatusBadRequest,
			words.T("practice.import.cut"))
		return
	}
	added, err := p.Progress.Import(r.Context(), p.Who(w, r), data)
	switch {
	case errors.Is(err, progress.ErrInput):
		p.showProgress(w, r, http.StatusBadRequest, shell.Sentence(terms.In(r.Context()), err))
		return
	case errors.Is(err, progress.ErrFull):
		p.showProgress(w, r, http.StatusConflict, shell.Sentence(terms.In(r.Context()), err))
		return
	case err != nil:
		p.Fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/progress?"+doneQuery(added).Encode(), http.StatusSeeOther)
}

// importWait is how long an import waits, at most, until its file can be read.
const importWait = 20 * time.Second

// An importTurn is the permission to read an import's file.
type importTurn struct {
	place *admission.Permit

	mu    sync.Mutex
	lost  bool // the turn has been given to another caller
	ended bool
}

// admitImport waits until the file in a request can be read, or returns the time after which the
// client can retry. Until then, no part of the file is read, because an import uses as much memory
// as its file until it ends. If the turn is given to another caller in the meantime, reading stops.
func (p *Pages) admitImport(w http.ResponseWriter, r *http.Request) (_ *importTurn, wait time.Duration) {
	t := &importTurn{}
	if p.Limiter == nil {
		return t, 0
	}
	caller, _ := p.Caller(r)
	size := r.ContentLength
	if size < 0 || size > progress.MaxImport { // unknown, or refused after MaxImport bytes
		size = progress.MaxImport
	}
	if wait := p.Limiter.Imported.AllowSize(caller, int(size>>20)+1); wait > 0 {
		return nil, wait
	}
	ctx, cancel := context.WithTimeout(r.Context(), importWait)
	defer cancel()
	place, err := p.Limiter.Imports.Await(ctx, caller, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.lost = true; !t.ended {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // as in [shell.Await]
		}
	})
	if err != nil {
		return nil, importWait
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost {
		return nil, importWait
	}
	t.place = place
	shell.Await(w)
	return t, 0
}

// end releases the turn, unless it was lost.
func (t *importTurn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.place != nil {
		t.place.Release()
	}
}

// wasLost reports whether the turn has been given to another caller.
func (t *importTurn) wasLost() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// fileOf reads the file in the form. The name of the file does not matter.
func fileOf(r *http.Request) ([]byte, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errNoFile
		} else if err != nil {
			return nil, err
		}
		if part.FormName() != "file" {
			continue
		}
		if part.FileName() == "" {
			return nil, errNoFile
		}
		return io.ReadAll(part)
	}
}
