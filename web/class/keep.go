package class

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// soon has a change kept within [gather], with others that come meanwhile. A
// change that nobody waits for (done is nil) is tried until it is kept.
func (c *core) soon(write func(*sql.Tx) error, done func(error)) {
	c.pending = append(c.pending, pending{write, done})
	switch len(c.pending) {
	case 1:
		c.due.Reset(gather)
	case together:
		c.flush()
	}
}

// retry is when what could not be kept is tried again.
const retry = time.Second

// flush keeps what waits.
func (c *core) flush() {
	if len(c.pending) > 0 {
		_ = c.commit() // whoever waits is told
	}
}

// commit keeps what waits, these writes, and the stage where it has moved, in
// one transaction. The error is [ErrKept]: nothing of it is kept then.
func (c *core) commit(writes ...func(*sql.Tx) error) error {
	c.due.Stop()
	waiting, link := c.pending, c.link
	c.pending = nil
	if c.stale {
		link = session.LinkOf(c.state)
	}
	err := c.cfg.DB.Write(context.Background(), func(tx *sql.Tx) error {
		for _, p := range waiting {
			if err := p.write(tx); err != nil {
				return err
			}
		}
		for _, w := range writes {
			if err := w(tx); err != nil {
				return err
			}
		}
		// The next view may be sent once this is kept, hence + 1.
		_, err := tx.Exec(
			"UPDATE rooms SET used_at = ?, seq = ?, link = ? WHERE code = ?", c.used.UnixMilli(), c.seq+1, link, c.code,
		)
		return err
	})
	if err != nil {
		c.cfg.Log.Error("a class could not be kept", "error", err)
		err = ErrKept
	} else {
		c.link, c.stale = link, false
	}
	for _, p := range waiting {
		if p.done != nil {
			p.done(err)
		} else if err != nil {
			c.pending = append(c.pending, p)
			c.due.Reset(retry)
		}
	}
	return err
}

// change keeps new data, and a poll where there is one, and only then makes
// them the room's. What waits is kept before.
func (c *core) change(next roomData, p *poll) error {
	writes := []func(*sql.Tx) error{func(tx *sql.Tx) error {
		return update(tx, "UPDATE rooms SET data = ? WHERE code = ?", next, c.code)
	}}
	if p != nil {
		kept := *p
		writes = append(writes, func(tx *sql.Tx) error {
			text, err := json.Marshal(kept)
			if err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO room_polls (room, id, data) VALUES (?, ?, ?)
				ON CONFLICT (room, id) DO UPDATE SET data = excluded.data`, c.code, kept.ID, string(text))
			return err
		})
	}
	c.used = c.cfg.Now()
	if err := c.commit(writes...); err != nil {
		return err
	}
	c.data = next
	if p != nil {
		if p.ID > len(c.polls) {
			c.polls = append(c.polls, p)
		} else {
			c.polls[p.ID-1] = p
		}
	}
	c.setAlarm()
	c.publish()
	return nil
}

// update writes a value as JSON in place of the first parameter.
func update(tx *sql.Tx, query string, value any, key string) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = tx.Exec(query, string(text), key)
	return err
}

func (c *core) insertRoom(tx *sql.Tx) error {
	text, err := json.Marshal(c.data)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO rooms (code, secret, begun_at, used_at, seq, link, data) VALUES (?, ?, ?, ?, ?, "+
		"'', ?)",
		c.code, c.secret[:], c.begun.UnixMilli(), c.used.UnixMilli(), c.seq, string(text))
	return err
}

// memberRow writes a member, or writes one anew.
func (c *core) memberRow(m member) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO room_members (room, id, learner, name, nameless, removed)
			VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (room, id) DO UPDATE SET learner = excluded.learner, name = excluded.name,
				nameless = excluded.nameless, removed = excluded.removed`,
			c.code, m.ID, m.Learner, m.Name, m.Nameless, m.Removed)
		return err
	}
}

// voteRow writes a vote unless one with a higher number is there.
func (c *core) voteRow(at round, member int, v vote) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO room_votes (room, poll, round, member, choice, u, sure, n)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (room, poll, round, member) DO UPDATE
			SET choice = excluded.choice, u = excluded.u, sure = excluded.sure, n = excluded.n WHERE excluded.n > n`,
			c.code, at.poll, at.n, member, v.Choice, v.U, v.Sure, v.N)
		return err
	}
}

// maxTexts bounds how many texts of a class are kept to be replayed.
const maxTexts = 64

// textOf is the text that a state shows, as a link to its first stage; without
// one where no token has been chosen.
func textOf(st *session.State) (Text, bool) {
	if st == nil || st.Step() == nil || st.Steps[0].Ran < firstChosen {
		return Text{}, false
	}
	from := *st
	from.Cursor = firstStage
	t := Text{Prompt: st.Prompt, Link: session.LinkOf(&from)}
	return t, t.Link != ""
}

// keepText keeps the text that is about to leave the stage.
func (c *core) keepText(st *session.State) {
	t, ok := textOf(st)
	if !ok || len(c.texts) >= maxTexts || slices.Contains(c.texts, t) {
		return
	}
	c.texts = append(c.texts, t)
	n := len(c.texts)
	c.soon(func(tx *sql.Tx) error {
		_, err := tx.Exec(
			"INSERT OR REPLACE INTO room_texts (room, n, prompt, link) VALUES (?, ?, ?, ?)", c.code, n, t.Prompt,
			t.Link,
		)
		return err
	}, nil)
}

// deleteAll deletes the room from the database and tells everybody.
func (c *core) deleteAll() error {
	c.flush() // votes that wait are answered before they go
	err := c.cfg.DB.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM rooms WHERE code = ?", c.code) // and with it all that belongs to it
		return err
	})
	if err != nil {
		c.cfg.Log.Error("a room could not be deleted", "error", err)
		return terms.Refuse(CodeKept, "The room could not be deleted. Try again.")
	}
	c.seq++
	c.room.view.Store(&View{Seq: c.seq, At: c.cfg.Now(), Code: c.code, Gone: true, Ended: true})
	c.cfg.Broker.Publish(c.code, Note{c.seq})
	c.deleted, c.pending, c.stale = true, nil, false
	return nil
}

// restore reads all rooms.
func restore(ctx context.Context, cfg *Config) (list []*core, err error) {
	byCode := map[string]*core{}
	err = cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		err := each(tx, "SELECT code, secret, begun_at, used_at, seq, link, data FROM "+
			"rooms", func(scan func(...any) error) error {
			c := &core{cfg: cfg}
			var secret, data []byte
			var begun, used int64
			if err := scan(&c.code, &secret, &begun, &used, &c.seq, &c.link, &data); err != nil {
				return err
			}
			if copy(c.secret[:], secret) != len(c.secret) {
				return fmt.Errorf("room %s has a secret of %d bytes", c.code, len(secret))
			}
			c.begun, c.used, c.seq = time.UnixMilli(begun), time.UnixMilli(used), c.seq+afterRestart
			c.empty()
			byCode[c.code] = c
			list = append(list, c)
			return json.Unmarshal(data, &c.data)
		})
		if err != nil {
			return err
		}
		return restoreParts(tx, byCode)
	})
	return list, err
}

// restoreParts reads what belongs to the rooms.
func restoreParts(tx *sql.Tx, rooms map[string]*core) error {
	var code string
	if err := each(tx, "SELECT room, prompt, link FROM room_texts ORDER BY "+
		"room, n", func(scan func(...any) error) error {
		var t Text
		err := scan(&code, &t.Prompt, &t.Link)
		rooms[code].texts = append(rooms[code].texts, t)
		return err
	}); err != nil {
		return err
	}
	if err := each(tx, "SELECT room, id, learner, name, nameless, removed FROM room_members ORDER BY "+
		"room, id", func(scan func(...any) error) error {
		m := &member{}
		err := scan(&code, &m.ID, &m.Learner, &m.Name, &m.Nameless, &m.Removed)
		c := rooms[code]
		for len(c.members) < m.ID-1 { // one who was never kept: their place stays empty
			gap := &member{Removed: true}
			gap.ID = len(c.members) + 1
			c.members = append(c.members, gap)
		}
		c.members = append(c.members, m)
		c.byLearner[m.Learner] = m
		return err
	}); err != nil {
		return err
	}
	if err := each(tx, "SELECT room, data FROM room_polls ORDER BY room, id", func(scan func(...any) error) error {
		var data []byte
		if err := scan(&code, &data); err != nil {
			return err
		}
		p := &poll{}
		rooms[code].polls = append(rooms[code].polls, p)
		return json.Unmarshal(data, p)
	}); err != nil {
		return err
	}
	return each(tx, "SELECT room, poll, round, member, choice, u, sure, n FROM "+
		"room_votes", func(scan func(...any) error) error {
		var at round
		var id int
		var v vote
		err := scan(&code, &at.poll, &at.n, &id, &v.Choice, &v.U, &v.Sure, &v.N)
		rooms[code].count1(at, id, v)
		return err
	})
}

// each calls f for every row of a query.
func each(tx *sql.Tx, query string, f func(scan func(...any) error) error) error {
	rows, err := tx.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
