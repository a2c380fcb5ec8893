package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// keys is a key-value bucket in NATS. It always reads from the leader, since a replica might
// return an old value.
type keys struct {
	js       jetstream.JetStream
	bucket   string
	replicas func() int
	lose     func() error // in tests: returns an error if the put's reply should get lost

	mu     sync.Mutex
	stream jetstream.Stream
}

// errRevision is returned if a value was not written because its key did not have the expected
// revision.
var errRevision = errors.New("unexpected key revision")

func (k *keys) subject(key string) string { return "$KV." + k.bucket + "." + key }

// ensure creates the bucket if it does not exist.
func (k *keys) ensure(ctx context.Context) error {
	name := "KV_" + k.bucket
	s, err := k.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = k.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{k.subject(">")}, Description: "owners of Token by Token's class rooms",
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: false,
			Replicas: k.replicas(),
		})
	}
	if err != nil {
		return err
	}
	if c := s.CachedInfo().Config; c.MaxMsgsPerSubject != 1 || c.AllowDirect || c.MaxAge != 0 {
		return errFixed{errors.New("the bucket " + k.bucket + " must have a history of 1, no age limit and no direct " +
			"access; delete it while no server is running, and it will be recreated")}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stream = s
	return nil
}

func (k *keys) handle() jetstream.Stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stream
}

// get reads the value of a key. The revision is 0 if the key does not exist.
func (k *keys) get(ctx context.Context, key string, value any) (revision uint64, err error) {
	revision, _, err = k.getStored(ctx, key, value)
	return revision, err
}

// getStored is like get, but also returns the time at which the value was stored, according to the
// NATS clock.
func (k *keys) getStored(ctx context.Context, key string, value any) (revision uint64, at time.Time, err error) {
	m, err := k.handle().GetLastMsgForSubject(ctx, k.subject(key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, at, nil
	} else if err != nil {
		return 0, at, err
	}
	if err := json.Unmarshal(m.Data, value); err != nil {
		return m.Sequence, m.Time, nil // another program wrote the value, so it can be replaced
	}
	return m.Sequence, m.Time, nil
}

// put writes a key if its current revision equals over (0 if the key does not exist), and
// returns the new revision. If put returns an error other than errRevision, it is unknown
// whether the key was written.
func (k *keys) put(ctx context.Context, key string, value any, over uint64) (revision uint64, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return 0, err
	}
	ack, err := k.js.PublishMsg(ctx, &nats.Msg{Subject: k.subject(key), Data: text},
		jetstream.WithExpectLastSequencePerSubject(over), jetstream.WithRetryAttempts(0))
	if err == nil {
		err = k.lose()
	}
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return 0, errRevision
	} else if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// remove deletes the given revision of a key, unless a newer revision has replaced it.
func (k *keys) remove(ctx context.Context, revision uint64) error {
	err := k.handle().DeleteMsg(ctx, revision)
	if err == nil || ctx.Err() != nil {
		return err
	}
	_, err = k.handle().GetMsg(ctx, revision)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	return errors.Join(err, errors.New("failed to delete a key"))
}

// mostListed is the number of keys read at a time.
const mostListed = 1000

// list returns the last token of the name of each key that matches a pattern.
func (k *keys) list(ctx context.Context, pattern string) (names []string, err error) {
	info, err := k.handle().Info(ctx, jetstream.WithSubjectFilter(k.subject(pattern)))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		if len(names) < mostListed {
			names = append(names, subject[strings.LastIndexByte(subject, '.')+1:])
		}
	}
	return names, nil
}
