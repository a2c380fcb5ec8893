package infer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestSurpriseAgreesWithPyTorch: the model's surprise at the fixture's texts equals PyTorch's to
// within 1e-4 nats, wherever the fixture has PyTorch's logit of the next token. PyTorch's surprise
// is log Σ e^z minus that logit.
// Promise: The surprise that `viz score` gives for a token agrees with PyTorch.
func TestSurpriseAgreesWithPyTorch(t *testing.T) {
	f, m, compared := readPyTorch(t), bundledModel(t), 0
	var ours, theirs float64
	for _, p := range f.Prompts {
		list, err := m.Score(context.Background(), p.Text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range list { // token i+1, predicted after position i
			want, kept := math.NaN(), false
			for k, id := range p.TopIDs[i] {
				if id == s.Token.ID {
					want, kept = p.LogSumExp[i]-float64(p.TopLogits[i][k]), true
				}
			}
			for k, id := range f.SampleIDs {
				if id == s.Token.ID {
					want, kept = p.LogSumExp[i]-float64(p.Sampled[i][k]), true
				}
			}
			if !kept {
				continue
			}
			compared++
			ours, theirs = ours-s.LogProb, theirs+want
			if math.Abs(-s.LogProb-want) > 1e-4 {
				t.Errorf("%s, token %d: got %.6f nats, want %.6f as in PyTorch", p.Name, i+1, -s.LogProb, want)
			}
		}
	}
	ours, theirs = math.Exp(ours/float64(compared)), math.Exp(theirs/float64(compared))
	if compared < 100 || math.Abs(ours-theirs) > 1e-4 {
		t.Errorf(
			"over %d tokens, got perplexity %.6f, PyTorch %.6f; want at least 100 tokens, about %.6f", compared, ours,
			theirs, theirs,
		)
	}
}

// TestScoreAllByHand: after x, a has z = 3, the end of text z = 1 and all other tokens z = −1000,
// so p(a) = e³/(e + e³) = 0.8808. After a, a and b have equal scores. The first token is given, so
// the surprise of the other two tokens of "xab" is −ln 0.8808 + ln 2 = 0.1269 + 0.6931 nats, which
// is 1.183 bits.
func TestScoreAllByHand(t *testing.T) {
	m := bigram(t, nil, map[int]map[int]float32{'x': {'a': 3, endID: 1}, 'a': {'a': 0, 'b': 0}})
	var given []string
	got, err := m.ScoreAll(context.Background(), "xab", func(r ReadToken) { given = append(given, r.Token.Text) })
	if err != nil || got.Tokens != 2 || got.Bytes != 2 || strings.Join(given, "") != "xab" {
		t.Fatalf("got %+v of %q, %v; want 2 tokens and 2 bytes of xab, <nil>", got, given, err)
	}
	if math.Abs(got.Bits()-1.1831) > 1e-4 || math.Abs(got.BitsPerToken()-0.5916) > 1e-4 ||
		math.Abs(got.BitsPerByte()-0.5916) > 1e-4 || math.Abs(got.Perplexity()-1.5069) > 1e-4 {
		t.Errorf(
			"got %.4f bits, %.4f and %.4f each, perplexity %.4f; want about 1.1831, about 0.5916, about "+
				"0.5916, about 1.5069",
			got.Bits(), got.BitsPerToken(), got.BitsPerByte(), got.Perplexity(),
		)
	}
	var short *terms.RangeError
	if _, err := m.ScoreAll(context.Background(), "x", nil); !errors.As(err, &short) {
		t.Errorf("one token: got error %v, want an error of type *terms.RangeError", err)
	}
}

// TestScoreCountsBytesOfText: the space that SentencePiece adds before a text is not counted as a
// byte of the text.
func TestScoreCountsBytesOfText(t *testing.T) {
	const text = "was it there?"
	for _, name := range []string{"tinyllama", "mistral", "llama2c/legacy.bin"} {
		for _, start := range []bool{true, false} {
			m, want, first := *openModel(t, name), len(text), ""
			if !start {
				m.config.BOS = -1
			}
			got, err := m.ScoreAll(t.Context(), text, func(r ReadToken) {
				if r.First { // begins with the added space, and has no prediction
					first = r.Token.Text
					want -= len(first) - len(" ")
				}
			})
			if err != nil || got.Bytes != want || (first == "") != start {
				t.Errorf(
					"%s, start token %v, first token %q: got %d bytes, %v; want %d, <nil>", name, start, first,
					got.Bytes, err, want,
				)
			}
			c, err := m.Compare(t.Context(), Side{Text: text, Settings: sampling.Pure})
			if err != nil || c.Sides[0].Sum.Bytes != want {
				t.Errorf("%s, start token %v, compared: got %+v, %v; want %d bytes, <nil>", name, start, c, err, want)
			}
		}
	}
}

// TestScoreAllInWindows: a text longer than the context, 32 positions, is read in windows. Each
// token is reported once, in order, and its surprise is the same as without windows, since this
// model considers only the previous token.
func TestScoreAllInWindows(t *testing.T) {
	m := bigram(t, nil, map[int]map[int]float32{'a': {'a': 0, 'b': 0}, 'b': {'a': 0, 'b': 0}})
	text := strings.Repeat("abba", 30)
	var given strings.Builder
	got, err := m.ScoreAll(context.Background(), text, func(r ReadToken) { given.WriteString(r.Token.Text) })
	if err != nil || given.String() != text || got.Tokens != 119 || math.Abs(got.BitsPerToken()-1) > 1e-6 {
		t.Errorf(
			"got %+v, %v; given %q; want no error, given.String() = %q, Tokens = 119, BitsPerToken() ≈ 1", got, err,
			given.String(), text,
		)
	}
}

// TestScoreAllIsExact: reading several positions and windows at a time gives the same bits as
// reading one token after another, in order, with a start token and without one.
func TestScoreAllIsExact(t *testing.T) {
	text := strings.Repeat("ab é abc User: 😀! ", 20)
	for _, start := range []bool{true, false} {
		m := *smallModel(t)
		if !start {
			m.config.BOS = -1
		}
		var got []float64
		sum, err := m.ScoreAll(t.Context(), text, func(r ReadToken) { got = append(got, r.LogProb) })
		if err != nil {
			t.Fatal(err)
		}
		want, nats := oneByOne(t, &m, m.Encode(text))
		if !slices.Equal(got, want) || sum.Nats != nats || len(want) < 3*m.config.Context {
			t.Errorf("start token %v: got %d tokens of %v nats, want %d of %v, with the same bits", start, len(got),
				sum.Nats, len(want), nats)
		}
	}
}

// oneByOne returns ln p of each token (0 for a first token without a prediction) and −Σ ln p.
func oneByOne(t *testing.T, m *Model, ids []int) (list []float64, nats float64) {
	t.Helper()
	half := m.config.Context / 2
	for done := 0; done < len(ids); {
		from := max(0, done-half)
		end, c := min(from+m.config.Context, len(ids)), m.NewCache()
		var z []float32
		for at := from; at < end; at++ {
			id := ids[at]
			if at == from && m.config.BOS >= 0 {
				id = m.config.BOS
			}
			switch {
			case at >= done && z != nil:
				p, _ := m.Chances(z, id, 0)
				list, nats = append(list, p), nats-p
			case at >= done && m.config.BOS < 0:
				list = append(list, 0)
			}
			z = logitsAfter(t, m, c, id)
		}
		done = end
	}
	return list, nats
}

// TestScoreAllIsStopped: once its context ends, ScoreAll stops reading. The tokens reported by then
// are the beginning of the text.
func TestScoreAllIsStopped(t *testing.T) {
	m := bigram(t, nil, map[int]map[int]float32{'a': {'a': 0, 'b': 0}, 'b': {'a': 0, 'b': 0}})
	text := strings.Repeat("abba", 3000)
	ctx, cancel := context.WithCancel(t.Context())
	var given strings.Builder
	_, err := m.ScoreAll(ctx, text, func(r ReadToken) {
		if given.WriteString(r.Token.Text); given.Len() == 40 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(text, given.String()) || given.Len() == len(text) {
		t.Errorf("got %v and %d bytes, want %v and part of the %d bytes", err, given.Len(), context.Canceled, len(text))
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if sum, err := m.ScoreAll(ctx, text, nil); !errors.Is(err, context.Canceled) || sum.Tokens != 0 {
		t.Errorf("stopped before the start: got %+v, %v; want nothing, %v", sum, err, context.Canceled)
	}
}
