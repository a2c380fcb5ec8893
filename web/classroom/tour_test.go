package classroom

import (
	"context"
	"errors"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
)

// TestToursShareThePool: the forward passes of guided tours go through the pool. If a
// visitor leaves, the steps that have been computed are kept, and later steps are the same
// as without the interruption.
func TestToursShareThePool(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	open := pool.New(m, 1)
	defer open.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, w := range course.Walks {
		straight, cut, cuts := newTours(open.Slot), newTours(open.Slot), 0
		for step := 1; step <= len(w.Steps); step++ {
			if _, err := cut.at(gone, w, step); errors.Is(err, context.Canceled) {
				cuts++
			} else if err != nil { // steps that only go back do not need a forward pass
				t.Fatalf("%s %d: a visitor who has left gets error %v", w.Slug, step, err)
			}
			want, err := straight.at(t.Context(), w, step)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cut.at(t.Context(), w, step)
			if err != nil {
				t.Fatal(err)
			}
			if session.LinkOf(got) != session.LinkOf(want) || got.Cursor != want.Cursor || got.Prompt != want.Prompt ||
				len(got.Steps) != len(want.Steps) {
				t.Errorf(
					"%s %d: after an interruption, the run is at %v of %d steps, want %v of %d",
					w.Slug, step, got.Cursor,
					len(got.Steps), want.Cursor, len(want.Steps),
				)
			}
		}
		if cuts < 3 {
			t.Errorf("%s: the run was interrupted only %d times", w.Slug, cuts)
		}
	}
	closed := pool.New(m, 1)
	closed.Close()
	if _, err := newTours(closed.Slot).at(t.Context(), course.Walks[0], 1); err == nil {
		t.Error("a tour does not use the pool")
	}
}

// TestTranslatedToursHaveTheirOwnRuns: a translated script can have another prompt, so visitors in two
// languages see different runs.
func TestTranslatedToursHaveTheirOwnRuns(t *testing.T) {
	t.Parallel()
	pool := pool.New(testmodel.Target(t), 1)
	defer pool.Close()
	tours := newTours(pool.Slot)
	for _, prompt := range []string{"Once upon a", "Es war einmal"} {
		start := lessons.WalkStart{Prompt: prompt, Settings: infer.DefaultSettings()}
		walk := &lessons.Walk{Slug: "loop", Steps: []*lessons.WalkStep{{Do: []lessons.Action{start}}}}
		if st, err := tours.at(t.Context(), walk, 1); err != nil || st.Prompt != prompt {
			t.Errorf("got a run of %v, %v; want one of %q", st, err, prompt)
		}
	}
}
