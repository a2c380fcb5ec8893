package progress

import (
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// Readable reports whether a record of a learner's log can be read.
func Readable(r journal.Record) bool {
	_, err := saved.Read(r.Type, r.Data)
	return err == nil
}
