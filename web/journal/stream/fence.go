package stream

import (
	"context"
	"errors"
	"strconv"

	"github.com/tokenbytoken/viz/web/journal"
)

// ErrFenced is returned for a batch of a writer that another one has followed.
var ErrFenced = errors.New("another writer has begun to write this log")

// AppendAs is Append for logs that one writer at a time may append to. Each begins with a
// record of a type, whose id is a number that is higher than that of the one before: its
// epoch. The batch is stored if the newest record of that type has the id epoch, or if
// the batch begins with that record and the log has none as high. Otherwise nothing of
// it is stored, and the error is [ErrFenced].
//
// The stream compares the number of the log's last message when it stores the batch, so
// nothing can come in between.
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

// newest returns the highest number that is the id of a record of a type, 0 if there is
// none. They grow along the log.
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
