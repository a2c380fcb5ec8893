package room

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal"
)

// TestNextOwnershipCountsNoOldPages: when a server becomes the owner of a room again, it does not
// count the pages that were reported to it during its previous ownership.
func TestNextOwnershipCountsNoOldPages(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(1)
	if err := ask(t.Context(), l, func(c *core) error {
		c.pagesOn("c").pages[classtest.Learner(1)] = 2
		c.recount()
		return c.commit()
	}); err != nil {
		t.Fatal(err)
	}
	l.Settled("only the pages on server c count", func(v *class.View) bool { return v.Here == 1 })
	log := journal.Info{Owner: journal.Owner{Kind: journal.Room, Name: l.Code()}, Used: s.clock.Now()}
	again, err := s.RestoreOwned(t.Context(), log, NewFace(l.Code(), l.Secret.Hash()), single{s.Hub}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c := again.core; len(c.members) != 1 || len(c.servers) != 0 || c.here != 0 || c.present() != 0 {
		t.Errorf("the new owner has %d members and counts the pages of %d servers, want 1 and 0",
			len(c.members), len(c.servers))
	}
}

// TestReportPartsInAnyOrder: the parts of a report can arrive twice, late, or out of order. The
// newest complete report counts.
func TestReportPartsInAnyOrder(t *testing.T) {
	t.Parallel()
	whole := func(n uint64, learners int) Report {
		a := Report{N: n, Pages: map[string]int{}, Presenters: map[string]int{"instructor": int(n)}}
		for i := range learners {
			a.Pages[fmt.Sprint(i)] = int(n)
		}
		return a
	}
	parts := func(n uint64, learners, want int) []Report {
		list := whole(n, learners).Split()
		if len(list) != want {
			t.Fatalf("got %d pages in %d parts, want %d", learners, len(list), want)
		}
		return list
	}
	one, two, three := parts(1, 0, 1), parts(2, 2*partPages+1, 3), parts(3, partPages, 1)
	s := &serverPages{}
	for i, c := range []struct {
		part Report
		want uint64 // the report that counts afterwards
	}{
		{one[0], 1},
		{two[2], 1},
		{two[0], 1},
		{two[2], 1},
		{one[0], 1},
		{two[1], 2},
		{two[1], 2},
		{three[0], 3},
		{two[0], 3},
	} {
		s.take(c.part)
		want := map[uint64]int{1: 0, 2: 2*partPages + 1, 3: partPages}[c.want]
		if s.n != c.want || len(s.pages) != want || s.presenters["instructor"] != int(c.want) {
			t.Errorf("after part %d: got report %d with %d pages, want %d with %d", i, s.n, len(s.pages), c.want, want)
		}
	}
}
