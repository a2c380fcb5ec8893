package admission

import (
	"cmp"
	"context"
	"time"
)

// requestTime bounds the work that is done for a plain request: the longest run of the bundled
// model needs a second. requestWait bounds the wait for it.
const (
	requestTime = 10 * time.Second
	requestWait = 30 * time.Second
)

// EnterRequest is [Queue.Enter] for work that a plain request waits for. Both the wait
// and the work are bounded; the work must end with the context returned. release ends
// the turn.
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
