package why

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

func study(t testing.TB, m *infer.Model, text string) *Study {
	t.Helper()
	s, err := New(context.Background(), m, m.Encode(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t testing.TB, s *Study, off string) *Answer {
	t.Helper()
	parts, positions, err := ParseOff(s.Model(), off)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Ask(context.Background(), Question{
		Token: -1, Over: -1, Says: 3, Intervention: infer.Intervention{Off: parts, Positions: positions},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPartsAddUpToTheScore: the contributions of the 43 parts add up to a score of 21.30, and
// without block 1's feed-forward layer the model no longer predicts Paris.
func TestPartsAddUpToTheScore(t *testing.T) {
	s := study(t, testmodel.Target(t), "The capital of France is")
	a := ask(t, s, "L1.ffn")
	if got := s.Model().Token(a.Token).Text; got != " Paris" || a.Base.Rank != 1 || len(a.Base.Parts) != 43 {
		t.Fatalf(`got the token %q with %d parts, want " Paris" at rank 1 with 43 parts`, got, len(a.Base.Parts))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.006 {
			t.Errorf("%s is %.3f, want %.2f", what, got, want)
		}
	}
	near("the score", a.Base.Z, 21.30)
	near("the last feed-forward layer", a.Base.Parts[42].Z, 13.40)
	near("the score without L1.ffn", a.Changed.Z, -14.54)
	near("the embedding without L1.ffn", a.Changed.Parts[0].Z, 1.09)
	if got := a.Changed.Says[0].Token.Text; got != " he" {
		t.Errorf("without L1.ffn the model predicts %q", got)
	}
	if a.Moved[0].Part.String() != "L6.ffn" || len(a.Moved) != 42 {
		t.Errorf(
			"got %d parts moved, most of all %+v; want Part.String() = %q, len(a.Moved) = 42", len(a.Moved), a.Moved[0],
			"L6.ffn",
		)
	}
}

// TestBlockOffEqualsPartsOff: switching off a block has the same effect as switching off all its
// parts, and a token's lead over another is the difference between their scores.
func TestBlockOffEqualsPartsOff(t *testing.T) {
	s := study(t, testmodel.Target(t), "The capital of France is")
	block, parts := ask(t, s, "L2"), ask(t, s, "l2.h1,L2.H2,L2.H3,L2.H4,L2.H5,L2.H6,L2.FFN")
	if block.Changed.Z != parts.Changed.Z {
		t.Errorf("with block 2 off, got %v, want %v as with all its parts off", block.Changed.Z, parts.Changed.Z)
	}
	rome, err := FindToken(s.Model(), "Rome")
	if err != nil {
		t.Fatal(err)
	}
	lead, err := s.Ask(context.Background(), Question{Token: block.Token, Over: rome})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Ask(context.Background(), Question{Token: rome, Over: -1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(lead.Base.Z-(block.Base.Z-other.Base.Z)) > 1e-4 {
		t.Errorf(
			"the lead is %v, want about %v, the scores %v and %v", lead.Base.Z, block.Base.Z-other.Base.Z, block.Base.Z,
			other.Base.Z,
		)
	}
}

// TestLensWithPartsOff: with a whole block switched off, the lens makes the same prediction above
// that block as below it.
func TestLensWithPartsOff(t *testing.T) {
	s := study(t, testmodel.Target(t), "The capital of France is")
	parts, _, err := ParseOff(s.Model(), "L2")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Lens(context.Background(), infer.Intervention{Off: parts}, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := s.Lens(context.Background(), infer.Intervention{}, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rows[2], rows[1]) || !reflect.DeepEqual(rows[1], whole[1]) {
		t.Error("block 2 still changes the prediction although it is off")
	}
	if reflect.DeepEqual(rows[3], whole[3]) || reflect.DeepEqual(whole[2], whole[1]) {
		t.Error("switching off block 2 changed nothing")
	}
}

// TestHidingFranceHidesParis: without the position of France, the model cannot tell which capital
// is meant.
func TestHidingFranceHidesParis(t *testing.T) {
	s := study(t, testmodel.Target(t), "The capital of France is")
	if a := ask(t, s, "pos:4"); a.Changed.Rank == 1 || a.Changed.P > 0.1 {
		t.Errorf(
			"with France hidden, Paris has p %v and rank %d; want at most 0.1, not 1", a.Changed.P, a.Changed.Rank,
		)
	}
}

// TestPatchShowsWhereTheAnswerIsLookedUp: up to the height at which the last position attends to
// the word that differs, carrying over that word's stream changes the answer. Above that height,
// carrying over the last position's stream changes it.
func TestPatchShowsWhereTheAnswerIsLookedUp(t *testing.T) {
	m := testmodel.Target(t)
	france, italy := study(t, m, "The capital of France is"), study(t, m, "The capital of Italy is")
	g, err := france.Patch(context.Background(), italy)
	if err != nil {
		t.Fatal(err)
	}
	if m.Token(g.Here).Text != " Paris" || m.Token(g.There).Text != " Rome" {
		t.Fatalf("got %q and %q; want %q, %q", m.Token(g.Here).Text, m.Token(g.There).Text, " Paris", " Rome")
	}
	last := len(g.Cells) - 1
	for what, c := range map[string]struct{ got, want float64 }{
		"the word itself":               {g.Cells[0][4].Follows, 1},
		"the end of the last position":  {g.Cells[last][5].Follows, 1},
		"a position that is the same":   {g.Cells[3][3].Follows, 0},
		"the word, after all has ended": {g.Cells[last][4].Follows, 0},
	} {
		if math.Abs(c.got-c.want) > 1e-4 {
			t.Errorf("%s: the answer follows %v, want %v", what, c.got, c.want)
		}
	}
	if _, err := france.Patch(context.Background(), study(t, m, "The capital")); err == nil {
		t.Error("Patch accepted texts of different lengths")
	}
}

// TestOffRoundTrip: parsing FormatOff's output with ParseOff restores the same parts, and FormatOff
// lists complete blocks as blocks.
func TestOffRoundTrip(t *testing.T) {
	m := testmodel.Target(t)
	for text, want := range map[string]string{
		"":                        "",
		" L3.H2 , l4.FFN,pos:0":   "L3.H2,L4.ffn,pos:0",
		"pos:3,pos:1,pos:3,L6.H1": "L6.H1,pos:1,pos:3",
		"L2.ffn,L2,L2.H1":         "L2",
	} {
		parts, positions, err := ParseOff(m, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := FormatOff(m, parts, positions); got != want {
			t.Errorf("%q is formatted as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"head 3": "is not a part", "L": "is not a part", "L3.": "is not a part", "L0": "L1 to L6", "L7.H1": "L1 to L6",
		"L3.H7": "H1 to H6", "L3.bias": "H1 to H6", "pos:-1": "is not a position", "pos:x": "is not a position",
		",": "is not a part", "3": "is not a part",
	} {
		if _, _, err := ParseOff(m, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := ParseOff(m, strings.Repeat("x", 10_000)); err == nil || len(err.Error()) > 300 {
		t.Errorf("a long part gave an error of %d bytes, want at most 300", len(err.Error()))
	}
	if _, _, err := ParseOff(m, strings.Repeat("L1,", 10_000)+"L2"); err == nil ||
		!strings.Contains(err.Error(), "At most 256") {
		t.Errorf("10,001 parts: got error %v, want an error containing %q", err, "At most 256")
	}
	for _, text := range []string{"", "#", "#4096", "#-1", "#x", "a word that is many tokens"} {
		if id, err := FindToken(m, text); err == nil && text != "#" {
			t.Errorf("FindToken(%q) = %d, <nil>; want an error", text, id)
		}
	}
	if id, err := FindToken(m, "#7"); err != nil || id != 7 {
		t.Errorf("#7 is parsed as %d, %v; want 7, <nil>", id, err)
	}
}

// TestFoundHeadsLookThere: in every model that the engine runs, the heads that pass a habit attend
// to its target position with a mean weight of at least Passing, and the surprise with heads
// switched off is above 0.
func TestFoundHeadsLookThere(t *testing.T) {
	models := map[string]*infer.Model{"bundled": testmodel.Target(t)}
	for _, name := range []string{"gpt2", "gemma3", "olmo2", "qwen3", "smollm3", "mistral-window"} {
		c, err := checkpoint.OpenPath(filepath.Join("..", "..", "testdata", "models", name))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if models[name], err = infer.Load(c); err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range models {
		f, err := Find(context.Background(), m, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, h := range f.Habits {
			sorted := slices.IsSortedFunc(h.Heads, func(a, b Measured) int {
				if a.Score < b.Score {
					return 1
				}
				return -1
			})
			if len(h.Heads) != findShown || !sorted && name == "bundled" {
				t.Errorf("%s: %s lists %+v, want %d heads in descending order", name, h.Habit, h.Heads, findShown)
			}
			for _, head := range h.Heads {
				if head.Score < 0 || head.Score > 1 || head.Pass != (head.Score >= Passing) || head.Off <= 0 {
					t.Errorf(
						"%s: %s lists %+v; want Score at least 0 and at most 1, Pass = %t, Off more than 0", name,
						h.Habit, head, head.Score >= Passing,
					)
				}
			}
			if (h.Together > 0) != (h.Pass > 0) {
				t.Errorf(
					"%s: %s: got %d passing heads, Together %v; want both or neither above 0", name, h.Habit, h.Pass,
					h.Together,
				)
			}
		}
	}
	f, err := Find(context.Background(), models["bundled"], nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Habits[0].Heads[0].Part.String() != "L4.H4" || f.Habits[0].Pass != 2 || f.Habits[1].Pass != 0 {
		t.Errorf(
			"the bundled model's heads are %+v, want [0].Heads[0].Part.String() = %q, [0].Pass = 2, [1].Pass = 0",
			f.Habits, "L4.H4",
		)
	}
}

// TestWatchedPassMemory: for each position, a pass stores 7 streams, 6 outputs of heads and 6
// outputs of feed-forward layers, all of width 192, and 6 keys and values of 2 heads of 32.
func TestWatchedPassMemory(t *testing.T) {
	s := study(t, testmodel.Target(t), "The capital of France is")
	if got, want := s.Bytes(), int64(4*6*((7+6+6)*192+6*2*64)); len(s.Tokens()) != 6 || got != want {
		t.Errorf("%d positions take %d bytes, want %d", len(s.Tokens()), got, want)
	}
}

// BenchmarkIntervention computes a complete answer, with one part of the bundled model switched
// off.
func BenchmarkIntervention(b *testing.B) {
	s := study(b, testmodel.Target(b), "The capital of France is")
	for _, off := range []string{"L1.H1", "L1", "pos:0", "L6.ffn"} {
		b.Run(off, func(b *testing.B) {
			for b.Loop() {
				ask(b, s, off)
			}
		})
	}
}

// BenchmarkLens computes the lens of 256 positions at every height, and reports the memory that the
// pass and the cells use.
func BenchmarkLens(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("..", "..", "web", "WIRE.md"))
	if err != nil {
		b.Fatal(err)
	}
	m := testmodel.Target(b)
	tokens := m.Encode(string(text[:8192]))[:256]
	b.ReportAllocs()
	for b.Loop() {
		s, err := New(context.Background(), m, tokens)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Bytes()), "held-B")
		if _, err := s.Lens(context.Background(), infer.Intervention{}, 0, 5); err != nil {
			b.Fatal(err)
		}
	}
}
