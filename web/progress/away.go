package progress

import "context"

// awayKey is the key of [WhileAway] in a context.
type awayKey struct{}

// WhileAway returns the context of a request that comes while the logs cannot be reached,
// and whose page says so. Nothing waits for them then: [Store.Map], [Store.Cards],
// [Store.Beliefs] and [Store.Calibration] return what they do for somebody who has done
// nothing, so that lessons can be read, and everything else returns [store.ErrAway].
func WhileAway(ctx context.Context) context.Context { return context.WithValue(ctx, awayKey{}, true) }

func isAway(ctx context.Context) bool { return ctx.Value(awayKey{}) != nil }

// glance calls f with the state of a learner, for a page that only shows it.
func (s *Store) glance(ctx context.Context, name string, f func(*state)) error {
	if isAway(ctx) {
		st := folding.Begin()
		folding.Settle(st)
		f(st)
		return nil
	}
	return s.use(ctx, name, func(l *learner) error {
		f(l.State())
		return nil
	})
}
