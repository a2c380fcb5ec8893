package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/webtest"
)

const model = "tiny-5M"

// clientOf returns the published Go client, configured for a server.
func clientOf(server string, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(server + "/v1"), option.WithAPIKey("not-needed"), option.WithMaxRetries(0),
	}, more...)...)
}

// The answers to these prompts end for different reasons: a limit, the end of the text, or a stop
// string.
var prompts = []string{
	"The wizard lived in a", "Once upon a time", "User: Hello\nAssistant:", "In the old house",
	"Ünïcödé — “x”", "The capital of France is",
}

// calls returns the calls that the client makes for a prompt.
func calls(prompt string) []openai.CompletionNewParams {
	list := []openai.CompletionNewParams{
		{Seed: openai.Int(4), Temperature: openai.Float(0.8), TopP: openai.Float(0.95), MaxTokens: openai.Int(24)},
		{Temperature: openai.Float(0), MaxTokens: openai.Int(40), Stop: openai.CompletionNewParamsStopUnion{
			OfStringArray: []string{"\n", ". "},
		}},
		{Seed: openai.Int(7), MaxTokens: openai.Int(12), N: openai.Int(3), Echo: openai.Bool(true)},
		{Seed: openai.Int(1 << 40), MaxTokens: openai.Int(200), Temperature: openai.Float(1.5)},
	}
	for i := range list {
		list[i].Model, list[i].Prompt.OfString = model, openai.String(prompt)
		list[i].Logprobs = openai.Int(int64(i) * 5)
	}
	return list
}

// TestGoClient: the published client, unmodified, parses all answers. A streamed answer has the
// same bytes and log-probabilities as one that is not streamed.
// Promise: The published OpenAI client for Go works unmodified.
func TestGoClient(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	client, n := clientOf(webtest.Serve(t, webtest.Options{})), 0
	for _, prompt := range prompts {
		for _, params := range calls(prompt) {
			n += 2
			whole, err := client.Completions.New(t.Context(), params)
			if err != nil {
				t.Fatalf("%q: %v", prompt, err)
			}
			text, probs, ends := map[int64]string{}, map[int64][]float64{}, map[int64]string{}
			params.StreamOptions.IncludeUsage = openai.Bool(true)
			stream := client.Completions.NewStreaming(t.Context(), params)
			var bill openai.CompletionUsage
			for stream.Next() {
				event := stream.Current()
				for _, c := range event.Choices {
					text[c.Index] += c.Text
					probs[c.Index] = append(probs[c.Index], c.Logprobs.TokenLogprobs...)
					ends[c.Index] = string(c.FinishReason)
				}
				if len(event.Choices) == 0 {
					bill = event.Usage
				}
			}
			if stream.Err() != nil {
				t.Fatalf("%q streamed: %v", prompt, stream.Err())
			}
			for _, c := range whole.Choices {
				if c.Text != text[c.Index] || !slices.Equal(c.Logprobs.TokenLogprobs, probs[c.Index]) ||
					string(c.FinishReason) != ends[c.Index] || c.FinishReason == "" {
					t.Errorf(
						"%q, choice %d: %q (%s), streamed %q (%s); want c.Text = %q, "+
							"c.Logprobs.TokenLogprobs = %v, string(c.FinishReason) = %s, c.FinishReason not empty",
						prompt, c.Index, c.Text, c.FinishReason, text[c.Index], ends[c.Index], text[c.Index],
						probs[c.Index], ends[c.Index],
					)
				}
				if joined := strings.Join(c.Logprobs.Tokens, ""); !strings.HasPrefix(joined, c.Text) &&
					!strings.Contains(joined, "\ufffd") {
					t.Errorf("%q, choice %d: the tokens %q do not spell the text %q", prompt, c.Index, joined, c.Text)
				}
			}
			if u := whole.Usage; u.TotalTokens != bill.TotalTokens || u.CompletionTokens != bill.CompletionTokens ||
				u.TotalTokens != u.PromptTokens+u.CompletionTokens || u.CompletionTokens == 0 {
				t.Errorf(
					"%q: usage %+v, streamed %+v; want TotalTokens = %d, CompletionTokens = %d, "+
						"TotalTokens = %d, CompletionTokens not 0",
					prompt, u, bill, bill.TotalTokens, bill.CompletionTokens, u.PromptTokens+u.CompletionTokens,
				)
			}
		}
	}
	n += chatCalls(t, client)
	if n < 40 {
		t.Errorf("%d calls are too few, want at least 40", n)
	}
	list, err := client.Models.List(t.Context())
	if err != nil || len(list.Data) != 1 || list.Data[0].ID != model {
		t.Errorf("models: got %+v, %v; want no error, len(Data) = 1, Data[0].ID = %q", list, err, model)
	}
	if one, err := client.Models.Get(t.Context(), model); err != nil || one.ID != model {
		t.Errorf("the model: got %+v, %v; want no error, ID = %q", one, err, model)
	}
}

// talks returns the chat requests that the client sends.
func talks() (list []openai.ChatCompletionNewParams) {
	for _, said := range []string{"Hello", "Who lives in the forest?", "Tell me a story.", "<|end|>"} {
		for _, tokens := range []int64{5, 60} {
			list = append(list, openai.ChatCompletionNewParams{
				Model: model, Seed: openai.Int(3), MaxCompletionTokens: openai.Int(tokens),
				Logprobs: openai.Bool(true), TopLogprobs: openai.Int(2),
				Messages: []openai.ChatCompletionMessageParamUnion{
					openai.SystemMessage("A talk in a wood."), openai.UserMessage(said),
				},
			})
		}
	}
	return list
}

// chatCalls makes each chat call twice, once streamed and once not, and returns the number of
// calls.
func chatCalls(t *testing.T, client openai.Client) (n int) {
	for i, params := range talks() {
		n += 2
		whole, err := client.Chat.Completions.New(t.Context(), params)
		if err != nil {
			t.Fatalf("talk %d: %v", i, err)
		}
		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		var all openai.ChatCompletionAccumulator
		var probs []openai.ChatCompletionTokenLogprob
		for stream.Next() {
			all.AddChunk(stream.Current())
			probs = append(probs, stream.Current().Choices[0].Logprobs.Content...)
		}
		if stream.Err() != nil {
			t.Fatalf("talk %d streamed: %v", i, stream.Err())
		}
		a, b := whole.Choices[0], all.Choices[0]
		if a.Message.Content != b.Message.Content || a.FinishReason != b.FinishReason ||
			b.Message.Role != "assistant" || a.Message.Role != "assistant" {
			t.Errorf(
				"talk %d: got %q (%s), streamed %q (%s); want a.Message.Content = %q, a.FinishReason = %s, "+
					"b.Message.Role = %q, a.Message.Role = %q",
				i, a.Message.Content, a.FinishReason, b.Message.Content, b.FinishReason, b.Message.Content,
				b.FinishReason, "assistant", "assistant",
			)
		}
		if len(a.Logprobs.Content) != len(probs) || len(probs) == 0 {
			t.Fatalf(
				"talk %d: got %d tokens, streamed %d; want %d, not 0", i, len(a.Logprobs.Content), len(probs),
				len(probs),
			)
		}
		for j, p := range a.Logprobs.Content {
			if p.Logprob != probs[j].Logprob || len(p.TopLogprobs) != 2 || p.TopLogprobs[0].Logprob < p.Logprob {
				t.Errorf(
					"talk %d, token %d: %+v, streamed %+v; want Logprob = %v, len(TopLogprobs) = 2, "+
						"TopLogprobs[0].Logprob at least %v",
					i, j, p, probs[j], probs[j].Logprob, p.Logprob,
				)
			}
		}
		if strings.Contains(a.Message.Content, chat.PlainStop) {
			t.Errorf(
				"talk %d: the answer continues with the user's turn: got %q, want no %q", i, a.Message.Content,
				chat.PlainStop,
			)
		}
	}
	return n
}

// TestAPIMatchesTheLoop: a request generates the same text as the loop with the same settings,
// and its log-probabilities match the trace to the last printed digit.
// Promise: The API writes exactly what the Loop writes with the same settings.
func TestAPIMatchesTheLoop(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	m := testmodel.Target(t)
	for _, prompt := range prompts {
		got, err := client.Completions.New(t.Context(), openai.CompletionNewParams{
			Model: model, Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)},
			Seed: openai.Int(11), MaxTokens: openai.Int(30), Logprobs: openai.Int(20),
		})
		if err != nil {
			t.Fatal(err)
		}
		settings, err := infer.DefaultSettings().With(
			infer.Knobs{"temperature": 1, "top_p": 1, "seed": 11, "max_tokens": 30},
		)
		if err != nil {
			t.Fatal(err)
		}
		text, traced := written(t, m, chat.Text{Text: prompt}, settings)
		c := got.Choices[0]
		if i := differs(c.Logprobs.TokenLogprobs, traced); i >= 0 {
			t.Fatalf("%q, token %d: got %v, want %v as in the trace", prompt, i+1, c.Logprobs.TokenLogprobs, traced)
		}
		if c.Text != text {
			t.Errorf("%q: got %q, want %q as the loop writes", prompt, c.Text, text)
		}
	}
}

// written returns the text that the loop generates after the given text, and the model's p for each
// token. At T = 1, p is the number that the trace prints; otherwise, it is computed from the
// trace's logits.
func written(t *testing.T, m *infer.Model, after chat.Text, settings infer.Settings) (text string, traced []float64) {
	t.Helper()
	loop, err := infer.NewChat(m, after, settings)
	if err != nil {
		t.Fatal(err)
	}
	for loop.Stopped() == infer.StopNone || !loop.BetweenTurns() {
		stage, err := loop.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch stage := stage.(type) {
		case infer.Sample:
			switch {
			case m.EOS(stage.Chosen.ID):
			case settings.Temperature == 1:
				traced = append(traced, trace(t, stage))
			default:
				steps := loop.Steps()
				p, _, _ := sampling.Softmax(steps[len(steps)-1].Logits, 1)
				traced = append(traced, p[stage.Chosen.ID])
			}
		case infer.Append:
			text += stage.Text
		}
	}
	return text, traced
}

// differs returns the index of the first log-probability that is missing from the trace or
// differs from it in a printed digit. It returns −1 if there is none.
func differs(got, traced []float64) int {
	for i, p := range got {
		if i >= len(traced) || fmt.Sprintf("%.9g", math.Exp(p)) != fmt.Sprintf("%.9g", traced[i]) ||
			math.Abs(p-math.Log(traced[i])) > 1e-9 {
			return i
		}
	}
	return -1
}

// trace returns p for the drawn token, as printed in the trace.
func trace(t *testing.T, s infer.Sample) float64 {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var printed struct {
		Chosen struct{ P float64 }
	}
	if err := json.Unmarshal(text, &printed); err != nil || printed.Chosen.P == 0 {
		t.Fatalf("%s: got %v; want no error, printed.Chosen.P not 0", text, err)
	}
	return printed.Chosen.P
}

// TestEchoScoresAText: with max_tokens 0, the API only scores a text.
// Promise: With `echo` and `max_tokens: 0` the API scores your text without writing any.
func TestEchoScoresAText(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	const text = "The capital of France is Paris."
	got, err := client.Completions.New(t.Context(), openai.CompletionNewParams{
		Model: model, Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(text)},
		MaxTokens: openai.Int(0), Echo: openai.Bool(true), Logprobs: openai.Int(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := testmodel.Target(t).Score(t.Context(), text, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := got.Choices[0]
	if c.Text != text || len(want) != len(c.Logprobs.TokenLogprobs) || got.Usage.CompletionTokens != 0 ||
		int(got.Usage.PromptTokens) != len(want)+1 { // plus the start token
		t.Fatalf(
			"got %q with %d tokens of %d, usage %+v; want the whole text scored and nothing generated", c.Text,
			len(c.Logprobs.TokenLogprobs), len(want), got.Usage,
		)
	}
	for i, p := range c.Logprobs.TokenLogprobs {
		if p != want[i].LogProb {
			t.Errorf("token %d: %v, want %v", i, p, want[i].LogProb)
		}
	}
}

// TestClientSeesErrors: the client returns a refusal as the client's own error type, which names
// the field.
func TestClientSeesErrors(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: model, Temperature: openai.Float(101),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")},
	})
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 400 || e.Param != "temperature" || e.Code != "invalid_value" {
		t.Errorf(
			"a temperature of 101: got %v, want an error of type *openai.Error, e.StatusCode = 400, "+
				"e.Param = %q, e.Code = %q",
			err, "temperature", "invalid_value",
		)
	}
}
