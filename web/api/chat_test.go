package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/webtest"
)

const chatFolder = "../../testdata/models/qwen3"

// TestChatsThroughTheModelsTemplate: the prompt has the tokens that the template produces, the
// answer ends when the model ends its turn, and the stop string for plain chats is not used.
// Promise: Chat requests go through the model's own chat template, and the answer ends with the model's turn.
func TestChatsThroughTheModelsTemplate(t *testing.T) {
	t.Parallel()
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)
	client := clientOf(webtest.Serve(t, webtest.Options{Model: m}))
	params := openai.ChatCompletionNewParams{
		Model: m.Name(), Temperature: openai.Float(0), MaxCompletionTokens: openai.Int(8),
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("S"), openai.UserMessage(" Hi<|im_end|> "),
		},
		Stop: openai.ChatCompletionNewParamsStopUnion{OfStringArray: []string{"q1", "q2", "q3", "q4"}},
	}
	answer, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	// The prompt consists of two end-of-turn tokens and the text around them.
	want := 2 + len(m.Encode("s:S")) + len(m.Encode("u:Hi<|im_end|>")) + len(m.Encode("a:"))
	if got := answer.Usage.PromptTokens; got != int64(want) {
		t.Errorf("the prompt has %d tokens, want %d", got, want)
	}
	// The bias forces the model to begin its answer with the end-of-turn token.
	params.LogitBias, params.Stop = map[string]int64{"317": 100}, openai.ChatCompletionNewParamsStopUnion{}
	if answer, err = client.Chat.Completions.New(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if c := answer.Choices[0]; c.Message.Content != "" || c.FinishReason != "stop" {
		t.Errorf(`the answer is %q with finish_reason %s; want "", %s`, c.Message.Content, c.FinishReason, "stop")
	}
}

func TestRefusingTemplateIsReported(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"{{ raise_exception('Not so.') }}":                       "rejects these messages: Not so.",
		"{{ 'x' * 99999999999 }}":                                "too many steps",
		"{{ messages | attr('x') }}":                             "the filter \"attr\" is not supported",
		"{% for m in messages %}{{ m.content * 9 }}{% endfor %}": "The messages, as one text, are too long",
	} {
		m := testmodel.Chat(t, chatFolder, template)
		server := webtest.Serve(t, webtest.Options{Model: m})
		said := strings.Repeat("a ", 300)
		body := fmt.Sprintf(`{"model": %q, "messages": [{"role": "user", "content": %q}]}`, m.Name(), said)
		r, err := http.Post(server+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		var got struct {
			Error struct{ Message, Type, Param string }
		}
		if json.Unmarshal(text, &got) != nil || r.StatusCode != http.StatusBadRequest ||
			!strings.Contains(got.Error.Message, want) || got.Error.Param != "messages" {
			t.Errorf("%s: status %d, %s, want %s", template, r.StatusCode, text, want)
		}
	}
}

// TestPageExplainsChatFormat: the page states whether chats use the model's template or plain
// lines.
func TestPageExplainsChatFormat(t *testing.T) {
	t.Parallel()
	for say, o := range map[string]webtest.Options{
		"own chat template":    {Model: testmodel.Chat(t, chatFolder, testmodel.ChatTemplate)},
		"this model is a base": {},
	} {
		r, err := http.Get(webtest.Serve(t, o) + "/api")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if !strings.Contains(string(text), say) {
			t.Errorf("the page does not contain %q", say)
		}
	}
}

// TestTemplateWritesRequests: if the last message is from the model, the template leaves that turn
// open, unless the request asks for another turn. A request's variables are passed to the template,
// and names of special tokens in their values are encoded as plain text.
func TestTemplateWritesRequests(t *testing.T) {
	t.Parallel()
	const extra = "{% if thinks is defined and thinks is false %}|no{% endif %}{{ who }}"
	m := testmodel.Chat(t, chatFolder, testmodel.ChatTemplate+extra)
	server := webtest.Serve(t, webtest.Options{Model: m})
	end, _ := m.PromptOf([]int{317}) // the end of a turn
	if end.Text != "<|im_end|>" {
		t.Fatalf("token 317 is %q, want the end of a turn", end.Text)
	}
	const open, closed = "u:Hi<|im_end|>a:So", "u:Hi<|im_end|>a:So<|im_end|>a:"
	for fields, want := range map[string]string{
		``: open, `,"continue_final_message":true,"add_generation_prompt":false`: open,
		`,"add_generation_prompt":false`: open, `,"continue_final_message":false`: closed,
		`,"add_generation_prompt":true`: closed,
	} {
		got := read[struct{ Tokens []int }](t, send(t, server+"/tokenize",
			`{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"So"}]`+fields+`}`))
		if text := m.DecodeNamed(got.Tokens); text != want {
			t.Errorf("%s: the model continues %q, want %q", fields, text, want)
		}
	}
	got := read[struct{ Tokens []int }](t, send(t, server+"/tokenize",
		`{"messages":[{"role":"user","content":"Hi"}],"chat_template_kwargs":{"thinks":false,"who":"<|im_end|>"}}`))
	want := slices.Concat(m.Encode("u:Hi"), []int{317}, m.Encode("a:|no<|im_end|>"))
	if !slices.Equal(got.Tokens, want) {
		t.Errorf("got the tokens %v, %q; want %v", got.Tokens, m.DecodeNamed(got.Tokens), want)
	}
}
