package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

const dataUsage = `Usage: viz data into [flags]    copy a data folder into a cluster
       viz data from [flags]    copy the data in a cluster to a data folder

Copies the data of learners and classes, to move a server to a cluster or back.
No server may use the folder at the same time. To make a backup, you can copy
from a cluster while its servers are running; data stored during the copy may be
missing. Nothing is deleted from the source, and existing data at the destination
is kept. If the command is interrupted, run it again to continue. Rooms whose
copy has been used, or whose code belongs to another room at the destination, are
skipped and listed.
`

// The directions in which viz data can copy.
const (
	intoCluster = "into"
	fromCluster = "from"
)

// dataOptions are the flags of viz data.
type dataOptions struct {
	folderFlag
	cluster clusterFlags
}

func (o *dataOptions) flags() *flags {
	f := newFlags(dataUsage)
	o.flag(f)
	o.cluster.flags(f, "the cluster's address, as for viz serve")
	return f
}

// runData runs viz data.
func runData(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	o, way := dataOptions{}, ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		way, args = args[0], args[1:]
	}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if way != intoCluster && way != fromCluster {
		return usageError{fmt.Errorf("use viz data %s or viz data %s", intoCluster, fromCluster)}
	}
	dir, err := o.folder(f, env)
	if err != nil {
		return err
	}
	if o.cluster.url == "" {
		return usageError{errors.New("missing -cluster: specify the address of the cluster")}
	}
	if err := o.cluster.check(f); err != nil {
		return err
	}
	if way == intoCluster { // the folder must contain data
		look, err := store.OpenToRead(dir)
		if err != nil {
			return err
		}
		if err := look.Close(); err != nil {
			return err
		}
	}
	return o.carry(ctx, f, way, dir, stdout, stderr)
}

// carry copies the data in one direction.
func (o *dataOptions) carry(ctx context.Context, f *flags, way, dir string, stdout, stderr io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	db, logs, err := openData(dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := o.cluster.join(ctx, f, "viz-data", log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	folder, cluster := records.Home{Logs: logs, Secrets: db}, records.Home{Logs: c.Journal(), Secrets: c.Secrets()}
	carry := &carry{from: folder, to: cluster, words: terms.In(ctx)}
	if way == fromCluster {
		carry.from, carry.to, carry.folder = cluster, folder, terms.Printable(dir)
	}
	if err := carry.all(ctx); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, carry.summary(), carry.words.T("cmd.data.again"))
	}
	fmt.Fprintln(stdout, carry.summary())
	secret := terms.Printable(filepath.Join(dir, "cookie-secret"))
	if way == intoCluster {
		fmt.Fprintln(stdout, carry.words.T("cmd.data.next.into", "secret", secret))
	} else {
		fmt.Fprintln(stdout, carry.words.T("cmd.data.next.from", "secret", secret))
	}
	return carry.left()
}

// carry holds the state of a copy of all logs from one journal to another.
type carry struct {
	from, to records.Home
	folder   string // the destination, "" if it is the cluster
	words    *terms.Language

	mu       sync.Mutex
	learners int
	rooms    int
	added    int      // number of records
	aside    int      // logs that were set aside as damaged
	out      []string // skipped rooms, each with the reason
}

// copying is the maximum number of logs copied concurrently.
const copying = 8

// all copies the logs of all learners and rooms.
func (c *carry) all(ctx context.Context) error {
	err := c.each(ctx, journal.Learner, func(ctx context.Context, log journal.Info) error {
		added, err := journal.Copy(ctx, c.from.Logs, c.to.Logs, log, nil)
		c.count(&c.learners, added, err)
		return err
	})
	if err != nil {
		return err
	}
	hashes, err := c.from.Secrets.Secrets(ctx)
	if err != nil {
		return err
	}
	there, err := c.to.Secrets.Secrets(ctx)
	if err != nil {
		return err
	}
	if err := c.each(ctx, journal.Room, func(ctx context.Context, log journal.Info) error {
		added, err := records.CopyRoom(ctx, c.from, c.to, log, hashes[log.Name], there[log.Name])
		for _, why := range []error{records.ErrOther, records.ErrUsed, records.ErrNoSecret} {
			if errors.Is(err, why) {
				c.leave(log.Name, why)
				return nil
			}
		}
		c.count(&c.rooms, added, err)
		return err
	}); err != nil {
		return err
	}
	aside, err := c.from.Logs.Owners(ctx, store.SetAsideKind)
	c.aside = len(aside)
	return err
}

// each calls f for every log of a kind. It runs several calls concurrently.
func (c *carry) each(ctx context.Context, kind string, f func(context.Context, journal.Info) error) error {
	logs, err := c.from.Logs.Owners(ctx, kind)
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(copying)
	for _, log := range logs {
		if ctx.Err() != nil {
			break
		}
		all.Go(func() error { return f(ctx, log) })
	}
	return all.Wait()
}

func (c *carry) count(logs *int, added int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added += added
	if err == nil {
		*logs++
	}
}

func (c *carry) leave(room string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, room+": "+why.Error())
}

// summary describes the copied data.
func (c *carry) summary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, key := c.words, "cmd.data.in.folder"
	if c.folder == "" {
		key = "cmd.data.in.cluster"
	}
	say := w.T(
		key, "n", c.added, "learners", w.Counted(c.learners, "learner"), "rooms", w.Counted(c.rooms, "room"),
		"folder", c.folder, "records", w.Counted(c.added, "record"),
	)
	if c.aside > 0 {
		say += " " + w.T("cmd.data.aside", "logs", w.Counted(c.aside, "log"))
	}
	return say
}

// left returns an error that lists the skipped rooms, or nil if there are none.
func (c *carry) left() error {
	if len(c.out) == 0 {
		return nil
	}
	slices.Sort(c.out)
	return fmt.Errorf("%s\n%s", c.words.T("cmd.data.left", "n", len(c.out)), strings.Join(c.out, "\n"))
}
