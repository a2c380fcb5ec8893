package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// Limits of one request for messages.
const (
	fetchMessages = 256
	fetchBytes    = 4 << 20
)

// JetStream error codes for which the client has no names.
const (
	codeTooManyBatches  = 10210
	codeIncompleteBatch = 10176
)

// These are JetStream's error codes for a lack of space: in the account, in the node's memory,
// below the node's limit, and in a stream or on a disk. The last two share a code and differ only
// in their descriptions.
const (
	codeAccountFull   = 10002
	codeInsufficient  = 10023
	codeMemoryFull    = 10028
	codeStorageFull   = 10047
	codeCannotBeSaved = 10077
)

// full reports whether JetStream has refused a message for lack of space.
func full(err error) bool {
	api := jetstream.JetStreamError(nil)
	if !errors.As(err, &api) || api.APIError() == nil {
		return false
	}
	switch e := api.APIError(); e.ErrorCode {
	case codeAccountFull, codeInsufficient, codeMemoryFull, codeStorageFull:
		return true
	case codeCannotBeSaved:
		return strings.Contains(e.Description, "maximum") || strings.Contains(e.Description, "no space left")
	}
	return false
}

// Trouble wraps a NATS error in [journal.ErrAway] or [store.ErrFull] if one of them
// applies.
func Trouble(err error) error { return away(err) }

// away wraps a temporary error in [journal.ErrAway], and an error due to lack of space in
// [store.ErrFull].
func away(err error) error {
	if err == nil || errors.Is(err, journal.ErrAway) || errors.Is(err, store.ErrFull) {
		return err
	}
	if full(err) {
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	for _, gone := range []error{
		nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionClosed,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrNoServers, nats.ErrStaleConnection,
		context.DeadlineExceeded, jetstream.ErrNoStreamResponse,
	} {
		if errors.Is(err, gone) {
			return fmt.Errorf("%w: %w", journal.ErrAway, err)
		}
	}
	if api := jetstream.JetStreamError(nil); errors.As(err, &api) && api.APIError() != nil {
		e := api.APIError()
		if e.Code == 503 || e.ErrorCode == codeTooManyBatches || e.ErrorCode == codeIncompleteBatch {
			return fmt.Errorf("%w: %w", journal.ErrAway, err)
		}
	}
	return err
}

// conflict reports whether a message was refused because it does not follow the last message
// of its subject, or because another message is being stored there.
func conflict(err error) bool {
	api := jetstream.JetStreamError(nil)
	if !errors.As(err, &api) || api.APIError() == nil {
		return false
	}
	c := api.APIError().ErrorCode
	return c == jetstream.JSErrCodeStreamWrongLastSequence || c == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

// noMessage reports whether the requested message does not exist.
func noMessage(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeMessageNotFound
}

// attempt returns the context for one request that sends the given number of bytes. A
// request can get lost during an election, so the caller retries while there is time.
func (j *Journal) attempt(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(max(j.cfg.Patience/4, again), mostAttempt)+onTheWay(size))
}

// onTheWay returns the additional time allowed for sending size bytes to all nodes and writing them
// to disk.
func onTheWay(size int64) time.Duration { return time.Duration(size) * time.Second / (4 << 20) }

// mostAttempt is the maximum duration of one request, regardless of the journal's patience.
const mostAttempt = 5 * time.Second

// ask sends a request to JetStream and decodes the reply.
func (j *Journal) ask(ctx context.Context, api string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := j.attempt(ctx, int64(len(body)))
	defer cancel()
	r, err := j.nc.RequestWithContext(ctx, "$JS.API."+api, body)
	if err != nil {
		return err
	}
	var failed struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(r.Data, &failed); err != nil {
		return err
	}
	if failed.Error != nil {
		return failed.Error
	}
	return json.Unmarshal(r.Data, answer)
}

// lead asks the stream's leader for the first message of a subject whose number is at least from.
// If from is 0, it asks for the subject's last message. found is false if there is no such message.
func (j *Journal) lead(ctx context.Context, stream, subject string, from uint64) (x message, found bool, err error) {
	request := struct {
		Seq  uint64 `json:"seq,omitempty"`
		Last string `json:"last_by_subj,omitempty"`
		Next string `json:"next_by_subj,omitempty"`
	}{Seq: from, Next: subject}
	if from == 0 {
		request.Last, request.Next = subject, ""
	}
	var answer struct {
		Message struct {
			Seq  uint64    `json:"seq"`
			Hdrs []byte    `json:"hdrs"`
			Data []byte    `json:"data"`
			Time time.Time `json:"time"`
		} `json:"message"`
	}
	err = j.ask(ctx, "STREAM.MSG.GET."+stream, request, &answer)
	if noMessage(err) {
		return message{}, false, nil
	} else if err != nil {
		return message{}, false, err
	}
	got := answer.Message
	var h nats.Header
	if len(got.Hdrs) > 0 {
		if h, err = nats.DecodeHeadersMsg(got.Hdrs); err != nil {
			return message{}, false, err
		}
	}
	x, err = asMessage(got.Seq, h, got.Data)
	x.at = got.Time
	return x, err == nil, err
}

// fetch calls f, in order, for each message of a subject whose number is at least from, and returns
// the count of these messages. The reply can come from any replica. If the replica lags behind, the
// messages represent a consistent earlier state.
func (j *Journal) fetch(ctx context.Context, stream, subject string, from uint64, f func(message)) (n int, err error) {
	for {
		some, last, err := j.fetchSome(ctx, stream, subject, from, f)
		n += some
		if err != nil || some == 0 || last == 0 {
			return n, err
		}
		from = last + 1
	}
}

// fetchSome sends one request of fetch. last is the number of the last message received, or
// 0 if there are no more messages.
func (j *Journal) fetchSome(
	ctx context.Context, stream, subject string, from uint64, f func(message),
) (n int, last uint64, err error) {
	answers, err := j.nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	body, err := json.Marshal(map[string]any{
		"seq": max(from, 1), "next_by_subj": subject, "batch": fetchMessages, "max_bytes": fetchBytes,
	})
	if err != nil {
		return 0, 0, err
	}
	if err := j.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, answers.Subject, body); err != nil {
		return 0, 0, err
	}
	for {
		r, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return n, last, err
		}
		if status := r.Header.Get("Status"); len(r.Data) == 0 && status != "" {
			switch {
			case status == "503":
				return n, last, nats.ErrNoResponders
			case status == "404":
				return n, 0, nil
			case status != "204":
				return n, last, fmt.Errorf("reading %s: %s %s", stream, status, r.Header.Get("Description"))
			case r.Header.Get("Nats-Num-Pending") == "0":
				return n, 0, nil
			}
			return n, last, nil
		}
		seq, err := strconv.ParseUint(r.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return n, last, err
		}
		x, err := asMessage(seq, r.Header, r.Data)
		if err != nil {
			return n, last, err
		}
		n, last = n+1, seq
		f(x)
	}
}

// remove deletes messages and overwrites them in the stream's files. Missing messages are
// ignored. Each deletion may take as long as the journal's patience, since a long log needs
// many of them.
func (j *Journal) remove(ctx context.Context, stream string, seqs ...uint64) error {
	all, ctx := errgroup.WithContext(context.WithoutCancel(ctx))
	all.SetLimit(removing)
	for _, seq := range seqs {
		all.Go(func() error { return j.removeOne(ctx, stream, seq) })
	}
	return all.Wait()
}

func (j *Journal) removeOne(ctx context.Context, stream string, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, j.cfg.Patience)
	defer cancel()
	request := map[string]any{"seq": seq}
	for {
		var done struct{}
		if err := j.hinder(false); err != nil {
			return err
		}
		err := j.ask(ctx, "STREAM.MSG.DELETE."+stream, request, &done)
		if err == nil {
			return nil
		}
		// The message may have been deleted by an earlier request whose reply was lost.
		var message struct{}
		if noMessage(j.ask(ctx, "STREAM.MSG.GET."+stream, request, &message)) {
			return nil
		}
		if !errors.Is(away(err), journal.ErrAway) {
			return err
		}
		if Pause(ctx, again) != nil {
			return err
		}
	}
}

// removing is the maximum number of concurrent deletions, and again is the time to wait
// before a retry.
const (
	removing = 8
	again    = 50 * time.Millisecond
)
