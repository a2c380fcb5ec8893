package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream"
)

// fence implements [remote.Fence]: it appends to the logs of rooms on behalf of their owners.
type fence struct{ logs *stream.Journal }

// AppendAs implements [remote.Fence].
func (f fence) AppendAs(ctx context.Context, b journal.Batch, epoch uint64) ([]int64, error) {
	seqs, err := f.logs.AppendAs(ctx, b, records.EpochType, epoch)
	if errors.Is(err, stream.ErrFenced) {
		return nil, remote.ErrFenced
	}
	return seqs, err
}

// secret implements [remote.Cluster.Secret].
func (c *Cluster) secret(ctx context.Context, code string) ([]byte, error) {
	return records.SecretIn(ctx, c.logs, code)
}

// secrets stores the hashes of all rooms' secrets, each as a record of its room's log.
type secrets struct{ logs *stream.Journal }

// KeepSecret implements [records.Secrets]. It refuses to replace a room's secret with a
// different one.
func (s secrets) KeepSecret(ctx context.Context, code string, hash []byte) error {
	was, err := records.SecretIn(ctx, s.logs, code)
	switch {
	case err != nil:
		return err
	case was != nil && string(was) != string(hash):
		return errors.New("the room already has a different secret")
	case was != nil:
		return nil
	}
	_, err = s.logs.Append(ctx, journal.Batch{
		Owner: journal.Owner{Kind: journal.Room, Name: code}, At: time.UnixMilli(0),
		Records: []journal.Record{records.SecretRecord(hash)},
	})
	return err
}

// Secrets implements [records.Secrets].
func (s secrets) Secrets(ctx context.Context) (map[string][]byte, error) {
	logs, err := s.logs.Owners(ctx, journal.Room)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, log := range logs {
		hash, err := records.SecretIn(ctx, s.logs, log.Name)
		if err != nil {
			return nil, err
		}
		if hash != nil {
			all[log.Name] = hash
		}
	}
	return all, nil
}

// DropSecret implements [records.Secrets]. It does nothing if the log has been dropped.
func (s secrets) DropSecret(ctx context.Context, code string) error {
	hash, err := records.SecretIn(ctx, s.logs, code)
	if err != nil || hash == nil {
		return err
	}
	o := journal.Owner{Kind: journal.Room, Name: code}
	if err := s.logs.Compact(ctx, o, []journal.Key{records.SecretRecord(hash).Key()}); err != nil {
		return err
	}
	return s.logs.Scrub(ctx, o)
}
