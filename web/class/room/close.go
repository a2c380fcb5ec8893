package room

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// Forget removes from all rooms a learner who has deleted their data: their name is erased, and
// their votes become anonymous. Someone whom an instructor has removed stays removed. If the
// learner still has a page open, the page joins again as a new member.
func (h *Hub) Forget(ctx context.Context, learner string) error {
	ctx = context.WithoutCancel(ctx) // must not stop halfway
	var errs []error
	for _, r := range h.all() {
		if err := r.Forget(ctx, learner); err != nil && !errors.Is(err, class.ErrGone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, h.dir.ForgetOthers(ctx, learner))...)
}

// Save saves the unsaved changes of all rooms. A slow room does not delay others. The error reports
// how many rooms could not be saved.
func (h *Hub) Save(ctx context.Context) error {
	var saving sync.WaitGroup
	var failed atomic.Int64
	for _, r := range h.all() {
		saving.Go(func() {
			if err := r.ask(ctx, func(c *core) error { return c.commit() }); err != nil &&
				!errors.Is(err, class.ErrGone) {
				failed.Add(1)
			}
		})
	}
	saving.Wait()
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("failed to save %s", terms.Counted(int(n), "room"))
	}
	return nil
}

// Close saves all unsaved changes and ends all rooms and their runs.
func (h *Hub) Close(ctx context.Context) error {
	err := h.Save(ctx)
	h.mu.Lock() // a room that is being created is started before this point or not at all
	h.cancel()
	h.mu.Unlock()
	defer h.dir.StopServing()
	ended := make(chan struct{})
	go func() {
		h.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}
