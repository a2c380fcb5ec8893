package why

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tokenbytoken/viz/infer"
)

// A Habit is a behavior of attention heads that can be measured.
type Habit string

// The habits that [Find] measures.
const (
	// HabitPrevious: the head attends to the previous token.
	HabitPrevious Habit = "previous"
	// HabitInduction: if a token occurred earlier, the head attends to the token that followed that
	// occurrence (Elhage et al. 2021, Olsson et al. 2022).
	HabitInduction Habit = "induction"
	// HabitStart: the head attends to the text's first position.
	HabitStart Habit = "start"
)

// Habits lists all habits.
func Habits() []Habit { return []Habit{HabitPrevious, HabitInduction, HabitStart} }

// Passing is the lowest mean weight at which a head counts as having a habit. This limit is a
// convention; the measured weight is more informative.
const Passing = 0.4

// Heads are measured on texts that repeat a row of random tokens. The tokens of the second half can
// be predicted only from the first half.
const (
	findTexts = 6
	findRow   = 20 // number of tokens in the row
	findSeed  = 23
	findShown = 3 // number of heads to switch off for each habit
)

// Findings holds a model's heads by habit.
type Findings struct {
	Texts, Row int // the number of texts, and the number of tokens that each repeats
	// First and Second are the model's mean surprise in bits per token in the first and second
	// halves. If Second is not much lower than First, the model does not copy.
	First, Second float64
	Habits        []Finding
}

// A Finding is a habit and the heads in which it is strongest.
type Finding struct {
	Habit Habit
	Heads []Measured // the strongest first
	Pass  int        // number of the model's heads that pass
	// Together is the surprise in the second half with all passing heads off, in bits per token. It
	// is 0 if no head passes.
	Together float64
}

// Measured is a head with its measurements.
type Measured struct {
	Part  infer.Part
	Score float64 // mean weight on the habit's target position, 0 to 1
	Pass  bool
	// Off is the surprise in the second half with this head off, in bits per token.
	Off float64
}

// Find measures all heads of a model on texts of random tokens, and then measures the model with
// the strongest heads switched off. After each pass, it calls done, which may be nil, with the
// share of the work that is complete, from 0 to 1. It returns an error if the model's context is
// too short.
func Find(ctx context.Context, m *infer.Model, done func(share float64)) (*Findings, error) {
	row := min(findRow, LongestRow(m))
	if row < 4 {
		return nil, fmt.Errorf(
			"the model's context (%d tokens) is too short for this measurement, "+
				"which needs room for a repeated sequence",
			m.Config().Context,
		)
	}
	rng := rand.New(rand.NewPCG(findSeed, 0))
	var rows [][]int
	for range findTexts {
		rows = append(rows, RandomRow(rng, m, row))
	}
	texts := &Repeats{model: m, passed: func() {}}
	if done != nil {
		// The passes over the texts: unchanged, with each listed head off, and with all passing
		// heads off.
		all := findTexts * (1 + len(Habits())*(findShown+1))
		n := 0
		texts.passed = func() {
			n++
			done(float64(n) / float64(all))
		}
	}
	if err := texts.run(ctx, rows); err != nil {
		return nil, err
	}
	f := &Findings{Texts: findTexts, Row: row, First: texts.First, Second: texts.Second}
	for _, h := range Habits() {
		finding, err := find(ctx, texts, h)
		if err != nil {
			return nil, err
		}
		f.Habits = append(f.Habits, finding)
	}
	if done != nil {
		done(1)
	}
	return f, nil
}

// LongestRow returns the length of the longest row that a model can read twice.
func LongestRow(m *infer.Model) int { return (m.Config().Context - 1) / 2 }

// Repeats holds texts, each of which repeats a row of tokens, and a model's passes over them. The
// tokens in a text's second half can be predicted from its first half. Repeats is read-only.
type Repeats struct {
	model  *infer.Model
	texts  []repeated
	passed func() // called after each pass
	// First and Second are the mean surprise, over all texts, in the first and second halves, in
	// bits per token.
	First, Second float64
}

// Repeat runs the model on texts that each consist of the start token, if the model has one, and a
// row of at least two tokens, repeated once. It returns an error if a row is longer than
// [LongestRow].
func Repeat(ctx context.Context, m *infer.Model, rows [][]int) (*Repeats, error) {
	r := &Repeats{model: m, passed: func() {}}
	return r, r.run(ctx, rows)
}

// run runs the model on the rows and stores the results in r.
func (r *Repeats) run(ctx context.Context, rows [][]int) error {
	for _, row := range rows {
		if len(row) < 2 {
			return fmt.Errorf("got a row of %d tokens, want at least 2", len(row))
		}
		t := repeated{row: len(row)}
		if start := r.model.Config().BOS; start >= 0 {
			t.tokens, t.lead = []int{start}, 1
		}
		t.tokens = append(append(t.tokens, row...), row...)
		var err error
		if t.watch, err = r.model.Watch(ctx, t.tokens, true); err != nil {
			return err
		}
		first, second, err := t.surprise(ctx, t.watch)
		if err != nil {
			return err
		}
		r.First += first / float64(len(rows))
		r.Second += second / float64(len(rows))
		r.texts = append(r.texts, t)
		r.passed()
	}
	return nil
}

// Heads measures one habit in all heads, block by block.
func (r *Repeats) Heads(h Habit) []Measured {
	c := r.model.Config()
	sums := make([]float64, c.Layers*c.Heads)
	for _, t := range r.texts {
		t.score(h, sums)
	}
	var list []Measured
	for i, sum := range sums {
		head := Measured{
			Part:  infer.Part{Kind: infer.PartHead, Block: i/c.Heads + 1, Head: i%c.Heads + 1},
			Score: sum / float64(len(r.texts)),
		}
		head.Pass = head.Score >= Passing
		list = append(list, head)
	}
	return list
}

// Without returns the mean surprise in the second halves, in bits per token, with the given parts
// switched off.
func (r *Repeats) Without(ctx context.Context, off ...infer.Part) (mean float64, err error) {
	for _, t := range r.texts {
		w, err := t.watch.Again(ctx, infer.Intervention{Off: off})
		if err != nil {
			return 0, err
		}
		_, second, err := t.surprise(ctx, w)
		if err != nil {
			return 0, err
		}
		mean += second / float64(len(r.texts))
		r.passed()
	}
	return mean, nil
}

// find lists the heads in which a habit is strongest and measures the model with them switched off.
func find(ctx context.Context, texts *Repeats, h Habit) (Finding, error) {
	f := Finding{Habit: h, Heads: texts.Heads(h)}
	var passing []infer.Part
	for _, head := range f.Heads {
		if head.Pass {
			passing = append(passing, head.Part)
		}
	}
	f.Pass = len(passing)
	slices.SortStableFunc(f.Heads, func(a, b Measured) int { return cmp.Compare(b.Score, a.Score) })
	f.Heads = f.Heads[:min(findShown, len(f.Heads))]
	for i := range f.Heads {
		off, err := texts.Without(ctx, f.Heads[i].Part)
		if err != nil {
			return f, err
		}
		f.Heads[i].Off = off
	}
	if len(passing) == 0 {
		return f, nil
	}
	together, err := texts.Without(ctx, passing...)
	f.Together = together
	return f, err
}

// RandomRow returns n different random tokens. If it does not find enough plain-text tokens after
// 100·n tries, it also picks others. The vocabulary must have at least n tokens.
func RandomRow(rng *rand.Rand, m *infer.Model, n int) (row []int) {
	for tries := 0; len(row) < n; tries++ {
		id := rng.IntN(m.Config().Vocab)
		t := m.Token(id)
		plain := !t.Special && t.Bytes == nil && t.Text != ""
		if (plain || tries > 100*n) && !slices.Contains(row, id) {
			row = append(row, id)
		}
	}
	return row
}

// repeated is a text that consists of a row of tokens and its repetition.
type repeated struct {
	tokens    []int
	lead, row int // number of start tokens, and length of the row
	watch     *infer.Watch
}

// score adds to sums [layers·heads] each head's mean weight on a habit's target position,
// over the second half.
func (t repeated) score(h Habit, sums []float64) {
	c := t.watch.Model().Config()
	for i := range sums {
		var sum float64
		for at := t.lead + t.row; at < len(t.tokens); at++ {
			target := map[Habit]int{HabitPrevious: at - 1, HabitInduction: at - t.row + 1, HabitStart: 0}[h]
			sum += float64(t.watch.Attention(i/c.Heads+1, i%c.Heads+1, at)[target])
		}
		sums[i] += sum / float64(t.row)
	}
}

// surprise returns the mean −log₂ p of the tokens in each half, in bits per token. The first token
// of the second half cannot be predicted, since the repetition only begins there. It does not
// count, and neither does the first token of the first half.
func (t repeated) surprise(ctx context.Context, w *infer.Watch) (first, second float64, err error) {
	cells, err := w.Lens(ctx, w.Model().Config().Layers, 0, 0)
	if err != nil {
		return 0, 0, err
	}
	mean := func(from, to int) (sum float64) { // over the tokens at these positions
		for at := from; at < to; at++ {
			sum += cells[at-1].Surprise() / float64(to-from)
		}
		return sum
	}
	half := t.lead + t.row
	first, second = mean(t.lead+1, half), mean(half+1, len(t.tokens))
	if math.IsInf(second, 0) {
		return first, second, fmt.Errorf("a token has probability 0")
	}
	return first, second, nil
}
