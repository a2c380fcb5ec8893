package admission

import (
	"cmp"
	"context"
	"time"
)

// requestTime is the maximum duration of the computation for an ordinary HTTP request. The bundled
// model's longest run takes a second. requestWait is how long such a computation can wait for its
// turn.
const (
	requestTime = 10 * time.Second
	requestWait = 30 * time.Second
)

// EnterRequest is like [Queue.Enter], but for a computation that an ordinary HTTP request waits
// for. Both the wait and the computation have a time limit. The computation must stop when the
// returned context ends. Calling release ends the turn.
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
