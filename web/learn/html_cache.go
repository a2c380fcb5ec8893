package learn

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/tokenbytoken/viz/web/once"
)

// htmlCache caches HTML that is the same for all users of a language. It computes one entry at a
// time.
type htmlCache struct {
	all  once.Values[string]
	turn *semaphore.Weighted
}

func newHTMLCache() *htmlCache { return &htmlCache{turn: semaphore.NewWeighted(1)} }

// get returns the HTML for a key. If it is not in the cache, work generates it, which can take at
// most [firstTime].
func (c *htmlCache) get(ctx context.Context, key string, work func(context.Context) (string, error)) (string, error) {
	return c.all.Get(ctx, key, func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, firstTime)
		defer cancel()
		if err := c.turn.Acquire(ctx, 1); err != nil {
			return "", err
		}
		defer c.turn.Release(1)
		return work(ctx)
	})
}
