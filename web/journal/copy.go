package journal

import (
	"context"
	"errors"
)

// Limits of the batches of [Copy].
const (
	copyRecords = 20_000
	copyBytes   = 8 << 20
)

// ErrUsed is returned by [CopyNew] if the log in the other journal has been used since an
// earlier copy.
var ErrUsed = errors.New("the destination's copy of the log has been used")

// Copy appends the records of a log to the same owner's log in another journal. It omits the
// records for which leave returns true; leave can be nil. It returns the number of records that
// were added. Records that were set aside are not copied.
func Copy(ctx context.Context, from, to Journal, log Info, leave func(Record) bool) (added int, err error) {
	b, size := Batch{Owner: log.Owner, At: log.Used}, int64(0)
	flush := func() error {
		if len(b.Records) == 0 {
			return nil
		}
		seqs, err := to.Append(ctx, b)
		for _, seq := range seqs {
			if seq > 0 {
				added++
			}
		}
		b.Records, size = nil, 0
		return err
	}
	list, err := records(ctx, from, log.Owner, leave)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		if len(b.Records) == copyRecords || size+r.Size() > copyBytes {
			if err := flush(); err != nil {
				return added, err
			}
		}
		b.Records, size = append(b.Records, r), size+r.Size()
	}
	return added, flush()
}

// CopyNew is like [Copy], but for a log in which the order of records matters. If the other
// journal's log has records that the first log lacks, CopyNew copies nothing and returns [ErrUsed].
func CopyNew(ctx context.Context, from, to Journal, log Info, leave func(Record) bool) (added int, err error) {
	ours := map[Key]bool{}
	list, err := records(ctx, from, log.Owner, leave)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		ours[r.Key()] = true
	}
	theirs, err := records(ctx, to, log.Owner, leave)
	if err != nil {
		return 0, err
	}
	for _, r := range theirs {
		if !ours[r.Key()] {
			return 0, ErrUsed
		}
	}
	return Copy(ctx, from, to, log, leave)
}

func records(ctx context.Context, j Journal, o Owner, leave func(Record) bool) (list []Record, err error) {
	err = j.Read(ctx, o, 0, func(r Record) error {
		if leave == nil || !leave(r) {
			r.Seq = 0
			list = append(list, r)
		}
		return nil
	})
	return list, err
}
