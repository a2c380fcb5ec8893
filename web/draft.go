package web

import (
	"sync"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
)

// drafts holds the draft model, which is opened when a page first needs it.
type drafts struct {
	open func() (*infer.Model, error)

	mu     sync.Mutex
	pool   *pool.Pool // runs the model for everyone; nil until it is needed
	closed bool
}

// newDrafts returns nil if the server has no draft model.
func newDrafts(cfg Config) *drafts {
	switch {
	case cfg.Draft != nil:
		return &drafts{pool: pool.New(cfg.Draft, 0)}
	case cfg.OpenDraft != nil:
		return &drafts{open: cfg.OpenDraft}
	}
	return nil
}

// Slot opens the model if necessary. Concurrent callers wait; after a failure, the next call tries
// again.
func (d *drafts) Slot() (*pool.Slot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, terms.Refuse(terms.CodeBusy, "server.closing")
	}
	if d.pool == nil {
		m, err := d.open()
		if err != nil {
			return nil, err
		}
		d.pool = pool.New(m, 0)
	}
	return d.pool.Slot(), nil
}

// opened returns the pool, or nil if no page has needed it yet.
func (d *drafts) opened() *pool.Pool {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pool
}

// Close waits for the passes in progress. After Close, Slot returns an error.
func (d *drafts) Close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.pool != nil {
		d.pool.Close()
	}
}
