package journal

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// Memory stores logs in memory until the process ends.
type Memory struct {
	mu   sync.Mutex
	last int64 // sequence number of the newest record in all logs
	logs map[Owner]*memoryLog

	aside map[Owner][]Info
}

// memoryLog is one log. Its records are in the order of their sequence numbers.
type memoryLog struct {
	used     int64 // in milliseconds since 1970
	first    int64 // no record has a lower sequence number
	bytes    int64
	records  []Record
	known    map[Key]int64 // sequence numbers, by key
	snapshot Snapshot
}

// NewMemory returns a journal without logs.
func NewMemory() *Memory { return &Memory{logs: map[Owner]*memoryLog{}, aside: map[Owner][]Info{}} }

var _ Journal = (*Memory)(nil)

// Append implements [Journal].
func (m *Memory) Append(ctx context.Context, b Batch) ([]int64, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[b.Owner]
	if l == nil {
		if len(b.Records) == 0 {
			return nil, nil
		}
		l = &memoryLog{first: m.last + 1, used: b.At.UnixMilli(), known: map[Key]int64{}}
		m.logs[b.Owner] = l
	}
	l.used = max(l.used, b.At.UnixMilli())
	seqs := make([]int64, len(b.Records))
	for i, r := range b.Records {
		if _, known := l.known[r.Key()]; known {
			continue
		}
		m.last++
		seqs[i] = m.last
		r.Seq, r.Data = m.last, bytes.Clone(r.Data)
		l.records = append(l.records, r)
		l.known[r.Key()] = r.Seq
		l.bytes += r.Size()
	}
	return seqs, nil
}

// Read implements [Journal].
func (m *Memory) Read(ctx context.Context, o Owner, after int64, f func(Record) error) error {
	for _, r := range m.since(o, after) {
		if err := cmp.Or(ctx.Err(), f(r)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// since returns the records after a sequence number. The result never changes, because Append only
// adds records after it, and Compact creates a new list.
func (m *Memory) since(o Owner, after int64) []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[o]
	if l == nil {
		return nil
	}
	return l.records[l.at(after+1):]
}

// at returns the index of the first record with at least the given sequence number.
func (l *memoryLog) at(seq int64) int {
	i, _ := slices.BinarySearchFunc(l.records, seq, func(r Record, seq int64) int { return cmp.Compare(r.Seq, seq) })
	return i
}

// Find implements [Journal].
func (m *Memory) Find(ctx context.Context, o Owner, k Key) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.logs[o]; l != nil {
		if seq, known := l.known[k]; known {
			return l.records[l.at(seq)], true, ctx.Err()
		}
	}
	return Record{}, false, ctx.Err()
}

// Owners implements [Journal].
func (m *Memory) Owners(ctx context.Context, kind string) ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Info
	for o, l := range m.logs {
		if o.Kind == kind {
			list = append(list, Info{o, moment(l.used), len(l.records), l.bytes})
		}
	}
	if kind == store.SetAsideKind {
		for o, all := range m.aside {
			for _, x := range all {
				x.Owner = Owner{kind, store.SetAsideName(o.Kind, o.Name, x.Used)}
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return list, ctx.Err()
}

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Compact implements [Journal].
func (m *Memory) Compact(ctx context.Context, o Owner, gone []Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[o]
	if l == nil {
		return nil
	}
	for _, k := range gone {
		delete(l.known, k)
	}
	kept := make([]Record, 0, len(l.known)) // readers may still use the old list
	l.bytes = 0
	for _, r := range l.records {
		if _, known := l.known[r.Key()]; known {
			kept = append(kept, r)
			l.bytes += r.Size()
		}
	}
	l.records, l.snapshot = kept, Snapshot{}
	return nil
}

// Scrub implements [Journal]. It does nothing, since there is no disk.
func (m *Memory) Scrub(ctx context.Context, _ Owner) error { return ctx.Err() }

// Drop implements [Journal].
func (m *Memory) Drop(ctx context.Context, o Owner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logs, o)
	delete(m.aside, o)
	return nil
}

// SetAside implements [Journal]. Only the count and size of the records are kept, since data in
// memory is not damaged.
func (m *Memory) SetAside(ctx context.Context, o Owner, at time.Time, seqs ...int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[o]
	if l == nil {
		return nil
	}
	info := Info{Owner: o, Used: moment(at.UnixMilli())}
	var kept []Record
	for _, r := range l.records {
		if len(seqs) > 0 && !slices.Contains(seqs, r.Seq) {
			kept = append(kept, r)
			continue
		}
		info.Records++
		info.Bytes += r.Size()
		l.bytes -= r.Size()
		delete(l.known, r.Key())
	}
	l.records, l.snapshot = kept, Snapshot{}
	m.aside[o] = append(m.aside[o], info)
	if len(seqs) == 0 {
		delete(m.logs, o)
	}
	return nil
}

// Aside implements [Journal].
func (m *Memory) Aside(ctx context.Context, o Owner) ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.aside[o]), ctx.Err()
}

// Snapshot implements [Journal].
func (m *Memory) Snapshot(ctx context.Context, o Owner) (Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.logs[o]; l != nil {
		return l.snapshot, ctx.Err()
	}
	return Snapshot{}, ctx.Err()
}

// KeepSnapshot implements [Journal].
func (m *Memory) KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.logs[o]; l != nil && s.Seq >= l.first {
		s.State = bytes.Clone(s.State)
		l.snapshot = s
	}
	return nil
}

// Retire implements [Journal].
func (m *Memory) Retire(ctx context.Context, o Owner, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.logs[o]; l == nil || l.used >= before.UnixMilli() {
		return false, nil
	}
	delete(m.logs, o)
	return true, nil
}

// Sweep implements [Journal]. It does nothing, since Retire already deletes the log.
func (m *Memory) Sweep(ctx context.Context) error { return ctx.Err() }
