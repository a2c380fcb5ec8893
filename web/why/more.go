package why

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

// gridTokens is how long a text may be whose every vector is carried over: each is a
// run of its own.
const gridTokens = 32

// grid is what comes of carrying another text's vectors over, on the map of the model.
type grid struct {
	With, Bad   string
	Here, There stage.Text
	Same        bool // both texts say the same
	Map         *stage.Map
}

// A patchError says why another text's vectors can't be carried over.
type patchError struct{ error }

// patch carries the vectors of a text into the one asked about. What is wrong with that
// text comes back as a *patchError.
func patch(ctx context.Context, r *why.Report, with string) error {
	m, n := r.Study.Model(), len(r.Study.Tokens())
	about := subject{prompt: with}
	if err := about.read(ctx, m, nil); err != nil {
		return &patchError{sentenceOf(err)}
	}
	if len(about.tokens) != n || n > gridTokens {
		return &patchError{fmt.Errorf(
			"the other text has %s and this one %d. Both need the same number, at most %d",
			terms.Counted(len(about.tokens), "token"), n, gridTokens,
		)}
	}
	var err error
	if r.Other, err = why.New(ctx, m, about.tokens); err == nil {
		r.Grid, err = r.Study.Patch(ctx, r.Other)
	}
	return err
}

// newGrid lays out what came of another text's vectors.
func newGrid(r *why.Report, about subject) grid {
	g, m, answer := grid{With: about.with}, r.Study.Model(), r.Grid
	if answer == nil {
		return g
	}
	g.Here, g.There = stage.TokenText(m.Token(answer.Here)), stage.TokenText(m.Token(answer.There))
	if g.Same = answer.Here == answer.There; g.Same {
		return g
	}
	here, there := r.Study.Tokens(), r.Other.Tokens()
	drawn := lang.NewMapText(stage.MapTextOf{
		ID: "why-patch", Aria: "How far the answer follows", Model: m, Tokens: here,
		Row: func(int) stage.MapKey { return stage.MapKey{} },
		Column: func(at int) stage.MapKey {
			if here[at] == there[at] {
				return stage.MapKey{}
			}
			t := append(stage.Text{}, stage.TokenText(m.Token(here[at]))...)
			t = append(append(t, stage.Piece{S: " / ", Mark: true}), stage.TokenText(m.Token(there[at]))...)
			return stage.MapKey{Text: t}
		},
		Cell: func(height, at int) stage.MapKey {
			c := answer.Cells[height][at]
			return stage.MapKey{Small: terms.Percent(c.Follows), Class: fmt.Sprintf("p%d", sizeOf(c.Follows))}
		},
	})
	g.Map = &drawn
	return g
}

// habit is one habit of heads, in words.
type habit struct {
	Name, Say string
	Heads     []string
}

// habits are what heads are looked for.
var habits = map[why.Habit]string{
	why.HabitPrevious:  "Looks at the token before",
	why.HabitInduction: "Looks at what came after the same token before (an induction head)",
	why.HabitStart:     "Looks at the start of the text",
}

// finder measures a model's heads once, for all who ask.
type finder struct {
	mu   sync.Mutex
	last *search
}

// search is a measurement, which is over when done is closed.
type search struct {
	done  chan struct{}
	found *why.Findings
	err   error
}

// findTime ends a measurement that never comes to an end.
const findTime = 5 * time.Minute

// find returns the findings once there are any. Who asks may wait no longer than ctx; the
// measurement goes on, so that on a slow machine the next one who asks has it. One that
// failed is made again.
func (f *finder) find(ctx context.Context, m *infer.Model, log *slog.Logger) (*why.Findings, error) {
	f.mu.Lock()
	s := f.last
	if s == nil {
		s = &search{done: make(chan struct{})}
		f.last = s
		go f.run(s, m, log)
	}
	f.mu.Unlock()
	select {
	case <-s.done:
		return s.found, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *finder) run(s *search, m *infer.Model, log *slog.Logger) {
	defer close(s.done)
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	s.err = fault.Do(log, "looking for heads", func() (err error) {
		s.found, err = why.Find(ctx, m)
		return err
	})
	if s.err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = nil
}

// inWords says what was found; nothing if nobody looked.
func inWords(f *why.Findings) (how string, list []habit) {
	if f == nil {
		return "", nil
	}
	how = fmt.Sprintf(
		"Measured on %s of %s, each said twice. The second time only the first can give away what comes: the model's "+
			"surprise is %s bits a token in the first half and %s in the second.",
		terms.Counted(f.Texts, "row"), terms.Counted(f.Row, "random token"), terms.Decimals(f.First, 2),
		terms.Decimals(f.Second, 2),
	)
	for _, h := range f.Habits {
		w := habit{Name: habits[h.Habit]}
		switch h.Pass {
		case 0:
			w.Say = fmt.Sprintf(
				"No head of this model does, by this measure: none gives %s of its weight there.",
				terms.Percent(why.Passing),
			)
		default:
			w.Say = fmt.Sprintf(
				"%s of this model %s, by this measure: %s of the weight or more. Without them the surprise is %s.",
				terms.Counted(h.Pass, "head"), map[bool]string{true: "does", false: "do"}[h.Pass == 1],
				terms.Percent(why.Passing), terms.Decimals(h.Together, 2),
			)
		}
		for _, head := range h.Heads {
			w.Heads = append(w.Heads, fmt.Sprintf(
				"%s: %s of its weight. Without it the surprise is %s.", nameOf(head.Part), terms.Percent(head.Score),
				terms.Decimals(head.Off, 2),
			))
		}
		list = append(list, w)
	}
	return how, list
}
