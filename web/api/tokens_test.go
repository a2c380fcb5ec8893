package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestTokens tests token-id prompts, named tokens, seeds and long prompts, all on one server.
// Promise: API prompts may be token ids, and you can ask for the probabilities of tokens that you name.
// Promise: `/tokenize` and `/detokenize` turn texts into tokens and back.
func TestTokens(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	for name, test := range map[string]func(*testing.T, string){
		"TokenIDPrompts": idPrompts, "UnusualTokensAreRead": unusualTokens,
		"TokenizeAndDetokenize": tokenizeAndDetokenize, "NamedTokensAreScored": namedTokens,
		"SeedsOf64Bits": seedsOf64Bits, "ContextLimitsPrompts": longPrompts,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

// read decodes an answer and fails the test if there is none.
func read[T any](t *testing.T, answer *http.Response) (v T) {
	t.Helper()
	if answer.StatusCode != http.StatusOK {
		says, param := refusal(t, answer)
		t.Fatalf("status %d, %s: %s; want an answer", answer.StatusCode, param, says)
	}
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A scoredAnswer is the part of an answer that clients use for scoring.
type scoredAnswer struct {
	Choices []struct {
		Text     string
		Logprobs struct {
			Tokens []string
			Probs  []*float64           `json:"token_logprobs"`
			Top    []map[string]float64 `json:"top_logprobs"`
		}
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

// ids formats token ids as JSON.
func ids(list []int) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ",") }

// idPrompts checks prompts that consist of token ids. Such a prompt has the same log-probabilities
// as its text, one for each id that was sent. With echo, the response also has a log-probability
// for each generated token, including the end of the text.
func idPrompts(t *testing.T, server string) {
	t.Helper()
	server, m := server+"/v1/completions", testmodel.Target(t)
	const text = "The capital of France is Paris."
	all := m.Encode(text) // with the start token
	ask := func(prompt, fields string) scoredAnswer {
		t.Helper()
		body := `{"model":"tiny-5M","temperature":0,"prompt":` + prompt + `,` + fields + `}`
		return read[scoredAnswer](t, send(t, server, body))
	}
	const score = `"echo":true,"logprobs":1,"max_tokens":1`
	want := ask(`"`+text+`"`, score)
	got := ask("["+ids(all)+","+ids(all[1:])+"]", score)
	if len(got.Choices) != 2 || got.Usage.Prompt != 2*len(all) || want.Usage.Prompt != len(all) {
		t.Fatalf("got %+v, want two choices of %d tokens each", got, len(all))
	}
	for i, c := range got.Choices {
		w := want.Choices[0]
		listed := len(all) + 1 - i // the first prompt begins with the start token
		if c.Text != w.Text || len(c.Logprobs.Probs) != listed || len(w.Logprobs.Probs) != len(all) {
			t.Fatalf(
				"choice %d: got %q with %d figures, want %q with %d", i, c.Text, len(c.Logprobs.Probs), w.Text, listed,
			)
		}
		figures := c.Logprobs.Probs[1-i:]
		for j, p := range w.Logprobs.Probs {
			if *figures[j] != *p {
				t.Errorf("choice %d, token %d: got %v, want %v as for the text", i, j, *figures[j], *p)
			}
		}
	}
	if first := got.Choices[0].Logprobs; first.Probs[0] != nil || first.Top[0] != nil {
		t.Errorf("a start token that was sent has the log-probability %v, want null", first.Probs[0])
	}
	// The model ends this text immediately. The first request generates the end of the text; the
	// second only scores the prompt.
	end := fmt.Sprintf(`"logit_bias":{"%d":100},`, m.Config().EOS[0])
	if c := ask(ids(all), end+score).Choices[0]; len(c.Logprobs.Probs) != len(all)+1 || c.Text != text {
		t.Errorf("with the end of the text: got %q with %d figures, want %d", c.Text, len(c.Logprobs.Probs), len(all)+1)
	}
	if c := ask(ids(all), `"echo":true,"logprobs":1,"max_tokens":0`).Choices[0]; len(c.Logprobs.Probs) != len(all) {
		t.Errorf("only scored: got %d figures, want %d", len(c.Logprobs.Probs), len(all))
	}
}

// unusualTokens checks that token ids are used unchanged even if they are not the normal encoding
// of their text, and that the API continues them as the loop does.
func unusualTokens(t *testing.T, server string) {
	t.Helper()
	server, m := server+"/v1/completions", testmodel.Target(t)
	var letters []int
	for _, b := range []byte("The fox") {
		id, _ := m.TokenOf(string(b))
		letters = append(letters, id)
	}
	prompt, err := m.PromptOf(letters)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := infer.DefaultSettings().With(infer.Knobs{"temperature": 1, "top_p": 1, "seed": 5, "max_tokens": 8})
	if err != nil {
		t.Fatal(err)
	}
	text, traced := written(t, m, prompt, settings)
	got := read[scoredAnswer](t, send(t, server, `{"model":"tiny-5M","seed":5,"max_tokens":8,"logprobs":0,"prompt":`+
		ids(letters)+`}`))
	c := got.Choices[0]
	if c.Text != text || got.Usage.Prompt != len(letters)+1 || len(c.Logprobs.Probs) != len(traced) {
		t.Fatalf("got %q after %d tokens, want %q after %d", c.Text, got.Usage.Prompt, text, len(letters)+1)
	}
	for i, p := range c.Logprobs.Probs {
		if math.Abs(*p-math.Log(traced[i])) > 1e-9 {
			t.Errorf("token %d: got %v, want %v", i, *p, math.Log(traced[i]))
		}
	}
	if plain, _ := written(t, m, chat.Text{Text: "The fox"}, settings); plain == text {
		t.Errorf("the plain text also gives %q, so the test proves nothing", plain)
	}
}

// tokenizeAndDetokenize checks that texts and chats are converted to prompt tokens and back, in the
// formats of vLLM and llama.cpp.
func tokenizeAndDetokenize(t *testing.T, server string) {
	t.Helper()
	m := testmodel.Target(t)
	const text = "A é fox"
	all := m.Encode(text)
	said := m.Encode(chat.Plain([]chat.Message{{Role: chat.User, Content: "Hi"}}))
	open := m.Encode("User: Hi\nAssistant: So ") // the last message is continued
	for _, row := range []struct{ to, body, want string }{
		{
			"/tokenize", `{"model":"tiny-5M","prompt":"A é fox"}`,
			fmt.Sprintf(`{"count":%d,"max_model_len":512,"tokens":%s,"token_strs":null}`, len(all), ids(all)),
		},
		{
			"/v1/tokenize", `{"prompt":"A","add_special_tokens":false,"return_token_strs":true}`,
			fmt.Sprintf(`{"count":1,"max_model_len":512,"tokens":%s,"token_strs":["A"]}`, ids(m.Encode("A")[1:])),
		},
		{
			"/tokenize", `{"messages":[{"role":"user","content":"Hi"}]}`,
			fmt.Sprintf(`{"count":%d,"max_model_len":512,"tokens":%s,"token_strs":null}`, len(said), ids(said)),
		},
		{"/tokenize", `{"content":"A é fox"}`, `{"tokens":` + ids(all[1:]) + `}`},
		{"/tokenize", `{"content":"A é fox","add_special":true}`, `{"tokens":` + ids(all) + `}`},
		{
			"/tokenize", `{"content":"A","with_pieces":true}`,
			fmt.Sprintf(`{"tokens":[{"id":%d,"piece":"A"}]}`, m.Encode("A")[1]),
		},
		{
			"/tokenize",
			`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"So "}]}`,
			fmt.Sprintf(`{"count":%d,"max_model_len":512,"tokens":%s,"token_strs":null}`, len(open), ids(open)),
		},
		{"/tokenize", `{"content":""}`, `{"tokens":[]}`},
		{"/detokenize", `{"tokens":` + ids(all[1:]) + `}`, `{"prompt":"A é fox","content":"A é fox"}`},
		{"/v1/detokenize", `{"tokens":[]}`, `{"prompt":"","content":""}`},
	} {
		got, err := json.Marshal(read[json.RawMessage](t, send(t, server+row.to, row.body)))
		if err != nil || string(got) != row.want {
			t.Errorf("%s %s: got %s, %v; want %s", row.to, row.body, got, err, row.want)
		}
	}
	for body, want := range map[string]string{
		`{}`: "prompt", `{"prompt":7}`: "prompt", `{"prompt":"a","model":"x"}`: "model", `{"content":"a","x":1}`: "x",
		`{"content":"a","parse_special":true}`: "parse_special", `{"tokens":[1]}`: "prompt",
		`{"messages":[{"role":"user","content":"Hi"}],"add_special_tokens":true}`: "add_special_tokens",
	} {
		if _, param := refusal(t, send(t, server+"/tokenize", body)); param != want {
			t.Errorf("/tokenize %s: refused for %q, want %q", body, param, want)
		}
	}
	for body, want := range map[string]string{
		`{}`: "tokens", `{"tokens":"a"}`: "tokens", `{"tokens":[4096]}`: "tokens", `{"tokens":[-1]}`: "tokens",
		`{"tokens":[1.5]}`: "tokens",
	} {
		if _, param := refusal(t, send(t, server+"/detokenize", body)); param != want {
			t.Errorf("/detokenize %s: refused for %q, want %q", body, param, want)
		}
	}
}

// namedTokens checks that tokens named in a request, by id or by text, are listed at each position
// with the model's values, in addition to the most probable tokens.
func namedTokens(t *testing.T, server string) {
	t.Helper()
	server, m := server+"/v1/", testmodel.Target(t)
	wood, _ := m.TokenOf(" wood")
	fields := fmt.Sprintf(`"logprob_token_ids":[%d],"logprob_texts":[" house"," wood"],"max_tokens":3,"seed":1`, wood)
	const prompt = "The wizard lived in a"
	got := read[scoredAnswer](t, send(t, server+"completions",
		`{"model":"tiny-5M","prompt":"`+prompt+`","echo":true,"logprobs":0,`+fields+`}`))
	list, err := m.ScorePrompt(t.Context(), chat.Text{Text: prompt}, m.Config().Vocab)
	if err != nil {
		t.Fatal(err)
	}
	top := got.Choices[0].Logprobs.Top
	if len(top) != len(list)+3 {
		t.Fatalf("got %d positions, want %d", len(top), len(list)+3)
	}
	for i, place := range list {
		for _, c := range place.Top {
			if name := c.Token.Text; (name == " house" || name == " wood") && top[i][name] != c.LogProb {
				t.Errorf("position %d: %q has %v, want %v", i, name, top[i][name], c.LogProb)
			}
		}
		if len(top[i]) != 2 {
			t.Errorf("position %d lists %v, want the two named tokens", i, top[i])
		}
	}
	type talked struct {
		Choices []struct {
			Logprobs struct {
				Content []struct {
					Top []struct {
						Token   string
						Logprob float64
					} `json:"top_logprobs"`
				}
			}
		}
	}
	spoken := read[talked](t, send(t, server+"chat/completions", said(`"logprobs":true,"top_logprobs":2,`+fields)))
	for i, c := range spoken.Choices[0].Logprobs.Content {
		var names []string
		for _, other := range c.Top {
			names = append(names, other.Token)
		}
		if !slices.Contains(names, " wood") || !slices.Contains(names, " house") || len(names) > 4 {
			t.Errorf("token %d of a chat lists %q, want the named tokens after two others", i, names)
		}
	}
}

// seedsOf64Bits checks that a 64-bit seed is mapped to its lower 53 bits and gives the same text
// as the loop with that seed.
func seedsOf64Bits(t *testing.T, server string) {
	t.Helper()
	m := testmodel.Target(t)
	for seed, here := range map[string]float64{
		"-1": 1<<53 - 1, "9223372036854775807": 1<<53 - 1, "-9223372036854775808": 0, "-2": 1<<53 - 2,
		"9007199254740993": 1, "42": 42,
	} {
		settings, err := infer.DefaultSettings().With(
			infer.Knobs{"temperature": 1, "top_p": 1, "seed": here, "max_tokens": 6},
		)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := written(t, m, chat.Text{Text: "A fox"}, settings)
		got := read[scoredAnswer](t, send(t, server+"/v1/completions", with(`"max_tokens":6,"seed":`+seed)))
		if got.Choices[0].Text != want {
			t.Errorf("seed %s: got %q, want %q", seed, got.Choices[0].Text, want)
		}
		page, _ := pageAt(t, server, nil)
		shown := page.Find(".glass__one").First().Find(".apip__rail").Text()
		if says := fmt.Sprintf("(here %.0f)", here); strings.Contains(shown, says) != (seed != "42") {
			t.Errorf("seed %s: the page shows %q, want it to contain %q: %v", seed, shown, says, seed != "42")
		}
	}
}

// longPrompts checks that a chat of more than 4 KiB is answered if it fits in the model's context.
func longPrompts(t *testing.T, server string) {
	t.Helper()
	server, m := server+"/v1/", testmodel.Target(t)
	word := "" // the longest word that is one token
	for id := range m.Config().Vocab {
		text := m.Token(id).Text
		if len(text) > len(word) && text[0] == ' ' && strings.Trim(text[1:], "abcdefghijklmnopqrstuvwxyz") == "" {
			word = text
		}
	}
	const tokens = 480 // of 512
	long := strings.Repeat(word, tokens)
	if len(long) <= 4096 {
		t.Fatalf("%q is too short: %d bytes in %d tokens", word, len(long), tokens)
	}
	got := read[scoredAnswer](t, send(t, server+"chat/completions",
		`{"model":"tiny-5M","max_tokens":1,"messages":[{"role":"user","content":"`+long+`"}]}`))
	if got.Usage.Prompt <= tokens || got.Usage.Completion != 1 {
		t.Errorf("a chat of %d bytes: got %d prompt tokens, want more than %d", len(long), got.Usage.Prompt, tokens)
	}
}
