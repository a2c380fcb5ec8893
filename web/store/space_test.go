package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSpaceLevels: the more of the limit is used, the less is accepted. Space that is freed can be
// used again.
// Promise: The closer the database comes to -data-limit, the less it accepts.
func TestSpaceLevels(t *testing.T) {
	db := opened(t, t.TempDir())
	space := func() Space {
		db.space.until = time.Time{} // force a new measurement
		return db.Space(context.Background())
	}
	if got := space(); got != SpaceForAll || db.Limit() != 0 {
		t.Errorf("without a limit: %d of %d", got, db.Limit())
	}
	const limit = 4 << 20
	if err := db.SetLimit(limit); err != nil {
		t.Fatal(err)
	}
	if got := space(); got != SpaceForAll || db.Limit() != limit {
		t.Errorf("empty: got %d of %d; want %d, %d", got, db.Limit(), SpaceForAll, limit)
	}
	seen := map[Space]int64{}
	for i := 0; space() < SpaceForAnswers; i++ {
		mustPut(t, db, fmt.Sprint(i), strings.Repeat("x", 16<<10))
		if got := space(); seen[got] == 0 {
			seen[got] = 100 * db.space.used / limit
		}
	}
	for level, want := range map[Space]int64{SpaceForSmall: 50, SpaceForKnown: 75, SpaceForAnswers: 90} {
		if got := seen[level]; got < want || got > want+1 {
			t.Errorf("level %d begins at %d %%, want %d", level, got, want)
		}
	}
	mustPut(t, db, "due", "x")
	if err := execOwners(db); err != nil {
		t.Fatal(err)
	}
	if got := space(); got != SpaceForAll {
		t.Errorf("after all data was deleted: got %d, want %d", got, SpaceForAll)
	}
}
