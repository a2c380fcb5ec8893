package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/store"
)

const backupUsage = `Usage: viz backup [flags] FILE

Copies the saved data to a new file that only you can read, whether or not a
server is using it. The copy contains everything confirmed up to that time. An
existing file is never overwritten. The copy does not include the data folder's
cookie-secret file, which is needed to recognize browsers; copy that file as well
if you move to another machine.
To restore: stop the server, move viz.db, viz.db-wal and viz.db-shm out of the
data folder, copy FILE there as viz.db, and start the server.
`

// backupOptions are the flags of viz backup.
type backupOptions struct {
	folderFlag
	file string
}

func (o *backupOptions) flags() *flags {
	f := newFlags(backupUsage)
	f.path = &o.file
	o.flag(f)
	return f
}

// runBackup runs viz backup.
func runBackup(ctx context.Context, args []string, env func(string) string, stdout io.Writer) error {
	o := backupOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.file == "" {
		return usageError{errors.New("missing FILE argument: specify a path for the copy")}
	}
	dir, err := o.folder(f, env)
	if err != nil {
		return err
	}
	bytes, err := store.Backup(ctx, dir, o.file)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists and was not changed; choose another name", o.file)
	} else if err != nil {
		return err
	}
	w := terms.In(ctx)
	_, err = fmt.Fprintln(stdout, w.T(
		"cmd.backup.copied", "size", w.Bytes(bytes), "from", terms.Printable(dir), "to", terms.Printable(o.file),
	))
	return err
}
