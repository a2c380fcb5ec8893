package tab

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// browser is what a store of progress needs of a database besides its logs, where a
// browser keeps them: it has no notices, no limit of its own and no damaged files, and
// says at each write whether there is space.
type browser struct{}

func (browser) News(context.Context, string, time.Time) ([]store.Notice, error) { return nil, nil }
func (browser) ForgetReader(context.Context, string) error                      { return nil }
func (browser) Space(context.Context) store.Space                               { return store.SpaceForAll }
func (browser) Limit() int64                                                    { return 0 }
func (browser) Ready(context.Context) error                                     { return nil }
func (browser) DamagedFiles() ([]store.DamagedFile, error)                      { return nil, nil }
