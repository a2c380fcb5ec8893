// Package once computes values that are the same for everyone and caches them.
package once

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

// Values caches values by key. Each value is computed once, on first use, and never evicted, so the
// number of keys must be limited. The zero value is ready to use.
type Values[V any] struct {
	done    sync.Map // values by key
	flights singleflight.Group
}

// Get returns the value of key, which work computes. Callers that arrive while work is running wait
// for the same result. work continues when a caller's ctx ends, because others may be waiting; its
// own context contains the values of the first caller's ctx. Errors are not cached.
func (c *Values[V]) Get(ctx context.Context, key string, work func(context.Context) (V, error)) (V, error) {
	if done, ok := c.done.Load(key); ok {
		v, _ := done.(V)
		return v, nil
	}
	flight := c.flights.DoChan(key, func() (any, error) {
		if v, ok := c.done.Load(key); ok { // an earlier call has just finished
			return v, nil
		}
		v, err := work(context.WithoutCancel(ctx))
		if err == nil {
			c.done.Store(key, v)
		}
		return v, err
	})
	select {
	case r := <-flight:
		v, _ := r.Val.(V) // not ok if work returned a nil interface
		return v, r.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
