package progress

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// helperDir is the name of an environment variable. If the variable is set, the test binary acts as
// the process that the test kills.
const helperDir = "VIZ_TEST_PROGRESS_DIR"

// reviewUntilKilled reviews one card after another. As soon as a review is confirmed, it prints the
// review's id.
func reviewUntilKilled(dir string) {
	db, err := store.Open(dir, nil)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	s := New(journal.For(db), db, course(), time.Now)
	for i := 0; ; i++ {
		card, id := s.course.Cards[i%3].ID, fmt.Sprintf("%d-%d", os.Getpid(), i)
		if _, err := s.Review(ctx, ada, card, fsrs.Grades[i%4], id); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

// TestKilledBetweenReviews: if the process is killed during or between reviews, no confirmed review
// is lost, and every card's state follows from its reviews.
func TestKilledBetweenReviews(t *testing.T) {
	fixture.Long(t)
	const kills = 100
	dir := t.TempDir()
	var confirmed []string
	for round := range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), helperDir+"="+dir)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		lines, n := bufio.NewScanner(out), 0
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "error") {
				t.Fatalf("the process reports %q, want no error", lines.Text())
			}
			confirmed = append(confirmed, lines.Text())
			if n++; n == 7+11*(round%9) {
				must(t, c.Process.Kill()) // SIGKILL; output printed before it can still be read
			}
		}
		c.Wait()
		db, err := store.Open(dir, nil)
		must(t, err)
		s := New(journal.For(db), db, course(), time.Now)
		var f saved.File
		must(t, s.use(ctx, ada, func(l *learner) error { return read(ctx, l, &f) }))
		kept := make([]string, 0, len(f.Reviews))
		for _, r := range f.Reviews {
			kept = append(kept, r.ID)
		}
		for _, id := range confirmed {
			if !slices.Contains(kept, id) {
				t.Fatalf("review %s was confirmed but is lost; %d of %d are left", id, len(kept), len(confirmed))
			}
		}
		// In each round, at most one review can be saved without being confirmed.
		if extra := len(kept) - len(confirmed); extra > round+1 {
			t.Errorf("%d saved reviews were not confirmed, want at most one per round", extra)
		}
		counted := 0
		for _, card := range deckOf(t, s, ada).Cards {
			counted += card.Reviews
		}
		if counted != len(kept) {
			t.Errorf("cards count %d reviews, want %d", counted, len(kept))
		}
		must(t, db.Close())
	}
}
