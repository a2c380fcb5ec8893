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

// A Habit is something that an attention head may do, with a measure of it.
type Habit string

// The habits that [Find] looks for.
const (
	// HabitPrevious: the head looks at the token before.
	HabitPrevious Habit = "previous"
	// HabitInduction: where a token has come before, the head looks at what came
	// after it then (Elhage et al. 2021, Olsson et al. 2022).
	HabitInduction Habit = "induction"
	// HabitStart: the head looks at the text's first position.
	HabitStart Habit = "start"
)

// Habits lists them.
func Habits() []Habit { return []Habit{HabitPrevious, HabitInduction, HabitStart} }

// Passing is the mean weight from which on a head is said to have a habit. It is
// a convention; the measure itself is what counts.
const Passing = 0.4

// How heads are measured: on texts that are a row of random tokens, twice. What
// comes in the second half can only be known from the first.
const (
	findTexts = 6
	findRow   = 20 // tokens of the row
	findSeed  = 23
	findShown = 3 // heads of each habit that are switched off
)

// Findings are the heads of a model by their habits.
type Findings struct {
	Texts, Row int // how many texts, and the tokens that each repeats
	// First and Second are the model's mean surprise in bits a token in the first
	// and in the second half: where the second is not much lower, the model does
	// not copy.
	First, Second float64
	Habits        []Finding
}

// A Finding is one habit: the heads that have most of it.
type Finding struct {
	Habit Habit
	Heads []Measured // the strongest first
	Pass  int        // how many heads of the model pass
	// Together is the surprise in the second half with all heads off that pass,
	// in bits a token; 0 where none does.
	Together float64
}

// Measured is one head.
type Measured struct {
	Part  infer.Part
	Score float64 // mean weight on the position that the habit is about, 0 to 1
	Pass  bool
	// Off is the surprise in the second half with this head off, in bits a token.
	Off float64
}

// Find measures all heads of a model on texts of random tokens and switches the
// strongest ones off. It returns an error if the model's context is too short.
func Find(ctx context.Context, m *infer.Model) (*Findings, error) {
	start := m.Config().BOS
	row := min(findRow, (m.Config().Context-1)/2)
	if row < 4 {
		return nil, fmt.Errorf("the context of %d tokens is too short to repeat anything", m.Config().Context)
	}
	f := &Findings{Texts: findTexts, Row: row}
	rng := rand.New(rand.NewPCG(findSeed, 0))
	scores := map[Habit][]float64{} // by habit: the sum for each head
	var texts []repeated
	for range findTexts {
		t := repeated{row: row}
		if start >= 0 {
			t.tokens, t.lead = []int{start}, 1
		}
		t.tokens = append(t.tokens, randomRow(rng, m, row)...)
		t.tokens = append(t.tokens, t.tokens[t.lead:]...)
		w, err := m.Watch(ctx, t.tokens, true)
		if err != nil {
			return nil, err
		}
		t.watch = w
		texts = append(texts, t)
		for _, h := range Habits() {
			scores[h] = t.score(h, scores[h])
		}
		first, second, err := t.surprise(w)
		if err != nil {
			return nil, err
		}
		f.First += first / findTexts
		f.Second += second / findTexts
	}
	for _, h := range Habits() {
		finding, err := find(ctx, m, h, scores[h], texts)
		if err != nil {
			return nil, err
		}
		f.Habits = append(f.Habits, finding)
	}
	return f, nil
}

// find lists the strongest heads of a habit and switches them off.
func find(ctx context.Context, m *infer.Model, h Habit, scores []float64, texts []repeated) (Finding, error) {
	f := Finding{Habit: h}
	heads := m.Config().Heads
	var passing []infer.Part
	for i, sum := range scores {
		part := infer.Part{Kind: infer.PartHead, Block: i/heads + 1, Head: i%heads + 1}
		head := Measured{Part: part, Score: sum / findTexts}
		if head.Pass = head.Score >= Passing; head.Pass {
			passing = append(passing, part)
		}
		f.Heads = append(f.Heads, head)
	}
	f.Pass = len(passing)
	slices.SortStableFunc(f.Heads, func(a, b Measured) int { return cmp.Compare(b.Score, a.Score) })
	f.Heads = f.Heads[:min(findShown, len(f.Heads))]
	for i := range f.Heads {
		off, err := without(ctx, texts, f.Heads[i].Part)
		if err != nil {
			return f, err
		}
		f.Heads[i].Off = off
	}
	if len(passing) == 0 {
		return f, nil
	}
	together, err := without(ctx, texts, passing...)
	f.Together = together
	return f, err
}

// without is the mean surprise in the second halves with parts off.
func without(ctx context.Context, texts []repeated, off ...infer.Part) (mean float64, err error) {
	for _, t := range texts {
		w, err := t.watch.Again(ctx, infer.Intervention{Off: off})
		if err != nil {
			return 0, err
		}
		_, second, err := t.surprise(w)
		if err != nil {
			return 0, err
		}
		mean += second / float64(len(texts))
	}
	return mean, nil
}

// randomRow draws different tokens that are plain text.
func randomRow(rng *rand.Rand, m *infer.Model, n int) (row []int) {
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

// repeated is a text that says the same row of tokens twice.
type repeated struct {
	tokens    []int
	lead, row int // start tokens, and the length of the row
	watch     *infer.Watch
}

// score adds each head's mean weight on the position that a habit is about, over
// the second half, to sums [layers·heads].
func (t repeated) score(h Habit, sums []float64) []float64 {
	c := t.watch.Model().Config()
	if sums == nil {
		sums = make([]float64, c.Layers*c.Heads)
	}
	for i := range sums {
		var sum float64
		for at := t.lead + t.row; at < len(t.tokens); at++ {
			target := map[Habit]int{HabitPrevious: at - 1, HabitInduction: at - t.row + 1, HabitStart: 0}[h]
			sum += float64(t.watch.Attention(i/c.Heads+1, i%c.Heads+1, at)[target])
		}
		sums[i] += sum / float64(t.row)
	}
	return sums
}

// surprise is the mean −log₂ p of what came in each half, in bits a token. The
// first token of the second half begins the repetition, so nothing gives it
// away and it is left out, as is the text's first.
func (t repeated) surprise(w *infer.Watch) (first, second float64, err error) {
	cells, err := w.Lens(w.Model().Config().Layers, 0)
	if err != nil {
		return 0, 0, err
	}
	mean := func(from, to int) (sum float64) { // of the tokens at these positions
		for at := from; at < to; at++ {
			sum += cells[at-1].Surprise() / float64(to-from)
		}
		return sum
	}
	half := t.lead + t.row
	first, second = mean(t.lead+1, half), mean(half+1, len(t.tokens))
	if math.IsInf(second, 0) {
		return first, second, fmt.Errorf("a token has the probability 0")
	}
	return first, second, nil
}
