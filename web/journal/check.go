package journal

import (
	"context"
	"fmt"
)

// Checked is the result of [Check] for the logs of one kind.
type Checked struct {
	Logs, Records int
	// Unreadable is the number of records that a fold would skip, and Wrong is the number of
	// logs that have more or fewer records than they should.
	Unreadable, Wrong int
}

// Check reads all logs of a kind and calls readable for each record. Other clients may
// append at the same time.
func Check(ctx context.Context, j Journal, kind string, readable func(Record) bool) (c Checked, err error) {
	logs, err := j.Owners(ctx, kind)
	if err != nil {
		return c, err
	}
	for _, o := range logs {
		n := 0
		if err := j.Read(ctx, o.Owner, 0, func(r Record) error {
			n++
			if !readable(r) {
				c.Unreadable++
			}
			return nil
		}); err != nil {
			return c, fmt.Errorf("reading a %s's log: %w", kind, err)
		}
		c.Logs, c.Records = c.Logs+1, c.Records+n
		if n != o.Records {
			wrong, err := miscounted(ctx, j, o)
			if err != nil {
				return c, err
			}
			c.Wrong += wrong
		}
	}
	return c, nil
}

// miscounted is called if a log's records do not match the count in o. It returns 1 if the log
// still has that count, so that the mismatch is not due to a change in the meantime. Otherwise, it
// returns 0.
func miscounted(ctx context.Context, j Journal, o Info) (int, error) {
	logs, err := j.Owners(ctx, o.Kind)
	for _, now := range logs {
		if now.Name == o.Name && now.Records == o.Records {
			return 1, err
		}
	}
	return 0, err
}
