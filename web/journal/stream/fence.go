package stream

import (
	"context"
	"errors"
	"strconv"

	"github.com/tokenbytoken/viz/web/journal"
)

// ErrFenced is returned for a batch of a writer that has been replaced.
var ErrFenced = errors.New("another writer has begun to write this log")

// AppendAs is Append for logs with one writer at a time. Each writer first appends a record
// of type kind whose id, a number, is higher than the previous writer's: its epoch. The
// batch is stored if the newest record of that type has the id epoch, or if the batch
// begins with that record and the log has none with an equal or higher id. Otherwise
// nothing of it is stored, and the error is [ErrFenced].
//
// The stream compares the number of the log's last message when it stores the batch, so the
// check and the append are atomic.
func (j *Journal) AppendAs(ctx context.Context, b journal.Batch, kind string, epoch uint64) ([]int64, error) {
	return j.appendIf(ctx, b, func(m *mirror) error {
		newest := m.newest(kind)
		first := len(b.Records) > 0 && b.Records[0].Type == kind && b.Records[0].ID == strconv.FormatUint(epoch, 10)
		if newest == epoch && !first || newest < epoch && first {
			return nil
		}
		return ErrFenced
	})
}

// newest returns the highest id, a number, of the records of a type, or 0 if there is none.
// Ids increase along the log.
func (m *mirror) newest(kind string) uint64 {
	for i := len(m.records) - 1; i >= 0; i-- {
		if m.records[i].Type == kind {
			if n, err := strconv.ParseUint(m.records[i].ID, 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}
