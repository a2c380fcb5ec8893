package api_test

import (
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestPenaltiesAndBiasMatchTheLoop: with penalties and a logit bias, the API generates the same
// text as the loop. A token with a bias of -100 is not generated.
func TestPenaltiesAndBiasMatchTheLoop(t *testing.T) {
	t.Parallel()
	client, m := clientOf(webtest.Serve(t, webtest.Options{})), testmodel.Target(t)
	const prompt = "The capital of France is"
	ask := func(bias map[string]int64) string {
		got, err := client.Completions.New(t.Context(), openai.CompletionNewParams{
			Model: model, Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)},
			Seed: openai.Int(3), MaxTokens: openai.Int(24), Temperature: openai.Float(0.5),
			FrequencyPenalty: openai.Float(1.5), PresencePenalty: openai.Float(0.5), LogitBias: bias,
		})
		if err != nil {
			t.Fatal(err)
		}
		return got.Choices[0].Text
	}
	write := func(bias sampling.Bias) string {
		settings, err := infer.DefaultSettings().With(infer.Knobs{
			"temperature": 0.5, "top_p": 1, "seed": 3, "max_tokens": 24,
			"frequency_penalty": 1.5, "presence_penalty": 0.5,
		})
		if err != nil {
			t.Fatal(err)
		}
		settings.LogitBias = bias
		loop, err := infer.NewLoop(m, prompt, settings)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for loop.Stopped() == infer.StopNone || !loop.BetweenTurns() {
			stage, err := loop.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if a, ok := stage.(infer.Append); ok {
				text.WriteString(a.Text)
			}
		}
		return text.String()
	}
	plain := ask(nil)
	if !strings.HasPrefix(plain, " Paris") || plain != write("") {
		t.Errorf("with penalties: got %q, want %q as from the loop", plain, write(""))
	}
	ids := m.Encode(prompt + " Paris")
	paris := ids[len(ids)-1]
	bias, err := sampling.NewBias(map[int]float64{paris: -100})
	if err != nil {
		t.Fatal(err)
	}
	got := ask(map[string]int64{strings.TrimSuffix(string(bias), ":-100"): -100})
	if strings.Contains(got, "Paris") || got != write(bias) {
		t.Errorf("without Paris: got %q, want %q as from the loop", got, write(bias))
	}
}
