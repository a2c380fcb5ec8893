package class

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// carryTogether is the number of records that are appended in one batch.
const carryTogether = 4096

// Carry moves the rooms of an old-format database from its tables into logs, and then drops
// the tables. If it is interrupted, the next start completes it. Learners must have been
// moved first. If a room is damaged, Carry logs that, and the room remains only in the copy
// of the old file. Carry does not change databases in the current format.
func Carry(ctx context.Context, db *store.DB, logs journal.Journal, log *slog.Logger) error {
	before, err := db.Before(store.RoomsInLogs)
	if err != nil || !before {
		return err
	}
	if early, err := db.Before(store.LearnersInLogs); err != nil || early {
		return errors.Join(err, errors.New("rooms are carried over after learners"))
	}
	var rooms []*carried
	if err := db.Read(ctx, func(tx *sql.Tx) error {
		rooms = nil
		return store.EachRow(ctx, tx, `SELECT code, secret, begun_at, used_at, seq, link, data FROM rooms
			ORDER BY code`,
			func(scan func(...any) error) error {
				var r carried
				var begun, used, seq int64
				err := scan(&r.code, &r.secret, &begun, &used, &seq, &r.link, &r.data)
				r.seq = uint64(max(seq, 0))
				r.begun, r.used = time.UnixMilli(begun), time.UnixMilli(used)
				rooms = append(rooms, &r)
				return err
			})
	}); err != nil {
		return err
	}
	for _, r := range rooms {
		r.log = log
		if err := r.carry(ctx, db, logs); errors.Is(err, journal.ErrTooLarge) {
			log.Error("a room of the old database cannot be carried over", "error", err)
		} else if err != nil {
			return fmt.Errorf("a room: %w", err)
		}
	}
	return db.Carried(store.RoomsInLogs)
}

// carried is a room that is being moved.
type carried struct {
	code         string
	secret, data []byte
	begun, used  time.Time
	seq          uint64
	link         string

	log     *slog.Logger
	c       core // makes the records and numbers them the same way each time
	records []journal.Record
}

func (r *carried) carry(ctx context.Context, db *store.DB, logs journal.Journal) error {
	if err := json.Unmarshal(r.data, &r.c.data); err != nil {
		r.log.Error("a room of the old database cannot be read", "error", err)
		return nil
	}
	r.add(r.c.entry(typeBegun, typeBegun, begunRecord{r.begun.UTC()}))
	r.add(r.c.entry(typeData, typeData, r.c.data))
	r.add(r.c.entry(typeStage, typeStage, stageRecord{r.link}))
	r.add(r.c.entry(typeSeq, typeSeq, seqRecord{r.seq}))
	if err := db.Read(ctx, func(tx *sql.Tx) error { return r.parts(ctx, tx) }); err != nil {
		return err
	}
	if err := db.KeepSecret(ctx, r.code, r.secret); err != nil {
		return err
	}
	owner := journal.Owner{Kind: journal.Room, Name: r.code}
	for batch := range slices.Chunk(r.records, carryTogether) {
		if _, err := logs.Append(ctx, journal.Batch{Owner: owner, At: r.used, Records: batch}); err != nil {
			return err
		}
	}
	return nil
}

func (r *carried) add(e entry) { r.records = append(r.records, e.Record) }

// parts makes the records for the room's texts, members, polls and votes.
func (r *carried) parts(ctx context.Context, tx *sql.Tx) error {
	return errors.Join(
		store.EachRow(ctx, tx, "SELECT prompt, link FROM room_texts WHERE room = ? ORDER BY n",
			func(scan func(...any) error) error {
				var t Text
				err := scan(&t.Prompt, &t.Link)
				r.add(r.c.entry(typeText, typeText, t))
				return err
			}, r.code),
		store.EachRow(ctx, tx, `SELECT id, learner, name, nameless, removed FROM room_members
			WHERE room = ? ORDER BY id`,
			func(scan func(...any) error) error {
				var m member
				err := scan(&m.ID, &m.Learner, &m.Name, &m.Nameless, &m.Removed)
				r.add(r.c.memberEntry(m))
				if m.Name != "" {
					r.add(r.c.nameEntry(m))
				}
				return err
			}, r.code),
		store.EachRow(ctx, tx, "SELECT data FROM room_polls WHERE room = ? ORDER BY id",
			func(scan func(...any) error) error {
				var data []byte
				var p poll
				if err := scan(&data); err != nil {
					return err
				}
				if err := json.Unmarshal(data, &p); err != nil {
					r.log.Error("a question of the old database cannot be read", "error", err)
					return nil
				}
				r.add(r.c.entry(typePoll, aboutOne(typePoll, p.ID), p))
				return nil
			}, r.code),
		store.EachRow(ctx, tx, `SELECT poll, round, member, choice, u, sure, n FROM room_votes WHERE room = ?
			ORDER BY poll, round, member`,
			func(scan func(...any) error) error {
				var at round
				var id int
				var v vote
				err := scan(&at.poll, &at.n, &id, &v.Choice, &v.U, &v.Sure, &v.N)
				r.add(voteEntry(at, id, v))
				return err
			}, r.code),
	)
}
