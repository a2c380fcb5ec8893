package learn

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/tokenbytoken/viz/web/once"
)

// htmlCache caches HTML that is the same for all users of a language. It computes one entry at a
// time.
type htmlCache[T any] struct {
	all  once.Values[T]
	turn *semaphore.Weighted
}

func newHTMLCache[T any]() *htmlCache[T] { return &htmlCache[T]{turn: semaphore.NewWeighted(1)} }

// get returns the HTML for a key. If it is not in the cache, work generates it, which can take at
// most [firstTime].
func (c *htmlCache[T]) get(ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	return c.all.Get(ctx, key, func(ctx context.Context) (html T, err error) {
		ctx, cancel := context.WithTimeout(ctx, firstTime)
		defer cancel()
		if err := c.turn.Acquire(ctx, 1); err != nil {
			return html, err
		}
		defer c.turn.Release(1)
		return work(ctx)
	})
}
