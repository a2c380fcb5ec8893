package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/remote"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

const roomsUsage = `Usage: viz rooms [flags]                list class rooms
       viz rooms close [flags] CODE    end a class: its code no longer works
       viz rooms remove [flags] CODE   delete a room and everything in it

Works on the rooms in the data folder, whether or not a server is using it, or in
a cluster, whether or not its servers are running. A closed class keeps
its summary, and its instructor can reopen it; a removed room is gone.
`

// folderFlag is the -data flag of the commands that work on a server's data.
type folderFlag struct{ data string }

func (o *folderFlag) flag(f *flags) {
	f.text("data", "DIR", "the data folder (default: as for viz serve)", &o.data)
}

// folder returns the data folder.
func (o *folderFlag) folder(f *flags, env func(string) string) (string, error) {
	if f.given("data") {
		if o.data == "" {
			return "", usageError{errors.New("-data must not be empty: only a server can keep data in memory")}
		}
		return o.data, nil
	}
	if dir := dataFolder(runtime.GOOS, env); dir != "" {
		return dir, nil
	}
	return "", usageError{errors.New("this user has no default data folder; set one with -data")}
}

// roomsOptions are the flags of viz rooms.
type roomsOptions struct {
	folderFlag
	cluster    clusterFlags
	verb, code string // "close" or "remove", and the room's code; "" to list the rooms
	json       bool
	lessons    string // the folder of the server's -lessons, "" for none
}

func (o *roomsOptions) flags() *flags {
	f := newFlags(roomsUsage)
	o.flag(f)
	o.cluster.flags(f, "the cluster's address, as for viz serve")
	if o.verb != "" {
		f.path = &o.code
		f.text("lessons", "DIR", "the server's -lessons folder, if it has one", &o.lessons)
	} else {
		f.toggle("json", "print one JSON object", &o.json)
	}
	return f
}

// runRooms runs viz rooms.
func runRooms(ctx context.Context, args []string, env func(string) string, stdout io.Writer) error {
	o := roomsOptions{}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.verb, args = args[0], args[1:]
		if o.verb != closeVerb && o.verb != removeVerb {
			return usageError{fmt.Errorf("unknown command %q; want close or remove", o.verb)}
		}
	}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.code = class.NormalCode(o.code); o.verb != "" && !class.IsCode(o.code) {
		return usageError{fmt.Errorf("viz rooms %s requires a six-character room code, such as K7Q-4MX", o.verb)}
	}
	if err := o.cluster.check(f); err != nil {
		return err
	}
	if o.cluster.url != "" {
		return o.inCluster(ctx, f, stdout)
	}
	dir, err := o.folder(f, env)
	if err != nil {
		return err
	}
	if o.verb == "" {
		return o.list(ctx, dir, stdout)
	}
	if err := changeRoom(ctx, dir, o.lessons, o.verb, o.code); err != nil {
		return err
	}
	return o.changed(terms.In(ctx), stdout)
}

// inCluster lists the rooms of a cluster, or changes one of them. If a server owns that room, the
// change goes through that server.
func (o *roomsOptions) inCluster(ctx context.Context, f *flags, stdout io.Writer) (err error) {
	log := slog.New(slog.DiscardHandler)
	c, err := o.cluster.join(ctx, f, "viz-rooms", log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if o.verb == "" {
		rooms, err := records.List(ctx, c.Journal(), c.Secrets())
		if err != nil {
			return err
		}
		return o.print(rooms, cluster.Redacted(o.cluster.url), terms.In(ctx), stdout)
	}
	course, err := ownLessons(o.lessons)
	if err != nil {
		return err
	}
	hub, err := remote.NewHub(room.Config{
		Logs: c.Journal(), Secrets: c.Secrets(), Now: c.Now, Course: course, Log: log,
		Limits: room.Limits{TTL: math.MaxInt64}, // nothing expires: only the named room is deleted
	}, *c.Rooms())
	if err != nil {
		return err
	}
	if err := errors.Join(change(ctx, hub, o.verb, o.code), hub.Close(ctx)); err != nil {
		return err
	}
	return o.changed(terms.In(ctx), stdout)
}

// changed prints that a room was closed or removed.
func (o *roomsOptions) changed(w *terms.Language, stdout io.Writer) error {
	_, err := fmt.Fprintln(stdout, w.T("cmd.rooms.done."+o.verb, "code", o.code))
	return err
}

// list prints the rooms in a data folder.
func (o *roomsOptions) list(ctx context.Context, dir string, stdout io.Writer) error {
	db, err := store.OpenToRead(dir)
	if err != nil {
		return err
	}
	rooms, err := records.List(ctx, journal.For(db), db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return o.print(rooms, dir, terms.In(ctx), stdout)
}

// print prints the rooms and where they are stored.
func (o *roomsOptions) print(rooms []records.Saved, where string, w *terms.Language, stdout io.Writer) error {
	if o.json {
		list := make([]roomObject, len(rooms))
		for i, r := range rooms {
			list[i] = roomJSON(r)
		}
		_, err := indented{map[string]any{"rooms": list}}.WriteTo(stdout)
		return err
	}
	var b strings.Builder
	for _, r := range rooms {
		describeRoom(w, &b, r)
	}
	b.WriteString(w.T("cmd.rooms.all", "rooms", w.Counted(len(rooms), "room"), "where", where) + "\n")
	_, err := io.WriteString(stdout, b.String())
	return err
}

// describeRoom prints two lines about a room. Damage is always described in English.
func describeRoom(w *terms.Language, b *strings.Builder, r records.Saved) {
	state := w.T("cmd.rooms.state.open")
	switch {
	case r.Fault != "":
		state = w.T("cmd.rooms.state.damaged", "why", r.Fault)
	case r.Ended:
		state = w.T("cmd.rooms.state.closed")
	case r.Locked:
		state = w.T("cmd.rooms.state.locked")
	}
	fmt.Fprintf(b, "%s     %s\n", r.Code, w.T(
		"cmd.rooms.room", "title", cmp.Or(r.Title, w.T("cmd.rooms.untitled")), "state", state,
		"time", r.Used.Local().Format("2006-01-02 15:04"),
	))
	fmt.Fprintf(b, "%s%s\n", indent, w.T(
		"cmd.rooms.content", "members", w.Counted(r.Members, "member"), "polls", w.Counted(r.Polls, "poll"),
		"votes", w.Counted(r.Votes, "vote"), "texts", w.Counted(r.Texts, "earlier text"), "size", w.Bytes(r.Bytes),
	))
}

// roomObject is a room in the output of viz rooms -json; infer/STAGES.md describes it.
type roomObject struct {
	Code    string    `json:"code"`
	Title   string    `json:"title"`
	Begun   time.Time `json:"begun,omitzero"`
	Used    time.Time `json:"used"`
	Ended   bool      `json:"ended"`
	Locked  bool      `json:"locked"`
	Members int       `json:"members"`
	Polls   int       `json:"polls"`
	Votes   int       `json:"votes"`
	Texts   int       `json:"texts"`
	Records int       `json:"records"`
	Bytes   int64     `json:"bytes"`
	Fault   string    `json:"fault,omitempty"`
}

func roomJSON(r records.Saved) roomObject {
	return roomObject{
		r.Code, r.Title, r.Begun, r.Used, r.Ended, r.Locked, r.Members, r.Polls, r.Votes, r.Texts, r.Records, r.Bytes,
		r.Fault,
	}
}
