package lessons

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
)

// lensAfter returns what the logit lens reads at the last position after each block, starting with
// block 1, with some positions hidden from all later ones.
func lensAfter(t *testing.T, s *why.Study, off string) (says []infer.Reading) {
	t.Helper()
	parts, positions, err := why.ParseOff(s.Model(), off)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Lens(t.Context(), infer.Intervention{Off: parts, Positions: positions}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		says = append(says, row[len(row)-1].Says[0])
	}
	return says
}

// TestLensSentencesAreTrue: what the lessons say about the logit lens is true of the bundled model.
// In block 5 it reads ·cottage in the wizard's sentence. With the wizard hidden, it still does, and
// it does so after a fish, too; with ·lived hidden, it does not. The wizard is at positions 2 and 3,
// and ·lived is at position 4.
func TestLensSentencesAreTrue(t *testing.T) {
	says(
		t, "in block 5 it reads ·cottage", "it would without the wizard, too", "lived that makes a home likely",
		"Only the top reading is the",
	)
	m := testmodel.Target(t)
	wizard := whyStudy(t, m, Sentence)
	whole, hidden := lensAfter(t, wizard, ""), lensAfter(t, wizard, "pos:2,pos:3")
	fish, saw := lensAfter(t, whyStudy(t, m, "The fish lived in a"), ""), lensAfter(t, whyStudy(t, m, "Bob saw a"), "")
	for _, row := range []struct {
		what  string
		got   infer.Reading
		want  string
		least float64
	}{
		{"block 5", whole[4], " cottage", 0.85},
		{"block 5, wizard hidden", hidden[4], " cottage", 0.8},
		{"block 5, after a fish", fish[4], " cottage", 0.75},
		{"block 6, the model's answer", whole[5], " hollow", 0.2},
		// Block 1 looks back already: the last token is the same, and the reading is not.
		{"block 1", whole[0], " large", 0},
		{"block 1, after Bob saw a", saw[0], " little", 0},
	} {
		if row.got.Token.Text != row.want || row.got.P < row.least {
			t.Errorf(
				"%s: the lens reads %q with %v, want %q with at least %v", row.what, row.got.Token.Text, row.got.P,
				row.want, row.least,
			)
		}
	}
	if got := lensAfter(t, wizard, "pos:4")[4]; got.Token.Text == " cottage" {
		t.Error("with ·lived hidden, block 5 still reads ·cottage; want another token")
	}
}

// TestLensIsNeverCalledAnAnswer: no text of the course says that the model would say what the logit
// lens reads.
func TestLensIsNeverCalledAnAnswer(t *testing.T) {
	for file, text := range coursePlain(t) {
		for _, gone := range []string{
			"would say after each block", "if it stopped there", "if its blocks ended", "has heard of the wizard",
			"a guess from the last word alone",
		} {
			if strings.Contains(text, gone) {
				t.Errorf("%s says %q of a reading of the unfinished vector", file, gone)
			}
		}
	}
}

// TestHiddenWordsSentencesAreTrue: what the lesson on one pass says about hidden words is true of
// the bundled model. The wizard is at positions 2 and 3, and ·lived is at position 4.
func TestHiddenWordsSentencesAreTrue(t *testing.T) {
	says(
		t, "With ·lived hidden, almost everything moves", "There is no ·cottage any more",
		"With ·w and izard hidden, little moves", "makes a home likely, not the wizard",
	)
	m := testmodel.Target(t)
	w, err := m.Watch(t.Context(), m.Encode(widgetNamed(t, "hide-wizard").Params["prompt"]), false)
	if err != nil {
		t.Fatal(err)
	}
	cottage := m.Encode(" cottage")
	shares := func(w *infer.Watch) []float64 {
		z, err := w.Logits(m.Config().Layers, 6)
		if err != nil {
			t.Fatal(err)
		}
		p, _, _ := sampling.Softmax(z, 1)
		return p
	}
	whole := shares(w)
	for _, row := range []struct {
		off         []int
		least, most float64 // of the probability that moves
		likely      bool    // whether ·cottage keeps half of its probability
	}{{[]int{4}, 0.95, 1, false}, {[]int{2, 3}, 0.01, 0.15, true}} {
		again, err := w.Again(t.Context(), infer.Intervention{Positions: row.off})
		if err != nil {
			t.Fatal(err)
		}
		p, moved := shares(again), 0.0
		for i := range p {
			moved += math.Abs(p[i]-whole[i]) / 2
		}
		id := cottage[len(cottage)-1]
		if moved < row.least || moved > row.most || (p[id] > whole[id]/2) != row.likely || p[id] > 0.01 != row.likely {
			t.Errorf("%v hidden: %v moves, ·cottage has %v; want %+v", row.off, moved, p[id], row)
		}
	}
}
