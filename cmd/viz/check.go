package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

const checkUsage = `Usage: viz check [flags]

Checks the saved data without changing it, whether or not a server is using it:
every page of the database, the references between its tables, and every record
of every learner and room. Also checks the model and reads every weight. If the
database is damaged, or viz cannot run the model, it exits with code 2.
`

// checkOptions are the flags of viz check.
type checkOptions struct {
	folderFlag
	modelPath
	json bool
}

func (o *checkOptions) flags() *flags {
	f := newFlags(checkUsage)
	o.flag(f)
	o.modelPath.flags(f)
	f.toggle("json", "print one JSON object", &o.json)
	return f
}

// checked is the output of viz check -json; infer/STAGES.md describes it.
type checked struct {
	Database checkedDatabase `json:"database"`
	Model    checkedModel    `json:"model"`
}

type checkedDatabase struct {
	Path     string      `json:"path"`
	Bytes    int64       `json:"bytes"`
	Version  int         `json:"version"`
	Learners checkedLogs `json:"learners"`
	Rooms    checkedLogs `json:"rooms"`
	Sound    bool        `json:"sound"`
	Faults   []string    `json:"faults,omitempty"`
}

type checkedLogs struct {
	Logs    int `json:"logs"`
	Records int `json:"records"`
}

type checkedModel struct {
	Model   string   `json:"model"`
	Runs    bool     `json:"runs"`
	Reasons []string `json:"reasons,omitempty"`
}

// runCheck runs viz check.
func runCheck(ctx context.Context, args []string, env func(string) string, stdout io.Writer) error {
	o := checkOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	dir, err := o.folder(f, env)
	if err != nil {
		return err
	}
	c := checked{}
	if c.Model, err = o.checkModel(f); err != nil {
		return err
	}
	if c.Database, err = checkDatabase(ctx, dir); err != nil {
		return err
	}
	if _, err := o.print(terms.In(ctx), c).WriteTo(stdout); err != nil {
		return err
	}
	switch {
	case !c.Database.Sound:
		return unfitError{fmt.Errorf("%s is damaged", c.Database.Path)}
	case !c.Model.Runs:
		return unfitError{fmt.Errorf("viz cannot run %s", c.Model.Model)}
	}
	return nil
}

// checkModel checks the model as viz inspect does.
func (o *checkOptions) checkModel(f *flags) (checkedModel, error) {
	i := inspectOptions{modelPath: o.modelPath}
	d, err := i.describe()
	if d.Checkpoint != nil {
		defer d.Checkpoint.Close()
	}
	if err != nil && d.Format == "" {
		err = explain(o.modelPath, err)
		return checkedModel{}, usageError{fmt.Errorf("%s %s: %w", f.called("model"), o.model, err)}
	}
	reasons := checkpoint.Reasons(err)
	return checkedModel{d.Name, len(reasons) == 0, reasons}, nil
}

// checkDatabase checks the database in a folder. If the database is intact, it also checks the
// logs.
func checkDatabase(ctx context.Context, dir string) (checkedDatabase, error) {
	found, err := store.Check(ctx, dir)
	c := checkedDatabase{Path: found.Path, Bytes: found.Bytes, Version: found.Version, Faults: found.Faults}
	if err != nil || len(c.Faults) > 0 {
		return c, err
	}
	db, err := store.OpenToRead(dir)
	if err != nil {
		return c, err
	}
	defer db.Close()
	logs := journal.For(db)
	check := func(kind string, readable func(journal.Record) bool) (checkedLogs, error) {
		found, err := journal.Check(ctx, logs, kind, readable)
		if found.Unreadable > 0 {
			c.fault("unreadable: %s in the logs of %ss", terms.Counted(found.Unreadable, "record"), kind)
		}
		if found.Wrong > 0 {
			c.fault("wrong number of records: %s of %ss", terms.Counted(found.Wrong, "log"), kind)
		}
		return checkedLogs{found.Logs, found.Records}, err
	}
	if c.Learners, err = check(journal.Learner, progress.Readable); err != nil {
		return c, err
	}
	if c.Rooms, err = check(journal.Room, records.Readable); err != nil {
		return c, err
	}
	rooms, err := records.List(ctx, logs, db)
	for _, r := range rooms {
		if r.Fault != "" {
			c.fault("room %s: %s", r.Code, r.Fault)
		}
	}
	if found.Secret != "" {
		c.fault("%s", found.Secret)
	}
	c.Sound = len(c.Faults) == 0
	return c, err
}

func (c *checkedDatabase) fault(format string, args ...any) {
	c.Faults = append(c.Faults, fmt.Sprintf(format, args...))
}

func (o *checkOptions) print(w *terms.Language, c checked) io.WriterTo {
	if o.json {
		return indented{c}
	}
	s := &sheet{words: w}
	d := c.Database
	s.line(w.T("cmd.check.database"), w.T(
		"cmd.check.database.say", "path", d.Path, "size", w.Bytes(d.Bytes), "version", strconv.Itoa(d.Version),
	))
	logs := func(l checkedLogs) string {
		return w.T("cmd.check.logs", "logs", terms.Count(l.Logs), "records", w.Counted(l.Records, "record"))
	}
	if d.Learners.Logs+d.Rooms.Logs > 0 || d.Sound {
		s.line(w.T("cmd.check.learners"), logs(d.Learners))
		s.line(w.T("cmd.check.rooms"), logs(d.Rooms))
	}
	yes := w.T("cmd.verdict.yes")
	s.verdict(w.T("cmd.check.sound"), yes, d.Faults)
	s.line(w.T("cmd.check.model"), c.Model.Model)
	s.verdict(w.T("cmd.check.runs"), yes, c.Model.Reasons)
	return strings.NewReader(s.String())
}
