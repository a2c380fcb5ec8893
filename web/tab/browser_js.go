package tab

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// browser tells the progress store what it needs to know about the browser's storage, beyond the
// logs. A browser has no notices, no damaged files and no storage limit set by the program, and
// each write reports whether there is space.
type browser struct{}

func (browser) News(context.Context, string, time.Time) ([]store.Notice, error) { return nil, nil }
func (browser) ForgetReader(context.Context, string) error                      { return nil }
func (browser) Space(context.Context) store.Space                               { return store.SpaceForAll }
func (browser) Limit() int64                                                    { return 0 }
func (browser) Ready(context.Context) error                                     { return nil }
func (browser) DamagedFiles() ([]store.DamagedFile, error)                      { return nil, nil }
