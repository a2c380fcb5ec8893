package stream

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tokenbytoken/viz/web/journal"
)

// mirror is this server's copy of a log. It is built only by applying the messages of the
// log's subject in order.
type mirror struct {
	owner  journal.Owner
	stream string // the name of the stream
	log    string // the subject of the log
	snap   string // the subject of the log's snapshots

	mu     sync.Mutex // held during an operation
	loaded bool       // the fields below reflect the log up to the message with number last

	last   uint64
	msgs   []uint64 // the messages on the subject, oldest first, possibly including deleted ones
	anchor uint64   // messages before this one are obsolete
	change meta     // meta of the last message
	begun  uint64   // the first message of that change
	lost   bool     // messages are missing between those that were read

	watched string // the id of a change that might still arrive
	arrived bool   // whether that change has arrived
	reread  bool   // the log has been read from its beginning since the last call of watch

	exists  bool
	retired bool
	first   int64
	cut     uint64
	used    int64
	records []journal.Record // in the order of their numbers
	known   map[journal.Key]int64
	bytes   int64 // total size of records
	dead    int64 // bytes of garbage in the messages
	groups  []group

	users int   // guarded by Journal.mu, as is size
	size  int64 // approximate size in memory
}

// group holds records that were set aside together.
type group struct {
	at      int64
	records []journal.Record
}

// touched is the amount of garbage, in bytes, that a message without records counts as.
const touched = 256

// watch starts watching for the arrival of a change, which can be nil.
func (m *mirror) watch(d *draft) {
	m.watched, m.arrived, m.reread = "", false, false
	if d != nil {
		m.watched = d.ID
	}
}

// clear resets the mirror to an empty subject.
func (m *mirror) clear() {
	m.reread = true
	m.last, m.msgs, m.anchor, m.change, m.begun, m.lost = 0, nil, 0, meta{}, 0, false
	m.forget()
}

// forget drops the log and all groups of records that were set aside.
func (m *mirror) forget() {
	m.exists, m.retired, m.first, m.cut, m.used = false, false, 0, 0, 0
	m.groups, m.dead = nil, 0
	m.noRecords()
}

func (m *mirror) noRecords() { m.records, m.known, m.bytes = nil, map[journal.Key]int64{}, 0 }

// empty reports whether there is neither a log nor a group of records that were set aside.
func (m *mirror) empty() bool { return !m.exists && len(m.groups) == 0 }

// apply applies the next message of the subject.
func (m *mirror) apply(x message) {
	before := m.last
	m.msgs, m.last = append(m.msgs, x.seq), x.seq
	if !x.sound {
		return // a message from another program
	}
	if x.Part == 1 {
		if !x.Whole && x.Prev != before {
			m.lost = true
		}
		m.begun = x.seq
		if x.Whole {
			m.forget()
			m.anchor, m.lost = x.seq, false
		}
	} else if x.ID != m.change.ID || x.Part != m.change.Part+1 {
		m.lost = true
	}
	m.change = x.meta
	m.applyItems(x)
	if x.Part < x.Of {
		return
	}
	m.arrived = m.arrived || x.ID == m.watched
	m.exists, m.retired, m.used = x.Exists, x.Retired, x.Used
	m.first = cmp.Or(x.First, int64(m.begun)<<indexBits)
	m.cut = cmp.Or(x.Cut, m.begun)
	if !m.exists {
		m.dead += m.bytes
		m.noRecords()
	}
}

// applyItems applies the items of a message. It stops at the first invalid item.
func (m *mirror) applyItems(x message) {
	if len(x.body) == 0 && !x.Whole {
		m.dead += touched
	}
	defer func() {
		if len(m.known) < len(m.records) {
			m.sweep()
		}
	}()
	r, place := reader{x.body}, int64(0)
	for len(r.rest) > 0 {
		i, err := r.next()
		if err != nil {
			return
		}
		switch i.kind {
		case itemRecord:
			if i.Seq == 0 {
				i.Seq = int64(x.seq)<<indexBits | place
				place++
			}
			m.add(i)
		case itemGone:
			m.dead += i.Size() + m.take(i.Key()).Size()
		case itemAside:
			m.groups = append(m.groups, group{at: i.at})
		case itemMove:
			if at, ok := m.at(i.Seq); ok {
				m.move(m.records[at])
			}
		case itemMoveAll:
			for _, r := range m.records {
				m.move(r)
			}
		}
	}
}

// add adds a record to the log, or to a group.
func (m *mirror) add(i item) {
	if i.group > 0 {
		if i.group <= len(m.groups) {
			g := &m.groups[i.group-1]
			g.records = append(g.records, i.Record)
		}
		return
	}
	if _, known := m.known[i.Key()]; known {
		return
	}
	m.known[i.Key()] = i.Seq
	m.records = append(m.records, i.Record)
	m.bytes += i.Size()
}

// at returns the index of the record with the given number.
func (m *mirror) at(seq int64) (int, bool) {
	return slices.BinarySearchFunc(m.records, seq, func(r journal.Record, seq int64) int {
		return cmp.Compare(r.Seq, seq)
	})
}

// find returns the record with a key.
func (m *mirror) find(k journal.Key) (journal.Record, bool) {
	if seq, known := m.known[k]; known {
		if i, ok := m.at(seq); ok {
			return m.records[i], true
		}
	}
	return journal.Record{}, false
}

// take removes a record from the log and returns it. If the log has no such record, it returns the
// zero value. The record stays in the list of records until the next sweep.
func (m *mirror) take(k journal.Key) journal.Record {
	r, found := m.find(k)
	if found {
		delete(m.known, k)
		m.bytes -= r.Size()
	}
	return r
}

// move moves a record to the newest group of records that were set aside.
func (m *mirror) move(r journal.Record) {
	if n := len(m.groups); n > 0 && m.known[r.Key()] == r.Seq {
		m.take(r.Key())
		m.groups[n-1].records = append(m.groups[n-1].records, r)
	}
}

// sweep creates a new list without the removed records. Readers may still be using the old list.
func (m *mirror) sweep() {
	kept := make([]journal.Record, 0, len(m.known))
	for _, r := range m.records {
		if m.known[r.Key()] == r.Seq {
			kept = append(kept, r)
		}
	}
	m.records = kept
}

// weigh returns the approximate size of the mirror in memory, in bytes.
func (m *mirror) weigh() int64 {
	n := m.bytes + int64(len(m.records))*160 + int64(len(m.msgs))*8 + 1024
	for _, g := range m.groups {
		for _, r := range g.records {
			n += r.Size() + 80
		}
	}
	return n
}
