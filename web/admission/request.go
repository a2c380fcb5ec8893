package admission

import (
	"cmp"
	"context"
	"time"
)

// requestTime is the maximum duration of the computation for a plain request. The longest run of
// the bundled model takes a second. requestWait is the longest time that such a computation can
// wait for its turn.
const (
	requestTime = 10 * time.Second
	requestWait = 30 * time.Second
)

// EnterRequest is like [Queue.Enter], but for a computation that a plain request waits for. Both
// the wait and the computation have a time limit; the computation must end when the returned
// context does. Calling release ends the turn.
func (q *Queue) EnterRequest(
	ctx context.Context, who Caller, takes time.Duration,
) (_ context.Context, release func(), err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	late := time.AfterFunc(requestWait, func() { giveUp(context.DeadlineExceeded) })
	turn, leave, err := q.Enter(ctx, who, takes, nil)
	late.Stop()
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		giveUp(err)
		return nil, nil, err
	}
	turn, cancel := context.WithTimeout(turn, requestTime)
	return turn, func() {
		cancel()
		leave()
		giveUp(context.Canceled)
	}, nil
}
