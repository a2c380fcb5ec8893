// Package journaltest tests whether an adapter of web/journal behaves as documented at
// [journal.Journal]. Only tests import it.
package journaltest

import (
	"context"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
)

// Run runs the suite. It calls open to open an empty journal for each test.
func Run(t *testing.T, open func(testing.TB) journal.Journal) {
	for _, c := range []struct {
		name string
		test func(*testing.T, journal.Journal)
	}{
		{"RecordsAreAddedOnce", testRecordsAreAddedOnce},
		{"OwnersAreDescribed", testOwnersAreDescribed},
		{"BatchesAreBounded", testBatchesAreBounded},
		{"CompactedRecordsAreGone", testCompactedRecordsAreGone},
		{"DroppedLogsAreGone", testDroppedLogsAreGone},
		{"SnapshotsAreReplaced", testSnapshotsAreReplaced},
		{"GivenUpAppendsKeepNothing", testGivenUpAppendsKeepNothing},
		{"AppendsAtOnce", testAppendsAtOnce},
		{"Retire", testRetire},
		{"SetAside", testSetAside},
		{"RandomOperations", testRandomOperations},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

var ctx = context.Background()

var (
	ada  = owner(journal.Learner, "ada")
	bob  = owner(journal.Learner, "bob")
	hall = owner(journal.Room, "ada") // has the same name as a learner
)

var morning = time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.UTC)
