package learn

import (
	"context"
	"sync"

	"github.com/tokenbytoken/viz/infer/terms"
)

// htmlCache caches HTML that is the same for everyone. Each piece is computed once and never evicted,
// because a course has a limited number of pieces. K is the type of a piece's key.
type htmlCache[K comparable] struct {
	mu   sync.Mutex
	all  map[K]*cachedHTML
	slot chan struct{} // of capacity 1: one piece is computed at a time
}

// A cachedHTML is a cached piece that has been computed or is being computed.
type cachedHTML struct {
	done chan struct{} // closed when html or err is set
	html string
	err  error
}

func newHTMLCache[K comparable]() *htmlCache[K] {
	return &htmlCache[K]{all: map[K]*cachedHTML{}, slot: make(chan struct{}, 1)}
}

// get returns the result of work for a key. work has a context with the language of ctx, and can take
// at most [firstTime]. Callers that arrive while work is running wait for the same result. Errors are
// not cached.
func (k *htmlCache[K]) get(ctx context.Context, key K, work func(context.Context) (string, error)) (string, error) {
	k.mu.Lock()
	h := k.all[key]
	if h == nil {
		h = &cachedHTML{done: make(chan struct{})}
		k.all[key] = h
		go k.make(terms.In(ctx), key, h, work)
	}
	k.mu.Unlock()
	select {
	case <-h.done:
		return h.html, h.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// make is not canceled with the first request, because other requests may be waiting.
func (k *htmlCache[K]) make(
	l *terms.Language, key K, h *cachedHTML, work func(context.Context) (string, error),
) {
	ctx, cancel := context.WithTimeout(terms.With(context.Background(), l), firstTime)
	defer cancel()
	if h.err = k.enter(ctx); h.err == nil {
		h.html, h.err = work(ctx)
		k.leave()
	}
	if h.err != nil {
		k.mu.Lock()
		delete(k.all, key)
		k.mu.Unlock()
	}
	close(h.done)
}

func (k *htmlCache[K]) enter(ctx context.Context) error {
	select {
	case k.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *htmlCache[K]) leave() { <-k.slot }
