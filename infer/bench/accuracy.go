package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// Accuracy describes how much the predictions of two weight formats differ at all positions of some
// texts.
type Accuracy struct {
	Quant     infer.Quant `json:"quant"`
	Texts     string      `json:"texts"`     // "written" or "generated"
	Positions int         `json:"positions"` // number of predictions compared
	Top1      float64     `json:"top1"`      // share of positions whose most probable token stayed the same
	// MeanKL is the mean of Σ p·ln(p/q), in nats. p are float32's probabilities at T = 1, and q the
	// other format's.
	MeanKL  float64 `json:"mean_kl"`
	MaxKL   float64 `json:"max_kl"`
	MaxDiff float64 `json:"max_diff"` // largest difference in a logit
}

//go:embed testdata/heldout.txt
var heldOut embed.FS

// HeldOut returns short texts, as m's token ids. They were written for this comparison and are not
// in any training data.
func HeldOut(m *infer.Model) [][]int {
	data, err := heldOut.ReadFile("testdata/heldout.txt")
	if err != nil {
		panic(err) // not possible, since the file is embedded
	}
	var texts [][]int
	for text := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		texts = append(texts, m.Encode(text))
	}
	return texts
}

// Generated returns n texts that m generates, as token ids. Each has up to `length` tokens after
// its first words, drawn at T = 1 from the whole vocabulary. Such texts are included because, in
// use, a model mostly reads its own output. The same model gives the same texts.
func Generated(ctx context.Context, m *infer.Model, n, length int) ([][]int, error) {
	starts := []string{
		"Once upon a time", "The old man", "One day, Lily", "In the morning", "There was a cat", "Tom and his dog",
		"It was very cold", "The capital of",
	}
	var texts [][]int
	for i := range n {
		s := infer.DefaultSettings()
		s.Temperature, s.TopP, s.Seed, s.Stop.MaxTokens = 1, 1, uint64(i+1), length
		loop, err := infer.NewLoop(m, starts[i%len(starts)], s)
		if err != nil {
			return nil, err
		}
		loop.Rows = 1
		for {
			if _, err := loop.Advance(ctx); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
		}
		ids := slices.Clone(loop.Prompt())
		for _, s := range loop.Steps() {
			ids = append(ids, s.Chosen)
		}
		texts = append(texts, ids)
	}
	return texts, nil
}

// Compare runs both models, which must share a vocabulary, on every text and compares their
// predictions at each position. Texts are token ids, truncated to the context.
func Compare(ctx context.Context, exact, other *infer.Model, name string, texts [][]int) (Accuracy, error) {
	a := Accuracy{Quant: other.Quant(), Texts: name}
	kept := 0
	for _, ids := range texts {
		ids = ids[:min(len(ids), exact.Config().Context)]
		want, err := everyLogit(ctx, exact, ids)
		if err != nil {
			return a, err
		}
		got, err := everyLogit(ctx, other, ids)
		if err != nil {
			return a, err
		}
		if len(want) != len(got) {
			return a, fmt.Errorf(
				"models of %d and %d tokens cannot be compared", exact.Config().Vocab, other.Config().Vocab,
			)
		}
		v := exact.Config().Vocab
		for at := 0; at < len(want); at += v {
			p, q := want[at:at+v], got[at:at+v]
			if sampling.Top(p, 1)[0] == sampling.Top(q, 1)[0] {
				kept++
			}
			d := sampling.Divergence(p, q)
			a.MeanKL += d
			a.MaxKL = max(a.MaxKL, d)
			for i := range p {
				a.MaxDiff = max(a.MaxDiff, math.Abs(float64(p[i])-float64(q[i])))
			}
			a.Positions++
		}
	}
	if a.Positions == 0 {
		return a, fmt.Errorf("no position to compare in %d texts", len(texts))
	}
	a.MeanKL /= float64(a.Positions)
	a.Top1 = float64(kept) / float64(a.Positions)
	return a, nil
}

// everyLogit runs a model on tokens and returns the logits of every position, [n, vocab].
func everyLogit(ctx context.Context, m *infer.Model, ids []int) ([]float32, error) {
	out := make([]float32, len(ids)*m.Config().Width)
	if _, err := m.ForwardTo(ctx, m.NewCache(), ids, out); err != nil {
		return nil, err
	}
	z := make([]float32, len(ids)*m.Config().Vocab)
	_, err := m.LogitsTo(ctx, out, z)
	return z, err
}
