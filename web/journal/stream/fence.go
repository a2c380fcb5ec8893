package stream

import (
	"context"
	"errors"
	"strconv"

	"github.com/tokenbytoken/viz/web/journal"
)

// ErrFenced is returned for a batch from a writer that has been replaced.
var ErrFenced = errors.New("another writer has taken over this log")

// AppendAs is like Append, but for logs with one writer at a time. Each writer first appends a
// record of type kind whose id is the writer's epoch, a number that is higher than the previous
// writer's. The batch is stored if the newest record of that type has the id epoch, or if the batch
// begins with a record of that type and id and the log has no such record with an equal or higher
// id. Otherwise nothing is stored, and the error is [ErrFenced].
//
// When the stream stores the batch, it compares the number of the log's last message, so the
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

// newest returns the highest id of the records of a type, or 0 if there are none. It ignores ids
// that are not numbers. The ids increase along the log.
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
