package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream"
)

// fence implements [class.Fence]: it appends to the logs of rooms on behalf of their owners.
type fence struct{ logs *stream.Journal }

// AppendAs implements [class.Fence].
func (f fence) AppendAs(ctx context.Context, b journal.Batch, epoch uint64) ([]int64, error) {
	seqs, err := f.logs.AppendAs(ctx, b, class.EpochType, epoch)
	if errors.Is(err, stream.ErrFenced) {
		return nil, class.ErrFenced
	}
	return seqs, err
}

// secret implements [class.Cluster.Secret].
func (c *Cluster) secret(ctx context.Context, room string) ([]byte, error) {
	return class.SecretIn(ctx, c.logs, room)
}

// secrets stores the hashes of all rooms' secrets, each as a record of its room's log.
type secrets struct{ logs *stream.Journal }

// KeepSecret implements [class.Secrets]. It refuses to replace a room's secret with a
// different one.
func (s secrets) KeepSecret(ctx context.Context, room string, hash []byte) error {
	was, err := class.SecretIn(ctx, s.logs, room)
	switch {
	case err != nil:
		return err
	case was != nil && string(was) != string(hash):
		return errors.New("the room already has a different secret")
	case was != nil:
		return nil
	}
	_, err = s.logs.Append(ctx, journal.Batch{
		Owner: journal.Owner{Kind: journal.Room, Name: room}, At: time.UnixMilli(0),
		Records: []journal.Record{class.SecretRecord(hash)},
	})
	return err
}

// Secrets implements [class.Secrets].
func (s secrets) Secrets(ctx context.Context) (map[string][]byte, error) {
	logs, err := s.logs.Owners(ctx, journal.Room)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, log := range logs {
		hash, err := class.SecretIn(ctx, s.logs, log.Name)
		if err != nil {
			return nil, err
		}
		if hash != nil {
			all[log.Name] = hash
		}
	}
	return all, nil
}

// DropSecret implements [class.Secrets]. It does nothing if the log has been dropped.
func (s secrets) DropSecret(ctx context.Context, room string) error {
	hash, err := class.SecretIn(ctx, s.logs, room)
	if err != nil || hash == nil {
		return err
	}
	o := journal.Owner{Kind: journal.Room, Name: room}
	if err := s.logs.Compact(ctx, o, []journal.Key{class.SecretRecord(hash).Key()}); err != nil {
		return err
	}
	return s.logs.Scrub(ctx, o)
}
