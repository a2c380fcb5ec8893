package lab

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bench"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

func TestQuantizationWays(t *testing.T) {
	q, r := result[*Quantization](t, "quantization", terms.Values{
		"tokens": "12", "step": "4", "rows": "5", "repeats": "2",
	})
	if len(q.Ways) != 3 || len(q.Steps) != 12 || len(q.Text) != 12 || q.Step != 4 || !q.LeftOut.IsZero() {
		t.Fatalf(
			"got %d ways, %d steps of %d tokens, step %d, %s; want 3, 12, 12, 4, nothing", len(q.Ways), len(q.Steps),
			len(q.Text), q.Step, q.LeftOut,
		)
	}
	// The blocks have 6 · (2·192·192 + 2·64·192 + 3·1024·192) = 4,128,768 weights, and the
	// embedding has 4,096·192 = 786,432. All of them are stored as bfloat16.
	const blocks, table = 4_128_768, 786_432
	for i, want := range []struct {
		name  string
		bytes int64
		bits  float64
	}{
		{"own weights", 2 * (blocks + table), 16},
		{"int8", blocks*68/64 + 2*table, 8.5}, // a scale and a sum of 4 bytes for each 64 weights
		{"Q4_0", blocks*18/32 + 2*table, 4.5},
	} {
		w := q.Ways[i]
		if w.Name.String() != want.name || w.Bytes != want.bytes || w.BitsEach != want.bits || w.Ms.N != 2 ||
			w.Ms.Median <= 0 ||
			w.Wide != (w.Name.String() == "Q4_0") {
			t.Errorf("got %+v, want %+v", w, want)
		}
		sum := q.Rest.P[i]
		for _, b := range q.Bars {
			sum += b.P[i]
		}
		if !near(sum, 1, 1e-9) {
			t.Errorf("%s: the probabilities add up to %v, want about 1", w.Name, sum)
		}
		kept, total, most := 0, 0.0, 0.0
		for _, s := range q.Steps {
			total, most = total+s.KL[i], max(most, s.KL[i])
			if s.Same[i] {
				kept++
			}
		}
		if w.Kept != kept || !near(w.MeanKL, total/12, 1e-12) || w.MaxKL != most || w.KL != q.Steps[3].KL[i] ||
			w.Same != q.Steps[3].Same[i] {
			t.Errorf(
				"%s: got %+v, %d steps stay, KL %v in total, %v at most; want Kept = %d, MeanKL ≈ %v, MaxKL "+
					"= %v, KL = %v, Same = %t",
				w.Name, w, kept, total, most, kept, total/12, most, q.Steps[3].KL[i], q.Steps[3].Same[i],
			)
		}
	}
	if own, int8, q4 := q.Ways[0], q.Ways[1], q.Ways[2]; own.Kept != 12 || own.MaxKL != 0 ||
		!(0 < int8.MeanKL && int8.MeanKL < q4.MeanKL) || int8.MeanKL > 1e-3 {
		t.Errorf(
			"got mean KL %v, %v, %v; want 0 for own weights, less for int8, at most 1e-3, than for Q4_0", own.MeanKL,
			int8.MeanKL, q4.MeanKL,
		)
	}
	if len(q.Bars) < 5 || q.Others != 4096-len(q.Bars) || r.Noise.IsZero() || len(r.Findings) != 3 {
		t.Errorf(
			"got %d bars and %d others; %q; want len(q.Bars) at least 5, q.Others = %d, r.Noise not empty, 3 elements",
			len(q.Bars), q.Others, r.Findings, 4096-len(q.Bars),
		)
	}
}

// TestQuantizationAgreesWithBench: the divergences equal infer/bench's for the same text.
func TestQuantizationAgreesWithBench(t *testing.T) {
	q, _ := result[*Quantization](t, "quantization", terms.Values{"prompt": "Once", "tokens": "9", "repeats": "1"})
	own := models(t).Target
	ids := own.Encode("Once")
	if len(ids) != q.Prompt {
		t.Fatalf("%d tokens, want %d", q.Prompt, len(ids))
	}
	prompt := ids
	for _, x := range q.Text[:len(q.Text)-1] {
		ids = append(ids, x.ID)
	}
	for i, kind := range []infer.Quant{infer.QuantInt8, infer.QuantQ4} {
		rounded, err := own.Rounded(kind)
		if err != nil {
			t.Fatal(err)
		}
		// The lab compares all positions of the text, and the prompt's last position.
		sum := func(ids []int) float64 {
			a, err := bench.Compare(context.Background(), own, rounded, "test", [][]int{ids})
			if err != nil {
				t.Fatal(err)
			}
			return a.MeanKL * float64(a.Positions)
		}
		want := sum(ids) - sum(prompt[:len(prompt)-1])
		got := q.Ways[i+1].MeanKL * float64(len(q.Steps))
		if !(math.Abs(got-want) <= 1e-9*max(1, want)) {
			t.Errorf("%s: total KL %v, want %v", kind, got, want)
		}
	}
}

// TestQuantizationOfOtherModels: a model that is already rounded is rejected, and a model whose
// rows are not whole blocks is compared without Q4_0.
func TestQuantizationOfOtherModels(t *testing.T) {
	l, _ := Find("quantization")
	rounded, err := models(t).Target.Rounded(infer.QuantInt8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), Env{Target: rounded}, values(t, l, small["quantization"]), nil); err == nil ||
		!strings.Contains(err.Error(), "already rounded to int8: start the program without -quant") {
		t.Errorf(
			"got error %v, want an error containing %q", err,
			"already rounded to int8: start the program without -quant",
		)
	}
	c, err := checkpoint.OpenPath("../../testdata/models/gpt2-f32.gguf") // width 24
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	narrow, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	v := values(t, l, terms.Values{"tokens": "4", "prompt": "the cat", "repeats": "1"})
	r, err := l.Run(t.Context(), Env{Target: narrow}, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if q := r.Result.(*Quantization); len(q.Ways) != 2 ||
		!strings.Contains(q.LeftOut.String(), "Q4_0: block 0: a row has 24 values") ||
		!strings.Contains(strings.Join(english(r.Findings), " "), "Left out: Q4_0") {
		t.Errorf(
			"got %d ways, left out %q, findings %q; want 2, and Q4_0 left out because a row has 24 values", len(q.Ways),
			q.LeftOut, r.Findings,
		)
	}
}

func TestQuantizationTriesShowWhatTheyPromise(t *testing.T) {
	sure := tried[*Quantization](t, "quantization", 0, "repeats", "1")
	for i, w := range sure.Ways {
		if sure.Bars[0].P[i] < 0.8 || !w.Same {
			t.Errorf(
				"a sure step: %s gives %q %v; want sure.Bars[0].P[i] at least 0.8, w.Same = true", w.Name,
				sure.Bars[0].Token.Text, sure.Bars[0].P[i],
			)
		}
	}
	long := tried[*Quantization](t, "quantization", 1, "repeats", "1")
	n := len(long.Steps)
	if int8, q4 := long.Ways[1], long.Ways[2]; n < 100 || int8.Kept < n*98/100 || q4.Kept == n || q4.Kept < n*2/3 {
		t.Errorf(
			"a longer text: of %d steps %d stay with int8 and %d with Q4_0; want at least 100, at least "+
				"%d, anything but %d, at least %d",
			n, int8.Kept, q4.Kept, n*98/100, n, n*2/3,
		)
	}
}
