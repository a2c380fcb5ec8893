package infer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
)

// TestInterruptedAdoptionChangesNothing: if a switch to a branch is interrupted between two blocks,
// the loop is unchanged: its cache contains nothing written by the interrupted pass.
func TestInterruptedAdoptionChangesNothing(t *testing.T) {
	ctx, m := context.Background(), smallModel(t)
	other := newLoop(t, m, "Hi", pure(1))
	runTo(t, other, 4, KindCache)
	settings := pure(1)
	settings.Temperature = 5
	branch := func() *Loop {
		l := newLoop(t, m, "Hi", settings)
		id := (other.Steps()[0].Chosen + 1) % m.Config().Vocab
		runTo(t, l, 1, KindLogits)
		if err := l.Choose(ctx, 1, id); err != nil {
			t.Fatal(err)
		}
		runTo(t, l, 4, KindCache)
		return l
	}
	undisturbed := branch()
	runTo(t, undisturbed, 5, KindLogits)
	for left := range 2 {
		l := branch()
		if err := l.Adopt(&lateContext{ctx, left}, other.Steps(), other.Settings()); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d blocks: got error %v, want %v", left, err, context.Canceled)
		}
		runTo(t, l, 5, KindLogits)
		if !sameBits(l.Steps()[4].Logits, undisturbed.Steps()[4].Logits) {
			t.Errorf("interrupted after %d blocks, the loop continues differently", left)
		}
	}
}

// TestEveryEndOfTextEnds: a model may have several end-of-text tokens, and each of them ends a
// text.
func TestEveryEndOfTextEnds(t *testing.T) {
	c, err := bundled.Draft()
	if err != nil {
		t.Fatal(err)
	}
	c.Config.EOS = append(c.Config.EOS, 7)
	m, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range c.Config.EOS {
		if !m.EOS(id) {
			t.Errorf("token %d does not end a text; all of %v do", id, c.Config.EOS)
		}
	}
	if m.EOS(8) {
		t.Error("token 8 ends a text")
	}
}

// TestGoOnRefusesFullWindow: a run whose context window is full cannot continue.
func TestGoOnRefusesFullWindow(t *testing.T) {
	l := newLoop(t, chain(t, nil, 'p', 'q', 'r'), strings.Repeat("p", 32), pure(1)) // all 32 positions
	finish(t, l)
	if err := l.GoOn(); l.Stopped() != StopContext || err == nil ||
		!strings.Contains(err.Error(), "window of 32 positions is full") {
		t.Errorf(
			"stopped by %q, GoOn returned %v; want %q and an error containing %q", l.Stopped(), err, StopContext,
			"window of 32 positions is full",
		)
	}
	if _, err := l.Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("Next gives %v, want io.EOF", err)
	}
}
